import { homedir, userInfo } from "node:os";
import { isAbsolute, posix, win32 } from "node:path";
import type { Config } from "../core/config/config.ts";
import type { LedgerPlace } from "../ports.ts";

/** What decides where a program keeps its files. */
export interface HostInfo {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  /** Home directory, absolute. */
  home: string;
}

/** The configuration file that is used when the command line names none. */
export function configPath(on: HostInfo = here()): string {
  return pathsOf(on).join(baseOf("config", on), "tollkeeper", "config.jsonc");
}

/** Where what outlives the daemon is kept: the ledger, the local tokens. */
export function stateDirectory(on: HostInfo = here()): string {
  return pathsOf(on).join(baseOf("state", on), "tollkeeper");
}

/** Where local tokens are registered. */
export function tokenPath(on: HostInfo = here()): string {
  return pathsOf(on).join(stateDirectory(on), "tokens.json");
}

/** Where it is kept how each tool was connected, and what its files were before. */
export function connectionsDirectory(on: HostInfo = here()): string {
  return pathsOf(on).join(stateDirectory(on), "connections");
}

/** Where a running daemon can be met: sockets, which end with the session. */
export function runtimeDirectory(on: HostInfo = here()): string {
  const base = directoryIn(on, "XDG_RUNTIME_DIR");
  if (on.platform !== "win32" && base !== null) return posix.join(base, "tollkeeper");
  return pathsOf(on).join(stateDirectory(on), "run");
}

/** Where usage records are kept. */
export function ledgerDirectory(config: Config): string {
  return config.ledger.directory ?? pathsOf(here()).join(stateDirectory(), "ledger");
}

/** Where usage records are kept, and for how long. */
export function ledgerPlace(config: Config): LedgerPlace {
  return { ...config.ledger, directory: ledgerDirectory(config) };
}

/** Where this process is. */
export function here(): HostInfo {
  const home = homedir();
  // HOME may be empty or relative; nothing of ours is ever read from the working directory (facts/threats.md B6).
  return { platform: process.platform, env: process.env, home: isAbsolute(home) ? home : userInfo().homedir };
}

/** The two kinds of directory: the variable that names it, and where it is when that is not set. */
const BASES = {
  config: { xdg: "XDG_CONFIG_HOME", unix: ".config", windows: "APPDATA", appData: "Roaming" },
  state: { xdg: "XDG_STATE_HOME", unix: ".local/state", windows: "LOCALAPPDATA", appData: "Local" },
};

function baseOf(kind: keyof typeof BASES, on: HostInfo): string {
  const { xdg, unix, windows, appData } = BASES[kind];
  if (on.platform === "darwin") return posix.join(on.home, "Library", "Application Support");
  if (on.platform === "win32") return directoryIn(on, windows) ?? win32.join(on.home, "AppData", appData);
  return directoryIn(on, xdg) ?? posix.join(on.home, unix);
}

/** A relative value must be ignored (XDG Base Directory Specification, "Environment variables"). */
function directoryIn(on: HostInfo, name: string): string | null {
  const value = on.env[name];
  return value !== undefined && pathsOf(on).isAbsolute(value) ? value : null;
}

function pathsOf({ platform }: HostInfo): typeof posix {
  return platform === "win32" ? win32 : posix;
}
