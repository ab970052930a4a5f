import { existsSync } from "node:fs";
import { KeyFailure } from "../../core/failure.ts";
import type { KeyFailureCode, KeyFix } from "../../core/failure.ts";
import { formatConfigPath } from "../../core/config/problem.ts";
import { withSetCommand } from "../../core/refusals/keys.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { setDefaultCommand } from "./probe.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";

const PLACE = "upstreams.default.keySource";

const ELSEWHERE =
  "use another key source, such as a file with the key that only you can read: " +
  `tollkeeper config set ${PLACE} '{"file":"~/key"}'`;

/** Has the advice to use another key source name the upstream of a key, which the arguments of `key set` leave out if it is "default". */
function forUpstream(hint: string, { setArguments }: KeyRef): string {
  const name = / --upstream (\S+)$/.exec(setArguments)?.[1] ?? "default";
  return hint.replace(PLACE, formatCommand([formatConfigPath(["upstreams", name, "keySource"])]));
}

const UNLOCK_MAC: KeyFix = {
  hint: "unlock it: security unlock-keychain",
  command: "security unlock-keychain",
};

/**
 * Asks for the keyring's password without showing it. gnome-keyring-daemon itself reads it from standard input, without a prompt, up
 * to the end of the input, and takes a line break for a part of it. Without a session of its own it ends with the terminal
 * (docs/platform.md section 1).
 */
const ASK_AND_UNLOCK =
  `sh -c 'stty -echo; printf "Keyring password: "; IFS= read -r word; stty echo; echo; ` +
  `printf %s "$word" | setsid gnome-keyring-daemon --replace --unlock'`;

const UNLOCK =
  "unlock it: log in to the desktop, or open its password manager; " +
  `or without a desktop, type this, which asks for its password: ${ASK_AND_UNLOCK}; then try again; or ${ELSEWHERE}`;

/** Returns a hint without the advice to use another key source, where it is about a key that is in the keychain. */
export function withoutElsewhere(hint: string): string {
  return hint.replace(/[;,] or use another key source.*$/, "");
}

/** One kind of failure, recognized by its error text, since neither keytar nor busctl has error codes. */
interface KnownFailure {
  text: RegExp;
  code: KeyFailureCode;
  message: string;
  fix: string | KeyFix | ((ref: KeyRef) => string | KeyFix);
  /** The error text is added to the message, because it has the details. */
  isQuoted?: true;
}

const NO_BUS: KnownFailure = {
  text: /Cannot autolaunch|not defined/,
  code: "unavailable",
  message: "there is no D-Bus session, which the keychain needs",
  fix: () => `${findBus()}; or ${ELSEWHERE}`,
};

/** A session that was entered by `su` has the bus of its user, if that user has logged in, and no variable that leads to it. */
function findBus(): string {
  const runtime = `/run/user/${process.getuid?.()}`;
  return existsSync(`${runtime}/bus`)
    ? `run tollkeeper in your login session, or point it at that session's bus: export XDG_RUNTIME_DIR=${runtime}`
    : "run tollkeeper in a login session";
}

const DEAD_BUS: KnownFailure = {
  text: /Could not connect|Failed to connect to bus|Failed to set bus address|^Address element|[Cc]onnection is closed/,
  code: "unavailable",
  message: "no D-Bus session responds at the address in DBUS_SESSION_BUS_ADDRESS",
  fix: `log in again, or use the default address: unset DBUS_SESSION_BUS_ADDRESS; or ${ELSEWHERE}`,
};

const NO_COLLECTION: KnownFailure = {
  text: /Object does not exist at path/,
  code: "unavailable",
  message: "the keychain has no collection for keys yet",
  fix:
    "create one: log in to the desktop once, or create a default keyring in its password manager; " +
    `or without a desktop, type this, which asks for a password: ${ASK_AND_UNLOCK}; or ${ELSEWHERE}`,
};

export const LOCKED: KnownFailure = {
  text: /locked collection|IsLocked|prompt was dismissed|-25308|interaction is not allowed/,
  code: "locked",
  message: "the keychain is locked",
  fix: process.platform === "darwin" ? UNLOCK_MAC : UNLOCK,
};

/** The access list of some items cannot be changed, so the answer to the prompt is not kept. Overwriting an item keeps its list. */
function storeAgain({ setArguments: set }: KeyRef): string {
  const remove = set.replace("key set", "key remove");
  return `if macOS asks again although you chose "Always Allow", store the key again: tollkeeper ${remove}, then: tollkeeper ${set}`;
}

