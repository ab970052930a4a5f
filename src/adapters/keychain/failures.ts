import { KeyFailure } from "../../core/failure.ts";
import type { KeyFailureCode } from "../../core/failure.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";

const ELSEWHERE =
  'keep the key elsewhere: "keySource": {"file": PATH}, {"command": [...]} or {"credential": NAME} ' +
  "in the file that `tollkeeper config path` names";

const UNLOCK =
  "unlock it (log in to the desktop, or open its password manager; without a desktop: " +
  `gnome-keyring-daemon --replace --unlock), then try again, or ${ELSEWHERE}`;

/** One way in which the keychain fails, known by the text of its error: neither keytar nor busctl has error codes. */
interface KnownFailure {
  text: RegExp;
  code: KeyFailureCode;
  message: string;
  hint: string;
  /** The error's own text says more than we can: it is added to the message. */
  quoted?: true;
}

const NO_BUS: KnownFailure = {
  text: /Cannot autolaunch|not defined/,
  code: "unavailable",
  message: "there is no D-Bus session, and the keychain is reached through it",
  hint: `run it in your login session, or name that session's bus: export XDG_RUNTIME_DIR=/run/user/$(id -u); or ${ELSEWHERE}`,
};

const DEAD_BUS: KnownFailure = {
  text: /Could not connect|Failed to connect to bus|Failed to set bus address|^Address element|[Cc]onnection is closed/,
  code: "unavailable",
  message: "no D-Bus session answers at the address that DBUS_SESSION_BUS_ADDRESS gives",
  hint: `log in again, or leave it to the default: unset DBUS_SESSION_BUS_ADDRESS; or ${ELSEWHERE}`,
};

export const NO_COLLECTION: KnownFailure = {
  text: /Object does not exist at path/,
  code: "unavailable",
  message: "the keychain has no collection yet that a key could be put in",
  hint:
    "make one: log in to the desktop once, or create a default keyring in its password manager; " +
    `without a desktop: gnome-keyring-daemon --replace --unlock; or ${ELSEWHERE}`,
};

export const LOCKED: KnownFailure = {
  text: /locked collection|IsLocked|prompt was dismissed|-25308|interaction is not allowed/,
  code: "locked",
  message: "the keychain is locked",
  hint: process.platform === "darwin" ? "unlock it: security unlock-keychain" : UNLOCK,
};

export const UNRESPONSIVE: KnownFailure = {
  text: /Timeout was reached|timed out|NoReply|Did not receive a reply/,
  code: "unresponsive",
  message: "the keychain does not answer; it may be waiting for a prompt, or hang",
  hint:
    process.platform === "linux"
      ? `answer the prompt, or see which program it is and restart it: busctl --user status org.freedesktop.secrets; or ${ELSEWHERE}`
      : "answer the prompt and try again, or see what waits: open -a 'Keychain Access'",
};

/**
 * Texts of keytar 7.10 with libsecret and GLib, of busctl 252 (facts/platform.md 1.3, tried), and of the macOS Security
 * framework (facts/platform.md 1.7, from documentation: not tried here).
 */
const KNOWN: readonly KnownFailure[] = [
  NO_BUS,
  DEAD_BUS,
  {
    text: /libsecret-1\.so/,
    code: "unavailable",
    message: "libsecret, which the keychain is reached through, cannot be loaded",
    hint:
      "install it: apt install libsecret-1-0 (Debian, Ubuntu), dnf install libsecret (Fedora), " +
      `pacman -S libsecret (Arch); or ${ELSEWHERE}`,
    quoted: true,
  },
  {
    text: /keytar\.node|native addon|shared object file/,
    code: "unavailable",
    message: "the keychain library cannot be loaded",
    hint: `install tollkeeper again on this machine, or ${ELSEWHERE}`,
    quoted: true,
  },
  {
    text: /not provided by any \.service files|has no owner/,
    code: "unavailable",
    message: "no keychain runs here: nothing provides org.freedesktop.secrets",
    hint: `install and start one (gnome-keyring, KWallet, or KeePassXC with its Secret Service switched on), or ${ELSEWHERE}`,
  },
  {
    text: /exited with status|Failed to execute program|Could not activate/,
    code: "unavailable",
    message: "the keychain's provider does not start",
    hint: `see why: journalctl --user -b; or ${ELSEWHERE}`,
    quoted: true,
  },
  NO_COLLECTION,
  LOCKED,
  {
    text: /-25293|-128\b|passphrase you entered is not correct|[Cc]ancell?ed/,
    code: "locked",
    message: "the keychain refuses this program",
    hint: "allow it when asked, or, after Node was replaced, store the key again: tollkeeper key set",
    quoted: true,
  },
  UNRESPONSIVE,
];

/** Translates the text of keytar's or busctl's error into what a person can act on. */
export function failureOf(text: string): KeyFailure {
  // Without an address of its own the bus was looked for in the default place, and there is none.
  const noAddress = DEAD_BUS.text.test(text) && process.env["DBUS_SESSION_BUS_ADDRESS"] === undefined;
  const known = noAddress ? NO_BUS : KNOWN.find((failure) => failure.text.test(text));
  if (known !== undefined) return knownFailure(known, text);
  return new KeyFailure("unavailable", `the keychain failed: ${text}`, `try again, or ${ELSEWHERE}`);
}

/** One of the failures above, where something else than an error's text showed it. */
export function knownFailure(known: KnownFailure, text = ""): KeyFailure {
  const message = known.quoted === true ? `${known.message}: ${text}` : known.message;
  return new KeyFailure(known.code, message, known.hint);
}

/**
 * The store answered, and it holds no such key. keytar says the same of a locked item (facts/platform.md 1.3), so where
 * the Secret Service was not asked first, `blind`, the message cannot tell the two apart.
 */
export function noSuchKey(ref: KeyRef, blind: boolean): KeyFailure {
  const store = `tollkeeper key set ${ref.name}`;
  const message = `no key "${ref.name}" is stored for ${ref.origin}`;
  if (!blind) return new KeyFailure("missing", message, `store it: ${store}`);
  return new KeyFailure(
    "missing",
    `${message}, or the keychain is locked; without busctl the two cannot be told apart`,
    `unlock the keychain, or store the key: ${store}`,
  );
}

/** The keychain holds an item for the key, but a value that no key can have; `problem` says why. */
export function notAKey(ref: KeyRef, problem: string): KeyFailure {
  return new KeyFailure(
    "unavailable",
    `what the keychain holds as key "${ref.name}" for ${ref.origin} is no key: ${problem}`,
    `replace it: tollkeeper key set ${ref.name}`,
  );
}

/** keytar's process died, by a signal (a crash in libsecret, say) or before it could answer. */
export function childDied(how: string): KeyFailure {
  return new KeyFailure(
    "unavailable",
    `the keychain library crashed (${how}); nothing else was harmed`,
    `try again, or ${ELSEWHERE}`,
  );
}
