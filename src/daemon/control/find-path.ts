import { lstatSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { readAddress } from "../../adapters/control-socket/address-file.ts";
import {
  addressPath,
  currentHost,
  machineName,
  runtimeDirectory,
  stateDirectory,
} from "../../adapters/paths.ts";
import { hasListener, isSocketPath } from "../../adapters/unix-socket/path.ts";

// The status line loads this at each prompt: it imports nothing heavy.

/** The name of the control socket in its directory. */
export const CONTROL_SOCKET = "control.sock";

/**
 * Resolves to the control socket of the daemon that uses this state directory, whatever the environment of this command: the daemon
 * wrote down where it is. Where no daemon listens, to a path on which none does.
 */
export async function findControlPath(): Promise<string> {
  const owners = trustedOwners();
  const places = [
    readAddress(addressPath(), owners),
    join(runtimeDirectory(), CONTROL_SOCKET),
    ...placesInState(),
  ];
  const unique = [...new Set(places)].filter((path) => path !== null);
  const sockets = unique.filter((path) => isSocketOf(path, owners));
  // Only after a crash there may be several.
  if (sockets.length > 1) for (const path of sockets) if (await hasListener(path)) return path;
  return (
    sockets[0] ?? usualPlace(owners) ?? chooseControlPaths()[0] ?? join(runtimeDirectory(), CONTROL_SOCKET)
  );
}

/**
 * Returns where a daemon may open its control socket, the best place first: in the session's directory if it is this user's, as the XDG
 * Base Directory Specification demands, then in the state directory. None is too long for a socket; none is left if all are.
 */
export function chooseControlPaths(): string[] {
  const base = process.env["XDG_RUNTIME_DIR"];
  const isOwn = base !== undefined && ownerOf(base) === process.geteuid?.();
  const inRuntime = join(runtimeDirectory(), CONTROL_SOCKET);
  return (isOwn ? [inRuntime, ...placesInState()] : placesInState()).filter(isSocketPath);
}

/** Machines that share a home directory must not take each other's socket for that of a dead daemon. */
function placesInState(): string[] {
  const directory = join(stateDirectory(), "run");
  return [join(directory, `control-${machineName()}.sock`), join(directory, CONTROL_SOCKET)];
}

/**
 * Returns the uids whose socket may be the daemon's: only its owner can have created it. Root may ask the daemon of the user whose home
 * it was given, as with `sudo -E`.
 */
export function trustedOwners(): number[] {
  const uid = process.geteuid?.();
  if (uid === undefined) return [];
  return uid === 0 ? [0, ownerOf(currentHost().home) ?? 0] : [uid];
}

/** A daemon of an earlier build wrote nothing down, and is in the directory of the user's login session. */
function usualPlace(owners: readonly number[]): string | null {
  if (process.platform !== "linux") return null;
  // Another home or state directory may have a daemon of its own, in whose place the usual one must not be found.
  const account = accountHome();
  if (account === null || stateDirectory() !== join(account, ".local", "state", "tollkeeper")) return null;
  const path = `/run/user/${process.geteuid?.()}/tollkeeper/${CONTROL_SOCKET}`;
  return isSocketOf(path, owners) ? path : null;
}

function accountHome(): string | null {
  try {
    return userInfo().homedir;
  } catch {
    return null;
  }
}

function isSocketOf(path: string, owners: readonly number[]): boolean {
  try {
    const found = lstatSync(path);
    return found.isSocket() && (owners.length === 0 || owners.includes(found.uid));
  } catch {
    return false;
  }
}

function ownerOf(path: string): number | null {
  try {
    return statSync(path).uid;
  } catch {
    return null;
  }
}
