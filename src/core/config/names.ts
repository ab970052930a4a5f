import { hasKnownSecret } from "../secrets/known-form.ts";
import { looksLikeLocalToken } from "../secrets/local-token.ts";
import { KEY_VALUE_AS_NAME, looksLikeKey } from "./problem.ts";

/** The upstream name of the built-in sandbox in records; no configured upstream may have it. */
export const SANDBOX_UPSTREAM = "sandbox";

/** Stands for all tools that have no entry of their own. No tool can have this name. */
export const OTHERS = "*";

/** Names of upstreams, tools and keys: safe in a path, a header, a file name and a terminal. */
export const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Checks the name of an upstream, a tool or a group: returns what is wrong with it, or null. Names go into the ledger, so a key is refused. */
export function checkName(text: string): string | null {
  if (hasKnownSecret(text)) return KEY_VALUE_AS_NAME;
  if (NAME.test(text)) return null;
  return 'a name has 1 to 64 characters of a-z, 0-9, ".", "_" and "-", and starts with a letter or digit';
}

/** The version in the path of an API: `v1`, `v1beta`. As a tool's name it would be taken for a forgotten one (docs/routes.md). */
const API_VERSION = /^v\d+(?:(?:alpha|beta)\d*)?$/;

/** Checks the name of a tool. A local token is refused: tool names go into the ledger. */
export function checkToolName(text: string): string | null {
  if (API_VERSION.test(text)) return "a tool's name is not the version of an API, such as v1";
  return looksLikeLocalToken(text)
    ? 'a tool\'s name does not begin with "tollkeeper-", as local tokens do'
    : checkName(text);
}

/** Checks the name of a key. A key's value is refused: people paste it here. */
export function checkKeyName(text: string): string | null {
  return looksLikeKey(text) ? KEY_VALUE_AS_NAME : checkName(text);
}

/** Returns the tool name in lower case, or null when {@link checkToolName} finds a fault in it. */
export function parseToolName(text: string): string | null {
  // A key is told by its form before its case is lost.
  if (hasKnownSecret(text)) return null;
  const name = text.toLowerCase();
  return checkToolName(name) === null ? name : null;
}
