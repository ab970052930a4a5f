import type { ConnectionId } from "../../connect/connection.ts";
import type { TokenEntry } from "../../core/identity/token-entry.ts";
import { findLocalTokens } from "../../core/secrets/local-token.ts";
import { hashToken } from "../../proxy/client/token-hash.ts";
import type { SettingsPlan } from "../../tools/tool.ts";
import { addToken, listTokens, revokeTokens } from "../tokens/tokens.ts";

/** Returns the connection's token in one of these texts that is still registered; null when there is none. @throws Failure */
export function findConnectionToken(id: ConnectionId, texts: readonly string[]): string | null {
  const own = listTokens().filter((entry) => belongsTo(id, entry));
  return findRegisteredTokens(texts, own)[0] ?? null;
}

/** Stands for a token in a plan: it is created only after the user has confirmed the change. */
export const NEW_TOKEN = "a-new-local-token";

/** True when a plan for {@link NEW_TOKEN} writes it. Some tools keep their credential elsewhere. */
export function writesToken({ files }: SettingsPlan): boolean {
  return JSON.stringify(files).includes(NEW_TOKEN);
}

/** Returns those of the local tokens in these texts that are registered. */
export function findRegisteredTokens(texts: readonly string[], registered: readonly TokenEntry[]): string[] {
  const hashes = new Set(registered.map(({ hash }) => hash));
  return texts.flatMap(findLocalTokens).filter((token) => hashes.has(hashToken(token).toString("hex")));
}

/**
 * Registers a new token, has `write` write it to the tool's files, and then revokes the connection's previous tokens. When
 * `write` throws, the new token is revoked instead.
 * @throws Failure when the token cannot be stored, and what `write` throws
 */
export async function replaceConnectionToken(
  connection: ConnectionId,
  write: (token: string) => void,
): Promise<void> {
  const { id, token } = await addToken(connection.tool, noteFor(connection));
  try {
    write(token);
  } catch (error) {
    await revokeTokens((entry) => entry.id === id);
    throw error;
  }
  await revokeTokens((entry) => belongsTo(connection, entry) && entry.id !== id);
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
