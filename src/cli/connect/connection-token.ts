import type { ConnectionId } from "../../connect/connection.ts";
import type { TokenEntry } from "../../core/identity/token-entry.ts";
import { findLocalTokens } from "../../core/secrets/local-token.ts";
import { hashToken } from "../../proxy/token-secret.ts";
import { addToken, listTokens, revokeToken, revokeTokens } from "../tokens/tokens.ts";

/** A new local token for one connection. */
interface ConnectionToken {
  value: string;
  /** Revokes it, for the case that it was not written anywhere. */
  revoke(): Promise<void>;
  /** Revokes the connection's previous tokens. */
  revokeOlder(): Promise<void>;
}

/** Returns the connection's token in one of these texts that is still registered; null when there is none. @throws Failure */
export function findConnectionToken(id: ConnectionId, texts: readonly string[]): string | null {
  const hashes = new Set(listTokens().flatMap((entry) => (belongsTo(id, entry) ? [entry.hash] : [])));
  const tokens = texts.flatMap(findLocalTokens);
  return tokens.find((token) => hashes.has(hashToken(token).toString("hex"))) ?? null;
}

/** Creates and registers a token. @throws Failure when it cannot be stored */
export async function createConnectionToken(connection: ConnectionId): Promise<ConnectionToken> {
  const { id, token } = await addToken(connection.tool, noteFor(connection));
  const isOlder = (entry: TokenEntry) => belongsTo(connection, entry) && entry.id !== id;
  return {
    value: token,
    revoke: async () => void (await revokeToken(id)),
    revokeOlder: async () => void (await revokeTokens(isOlder)),
  };
}

/** Revokes all tokens of a connection, if there are any. @throws Failure */
export async function revokeConnectionTokens(id: ConnectionId): Promise<void> {
  const isSelected = (entry: TokenEntry) => belongsTo(id, entry);
  if (listTokens().some(isSelected)) await revokeTokens(isSelected);
}

function belongsTo(id: ConnectionId, { tool, note }: TokenEntry): boolean {
  return tool === id.tool && note === noteFor(id);
}

/** The note by which a connection's tokens are recognized, also shown by `token list`. */
function noteFor({ directory }: ConnectionId): string {
  return directory === null ? "connect" : `connect in ${directory}`;
}