export const UNRESPONSIVE: KnownFailure = {
  text: /Timeout was reached|timed out|NoReply|Did not receive a reply/,
  code: "unresponsive",
  message: "the keychain does not respond; it may be waiting for a prompt, or be stuck",
  fix: (ref) =>
    process.platform === "linux"
      ? `answer the prompt, or find its program and restart it: busctl --user status org.freedesktop.secrets; or ${ELSEWHERE}`
      : `answer the prompt and try again, or look for it in: open -a 'Keychain Access'; ${storeAgain(ref)}`,
};

/**
 * The texts of keytar 7.10 with libsecret and GLib and of busctl 252 were observed; those of the macOS Security framework
 * are from its documentation (docs/platform.md section 1).
 */
const KNOWN: readonly KnownFailure[] = [
  NO_BUS,
  DEAD_BUS,
  {
    text: /libsecret-1\.so/,
    code: "unavailable",
    message: "libsecret, which the keychain needs, cannot be loaded",
    fix:
      "install it: apt install libsecret-1-0 (Debian, Ubuntu), dnf install libsecret (Fedora), " +
      `pacman -S libsecret (Arch); or ${ELSEWHERE}`,
    isQuoted: true,
  },
  {
    text: /keytar\.node|native addon|shared object file/,
    code: "unavailable",
    message: "the keychain library cannot be loaded",
    fix: `install tollkeeper again on this machine, or ${ELSEWHERE}`,
    isQuoted: true,
  },
  {
    text: /not provided by any \.service files|has no owner/,
    code: "unavailable",
    message: "no keychain is running: nothing provides org.freedesktop.secrets",
    fix: `install and start one (gnome-keyring, KWallet, or KeePassXC with its Secret Service enabled), or ${ELSEWHERE}`,
  },
  {
    text: /exited with status|Failed to execute program|Could not activate/,
    code: "unavailable",
    message: "the keychain's provider fails to start",
    fix: `see why: journalctl --user -b; or ${ELSEWHERE}`,
    isQuoted: true,
  },
  NO_COLLECTION,
  LOCKED,
  {
    text: /-25293|-128\b|passphrase you entered is not correct|[Cc]ancell?ed/,
    code: "locked",
    message: "the keychain denies access to this program",
    fix: (ref) =>
      process.platform === "darwin"
        ? `allow it when asked; ${storeAgain(ref)}`
        : withSetCommand(ref, "allow it when asked; or store the key again"),
    isQuoted: true,
  },
  UNRESPONSIVE,
];

/** Returns the failure to read or store a key, for an error text of keytar or busctl, with a hint that the user can act on. */
export function failureOf(text: string, ref: KeyRef): KeyFailure {
  // Without a configured address, the bus was looked for in the default location.
  const noAddress = DEAD_BUS.text.test(text) && process.env["DBUS_SESSION_BUS_ADDRESS"] === undefined;
  const known = noAddress ? NO_BUS : KNOWN.find((failure) => failure.text.test(text));
  if (known !== undefined) return knownFailure(known, ref, text);
  const hint = forUpstream(`try again, or ${ELSEWHERE}`, ref);
  return new KeyFailure("unavailable", `the keychain failed: ${text}`, hint);
}

/** Returns the failure of a known kind; `text` is the error text, if there is one. */
export function knownFailure(known: KnownFailure, ref: KeyRef, text = ""): KeyFailure {
  const message = known.isQuoted === true ? `${known.message}: ${text}` : known.message;
  const fix = typeof known.fix === "function" ? known.fix(ref) : known.fix;
  return new KeyFailure(known.code, message, typeof fix === "string" ? forUpstream(fix, ref) : fix);
}

/**
 * Returns the failure of a keychain without a default collection, where keys are put. When it has `others`, the name of the
 * default one refers to a collection that was removed, and creating another one does not change that.
 */
export function noDefaultCollection(ref: KeyRef, others: readonly string[]): KeyFailure {
  const [first] = others;
  if (first === undefined) return knownFailure(NO_COLLECTION, ref);
  const other = others.find((path) => path.endsWith("/login")) ?? first;
  const message = "the keychain's default collection, which stores keys, is missing";
  const hint = `make another collection the default with: ${formatCommand(setDefaultCommand(other))}; or ${ELSEWHERE}`;
  return new KeyFailure("unavailable", message, forUpstream(hint, ref));
}

/** Returns the failure for an item whose value cannot be a key; `problem` says why. */
export function invalidKey(ref: KeyRef, problem: string): KeyFailure {
  const message = `the keychain's item "${ref.name}" for ${ref.origin} is not a valid key: ${problem}`;
  return new KeyFailure("unavailable", message, withSetCommand(ref, "replace it"));
}

/** Returns the failure for a child process that died before it replied; `how` is its signal or exit code. */
export function childDied(how: string, ref: KeyRef): KeyFailure {
  return new KeyFailure(
    "unavailable",
    `the keychain library crashed (${how}); nothing else is affected`,
    forUpstream(`try again, or ${ELSEWHERE}`, ref),
  );
}
