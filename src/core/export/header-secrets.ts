import type { OtlpConfig } from "../config/config.ts";
import type { KeyRef } from "../secrets/key-source.ts";

/** Marks the secrets of headers in the keychain, where upstreams' keys may have the same names. */
const PREFIX = "otlp.";

/** A header whose value is a secret. */
interface SecretHeader {
  name: string;
  scheme: string | null;
  /** Names the receiver's origin, as every key does: after an edit of the endpoint no secret is found to send there. */
  ref: KeyRef;
}

/** Returns the headers of a configuration whose values are secrets. */
export function listSecretHeaders({ endpoint, headers }: OtlpConfig): SecretHeader[] {
  return Object.entries(headers).flatMap(([name, header]) => {
    if (!("source" in header)) return [];
    const { scheme, source } = header;
    const setArguments = `export header ${name}`;
    return [
      { name, scheme, ref: { origin: endpoint.origin, name: `${PREFIX}${name}`, source, setArguments } },
    ];
  });
}

/** Returns the headers of a configuration whose values are in its file. */
export function listPlainHeaders({ headers }: OtlpConfig): [name: string, value: string][] {
  return Object.entries(headers).flatMap(([name, header]) =>
    "value" in header ? [[name, header.value]] : [],
  );
}
