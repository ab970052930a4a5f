/** The `service` attribute of tollkeeper's keychain items. */
export const SERVICE = "tollkeeper";

/** The schema of the items that keytar writes and looks up on Linux (keytar, src/keytar_posix.cc). */
export const SCHEMA = "org.freedesktop.Secret.Generic";

/** The request to the child process; each child handles one. */
export type KeytarRequest =
  | { call: "get"; account: string }
  | { call: "set"; account: string; value: string }
  | { call: "delete"; account: string };

/** The child's reply: keytar's return value, or its error text. */
export type KeytarReply = { ok: true; value: string | boolean | null } | { ok: false; message: string };
