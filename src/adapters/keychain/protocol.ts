/** The `service` attribute of tollkeeper's keychain items. */
export const SERVICE = "tollkeeper";

/** The schema of the items that keytar writes and looks up on Linux (keytar, src/keytar_posix.cc). */
export const SCHEMA = "org.freedesktop.Secret.Generic";

/** The request to the child process; each child handles one. */
export type KeytarRequest =
  | { call: "get"; account: string }
  | { call: "set"; account: string; value: string }
  | { call: "delete"; account: string }
  | { call: "list" };

/** What a call returns: a key, the accounts of all keys, or whether something was changed. */
export type KeytarValue = string | string[] | boolean | null;

/** The child's reply: what the call returned, or keytar's error text. */
export type KeytarReply = { ok: true; value: KeytarValue } | { ok: false; message: string };
