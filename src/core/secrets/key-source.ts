import { replaceKnownSecrets } from "./known-form.ts";

/** How long a command may take that prints a key: half a second less than the five that a key store without such a setting promises. */
export const COMMAND_TIMEOUT_MS = 4500;

/** Where an upstream's key comes from: the keychain, or what the configuration names as `keySource`; `none` if it takes no key. */
export type KeySource =
  | { kind: "none" }
  | { kind: "keychain" }
  | { kind: "file"; path: string }
  | {
      kind: "command";
      argv: [string, ...string[]];
      /** How long what it prints is used at most. Without it, as long as the key says itself, or until it is rejected. */
      ttlMs?: number;
      /** How long it may take; {@link COMMAND_TIMEOUT_MS} without it. In milliseconds, as the other. */
      timeoutMs?: number;
      /** For an upstream whose requests are signed. Without it, the command prints a key. */
      prints?: "aws-keys";
    }
  | { kind: "credential"; name: string };

/**
 * Identifies one key. In the keychain an item belongs to a pair of upstream origin and key name, so an edited base URL finds
 * no key: editing the configuration can never send a key to a new origin.
 */
export interface KeyRef {
  /** Scheme, host and port of the upstream, as `URL.origin` gives it. */
  origin: string;
  name: string;
  source: KeySource;
  /** The arguments of `tollkeeper` that store the key, e.g. `key set codex --upstream other`. Not part of its identity. */
  setArguments: string;
}

/** Returns the same text for the same key. Includes the whole source: another file is another key. */
export function identifyKey({ origin, name, source }: KeyRef): string {
  return JSON.stringify([origin, name, source]);
}

/** Returns where or with what a key is replaced, as the end of a sentence: `with: COMMAND` or `in: file PATH`. */
export function whereToReplace({ source, setArguments }: KeyRef): string {
  return source.kind === "keychain"
    ? `with: tollkeeper ${setArguments} --replace`
    : `in: ${describeKeySource(source)}`;
}

/** Describes a key source to people. Never includes a key, not even one of a known form in a command line. */
export function describeKeySource(source: KeySource): string {
  switch (source.kind) {
    case "none":
      return "no key needed";
    case "keychain":
      return "keychain";
    case "file":
      return `file ${source.path}`;
    case "command":
      return `command ${replaceKnownSecrets(source.argv.join(" "), "[hidden]")}`;
    case "credential":
      return `systemd credential ${source.name}`;
  }
}

/** What to type to have an upstream that takes no key get one. */
export const SEND_KEY = 'to send a key, remove "auth" with: tollkeeper config edit';
