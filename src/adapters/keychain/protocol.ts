/** The keychain items' `service` attribute. */
export const SERVICE = "tollkeeper";

/** The schema by which keytar's Linux side writes items, and finds them again (keytar, src/keytar_posix.cc). */
export const SCHEMA = "org.freedesktop.Secret.Generic";

/** What the child is asked for; one request per child. */
export type KeytarRequest =
  | { call: "get"; account: string }
  | { call: "set"; account: string; value: string }
  | { call: "delete"; account: string };

/** What the child answers: keytar's own value, or the text of its error. */
export type KeytarReply = { ok: true; value: string | boolean | null } | { ok: false; message: string };
