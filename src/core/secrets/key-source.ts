/** Where an upstream's key comes from when it does not come from the keychain (configuration, `keySource`). */
export type KeySource =
  | { kind: "keychain" }
  | { kind: "file"; path: string }
  | { kind: "command"; argv: [string, ...string[]] }
  | { kind: "credential"; name: string };

/**
 * Names one key. In the keychain an item belongs to the pair (upstream origin, key name): an edited base URL
 * finds no key, so a configuration edit can never send a key somewhere new.
 */
export interface KeyRef {
  /** Scheme, host and port of the upstream, as `URL.origin` gives it. */
  origin: string;
  name: string;
  source: KeySource;
}

/** How a key source is named to people. Never holds a value. */
export function describeKeySource(source: KeySource): string {
  switch (source.kind) {
    case "keychain":
      return "keychain";
    case "file":
      return `file ${source.path}`;
    case "command":
      return `command ${source.argv.join(" ")}`;
    case "credential":
      return `systemd credential ${source.name}`;
  }
}
