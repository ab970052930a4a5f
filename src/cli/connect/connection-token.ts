import type { Identity } from "../../connect/connection.ts";
import { tokensIn } from "../../core/identity/local-token.ts";
import type { TokenEntry } from "../../core/identity/token-entry.ts";
import { hashToken } from "../../proxy/token-secret.ts";
import { addToken, listTokens, revokeToken, revokeTokens } from "../tokens/tokens.ts";

/** The local token of one connection. */
export interface ConnectionToken {
  value: string;
  /** For the case that it got nowhere. */
  revoke(): Promise<void>;
  /** Takes back what the same connection had before. */
  revokeOlder(): Promise<void>;
}

/** The one that a connection shows already: in one of these texts, and still registered. null where there is none. @throws Failure */
export function heldToken(identity: Identity, texts: readonly string[]): string | null {
  const hashes = new Set(listTokens().flatMap((entry) => (isOf(identity, entry) ? [entry.hash] : [])));
  const tokens = texts.flatMap(tokensIn);
  return tokens.find((token) => hashes.has(hashToken(token).toString("hex"))) ?? null;
}

/** Makes one. @throws Failure when it cannot be kept */
export async function makeToken(identity: Identity): Promise<ConnectionToken> {
  const { id, token } = await addToken(identity.tool, purposeOf(identity));
  return {
    value: token,
    revoke: async () => void (await revokeToken(id)),
    revokeOlder: async () => void (await revokeTokens((entry) => isOf(identity, entry) && entry.id !== id)),
  };
}

/** Takes back every token of a connection; there need not be one. @throws Failure */
export async function revokeTokensOf(identity: Identity): Promise<void> {
  const isMeant = (entry: TokenEntry) => isOf(identity, entry);
  if (listTokens().some(isMeant)) await revokeTokens(isMeant);
}

function isOf(identity: Identity, { tool, note }: TokenEntry): boolean {
  return tool === identity.tool && note === purposeOf(identity);
}

function purposeOf({ directory }: Identity): string {
  return directory === null ? "connect" : `connect in ${directory}`;
}
