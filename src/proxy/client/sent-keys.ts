import type { HeaderIndex } from "../../core/http/header-index.ts";
import { listOwnKeys } from "../../core/plans/own-keys.ts";
import { Secret } from "../../core/secrets/secret.ts";

/** Replaces the keys in a text by asterisks. */
export interface Redactor {
  redact(text: string): string;
}

/**
 * Returns what also replaces the keys that a request has in its headers. Where an upstream passes those, they are real, and may be in what
 * the client says about itself as well. Their form may be that of no known key.
 */
export function withSentKeys(headers: HeaderIndex, keyring: Redactor): Redactor {
  const keys = listOwnKeys(headers).map((key) => new Secret(key));
  return { redact: (text) => keys.reduce((left, key) => key.redactText(left), keyring.redact(text)) };
}
