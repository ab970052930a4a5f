import { readPresentedCredentials } from "../http/credential-headers.ts";
import { foldName, namesCredential } from "../http/credential-names.ts";
import { HeaderIndex } from "../http/header-index.ts";
import type { HeaderPolicy } from "../http/header-policy.ts";
import { redactCredentials } from "../secrets/credential-values.ts";
import { isLikelySecret } from "../secrets/detect-key.ts";
import { Secret } from "../secrets/secret.ts";

/** What stands in the place of a header's value that is a credential. */
const REMOVED = "[removed]";

/** Not credentials, but whose account it is. */
const ACCOUNT_NAMES = new Set(["chatgpt-account-id", "openai-organization", "openai-project"]);

/** Returns headers, flat as received, as pairs: without the values of credentials, by their names and by their form. */
export function stripHeaders(headers: readonly string[]): [name: string, value: string][] {
  return new HeaderIndex(headers).lines.map(({ policy, rawName, value }) => [
    redactCredentials(rawName),
    isCredential(policy) ? REMOVED : redactCredentials(value),
  ]);
}

/** How much of a limit of tokens is left opens nothing. */
function isCredential({ name, namesLimit }: HeaderPolicy): boolean {
  return (namesCredential(foldName(name)) && !namesLimit) || ACCOUNT_NAMES.has(name);
}

/** Returns the credentials in headers, flat as received, so that they can be found in bodies as well. */
export function credentialsIn(headers: readonly string[]): Secret[] {
  const index = new HeaderIndex(headers);
  const named = index.lines.flatMap(({ policy, value }) => (isCredential(policy) ? [value] : []));
  const parts = named.flatMap((value) => value.split(/[\s;,=]+/));
  const values = new Set([...readPresentedCredentials(index), ...parts].filter(isLikelySecret));
  return [...values].map((value) => new Secret(value));
}
