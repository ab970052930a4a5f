import { randomBytes } from "node:crypto";
import { tokenPath } from "../../adapters/paths.ts";
import { openTokenFile } from "../../adapters/token-file.ts";
import { messageOf } from "../../core/failure.ts";
import type { TokenEntry } from "../../core/identity/token-entry.ts";
import { notifyDaemon } from "../../daemon/running-daemon.ts";
import { hashToken, mintToken } from "../../proxy/client/token-hash.ts";
import { note } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";

const ID_BYTES = 4;

/**
 * Registers a new token for a tool. A running daemon accepts it from the next request on. Only the token's hash is stored,
 * so this is the only time that it can be shown.
 * @param purpose a note for `token list`; null for none
 * @throws Failure when it cannot be stored
 */
export async function addToken(tool: string, purpose: string | null): Promise<{ id: string; token: string }> {
  const token = mintToken(tool);
  const id = randomBytes(ID_BYTES).toString("hex");
  const hash = hashToken(token).toString("hex");
  const createdAt = new Date().toISOString();
  await openTokenFile(tokenPath()).add({ id, tool, hash, createdAt, note: purpose });
  await reloadTokens("1 token registered");
  return { id, token };
}

/** Revokes the selected tokens and returns them. A running daemon refuses them from the next request on. @throws Failure */
export async function revokeTokens(isSelected: (entry: TokenEntry) => boolean): Promise<TokenEntry[]> {
  const revoked = await openTokenFile(tokenPath()).remove(isSelected);
  if (revoked.length > 0) await reloadTokens(`${pluralize(revoked.length, "token")} revoked`);
  return revoked;
}

/** Returns all registered tokens, oldest first. @throws Failure */
export function listTokens(): TokenEntry[] {
  return openTokenFile(tokenPath()).read();
}

/** Makes a running daemon reload the tokens. The change is stored, so an unreachable daemon is a note and no failure. */
async function reloadTokens(done: string): Promise<void> {
  try {
    await notifyDaemon("tokens-changed");
  } catch (error) {
    note(`note: ${done}, but the running daemon could not be notified: ${messageOf(error)}`);
    note("note: to make it reload the tokens, type: tollkeeper service restart");
  }
}
