import { randomBytes } from "node:crypto";
import { openTokenFile } from "../../adapters/token-file.ts";
import { messageOf } from "../../core/thrown.ts";
import type { TokenEntry } from "../../core/identity/token-entry.ts";
import { hashToken, mintToken } from "../../proxy/token-secret.ts";
import { note } from "../terminal/console.ts";
import { countOf } from "../terminal/count-of.ts";
import { notifyDaemon } from "../../daemon/client.ts";
import { tokenPath } from "../../adapters/paths.ts";

/** A registered token, and the one time that it can be seen. */
export interface NewToken {
  /** What {@link revokeToken} takes. */
  id: string;
  token: string;
}

const ID_BYTES = 4;

/**
 * Registers a new token of a tool's, which counts from the running daemon's next request on.
 * @param purpose what it is for, for people; null for nothing to say
 * @throws Failure when it cannot be kept
 */
export async function addToken(tool: string, purpose: string | null): Promise<NewToken> {
  const token = mintToken(tool);
  const id = randomBytes(ID_BYTES).toString("hex");
  const hash = hashToken(token).toString("hex");
  await openTokenFile(tokenPath()).add({
    id,
    tool,
    hash,
    createdAt: new Date().toISOString(),
    note: purpose,
  });
  await tellDaemon("1 token registered");
  return { id, token };
}

/** Takes back one token, from the running daemon's next request on; false when there was none. @throws Failure */
export async function revokeToken(id: string): Promise<boolean> {
  return (await revokeTokens((entry) => entry.id === id)).length > 0;
}

/** Takes back those that are meant, and resolves to them. @throws Failure */
export async function revokeTokens(isMeant: (entry: TokenEntry) => boolean): Promise<TokenEntry[]> {
  const revoked = await openTokenFile(tokenPath()).remove(isMeant);
  if (revoked.length > 0) await tellDaemon(`${countOf(revoked.length, "token")} revoked`);
  return revoked;
}

/** Every registered token, the oldest first. @throws Failure */
export function listTokens(): TokenEntry[] {
  return openTokenFile(tokenPath()).read();
}

/** What is done is done: that a daemon does not hear of it is no failure of the change, but must be known. */
async function tellDaemon(done: string): Promise<void> {
  try {
    await notifyDaemon("tokens-changed");
  } catch (error) {
    note(`note: ${done}, and the running daemon has not heard of it: ${messageOf(error)}`);
    note("note: have it read the tokens anew with: tollkeeper service restart");
  }
}
