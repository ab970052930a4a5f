import { homedir, hostname, userInfo } from "node:os";
import { isAbsolute, posix, resolve, win32 } from "node:path";
import type { Config } from "../core/config/config.ts";
import { unknownHome, type HostInfo } from "../core/host-info.ts";
import type { LedgerLocation } from "../ports.ts";

/** Returns the configuration file that is used when the command line names none. */
export function configPath(host: HostInfo = currentHost()): string {
  return pathModuleOf(host).join(baseDirectory("config", host), "tollkeeper", "config.jsonc");
}

/** Returns the directory for files that outlive the daemon: the ledger, local tokens, connections. */
export function stateDirectory(host: HostInfo = currentHost()): string {
  return pathModuleOf(host).join(baseDirectory("state", host), "tollkeeper");
}

/** Returns the file in which local tokens are registered. */
export function tokenPath(host: HostInfo = currentHost()): string {
  return pathModuleOf(host).join(stateDirectory(host), "tokens.json");
}

/** Returns the file in which lifts and resets of budgets survive a restart. */
export function budgetStatePath(): string {
  return pathModuleOf(currentHost()).join(stateDirectory(), "budgets.json");
}

/** Returns the file in which it survives a restart what is paused. */
export function pausePath(): string {
  return pathModuleOf(currentHost()).join(stateDirectory(), "pauses.json");
}

/** Returns the file in which it survives a restart what services said of limits. */
export function limitsPath(): string {
  return pathModuleOf(currentHost()).join(stateDirectory(), "limits.json");
}

/** Returns the file with the salt for the accounts of plans. */
export function accountSaltPath(): string {
  return pathModuleOf(currentHost()).join(stateDirectory(), "account-salt");
}

/** Returns the file that says what was announced today as out of line. */
export function outliersPath(): string {
  return pathModuleOf(currentHost()).join(stateDirectory(), "outliers.json");
}

/** Returns the file that says up to which record an OpenTelemetry collector has them. */
export function otlpCheckpointPath(): string {
  return pathModuleOf(currentHost()).join(stateDirectory(), "export", "otlp.json");
}

/** Returns the file in which metrics survive a restart: what was counted, and how far in the ledger. */
export function metricsPath(): string {
  return pathModuleOf(currentHost()).join(stateDirectory(), "metrics.json");
}

/** Returns the directory that records how each tool was connected, with backups of its files. */
export function connectionsDirectory(host: HostInfo = currentHost()): string {
  return pathModuleOf(host).join(stateDirectory(host), "connections");
}

/** Returns the directory for the sockets of a running daemon, which is removed at the end of the user's session. */
export function runtimeDirectory(host: HostInfo = currentHost()): string {
  const base = directoryIn(host, "XDG_RUNTIME_DIR");
  if (host.platform !== "win32" && base !== null) return posix.join(base, "tollkeeper");
  return pathModuleOf(host).join(stateDirectory(host), "run");
}

/**
 * Returns the file in which the daemon of this machine writes down where its control socket is. It is in the state directory, which every
 * command finds, while XDG_RUNTIME_DIR is missing in cron, after `su` and in `docker exec`. Machines may share a home directory.
 */
export function addressPath(): string {
  return pathModuleOf(currentHost()).join(stateDirectory(), `${ADDRESS_PREFIX}${machineName()}.json`);
}

/** Returns the name of this machine as a part of a file's name. */
export function machineName(): string {
  return hostname().replaceAll(/[^\w.-]/g, "_");
}

/** What the name of each such file begins with. */
export const ADDRESS_PREFIX = "daemon-";

/** Returns the directory of the usage records. */
export function ledgerDirectory(config: Config): string {
  return config.ledger.directory ?? pathModuleOf(currentHost()).join(stateDirectory(), "ledger");
}

/** Returns where usage records are kept, and for how long. */
export function ledgerLocation(config: Config): LedgerLocation {
  return { ...config.ledger, directory: ledgerDirectory(config) };
}

/** Returns the host that this process runs on. @throws Failure without a home directory */
export function currentHost(): HostInfo {
  return { platform: process.platform, env: process.env, home: homeDirectory() };
}

/** Returns the home directory, absolute. @throws Failure when neither HOME nor the user database names one */
export function homeDirectory(): string {
  try {
    const home = homedir();
    // HOME may be empty or relative, and no file may be read from the working directory (SECURITY.md B6).
    return resolve(isAbsolute(home) ? home : userInfo().homedir);
  } catch (error) {
    throw unknownHome(process.geteuid?.(), error);
  }
}

/** Returns the user's name; the id as text where the user has none. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.geteuid?.() ?? "unknown");
  }
}

/** Each kind of directory: the variable that names it, and its default below the home directory. */
const BASES = {
  config: { xdg: "XDG_CONFIG_HOME", unix: ".config", windows: "APPDATA", appData: "Roaming" },
  state: { xdg: "XDG_STATE_HOME", unix: ".local/state", windows: "LOCALAPPDATA", appData: "Local" },
};

function baseDirectory(kind: keyof typeof BASES, host: HostInfo): string {
  const { xdg, unix, windows, appData } = BASES[kind];
  if (host.platform === "darwin") return posix.join(host.home, "Library", "Application Support");
  if (host.platform === "win32")
    return directoryIn(host, windows) ?? win32.join(host.home, "AppData", appData);
  return directoryIn(host, xdg) ?? posix.join(host.home, unix);
}

/** Ignores a relative value, as the XDG Base Directory Specification demands ("Environment variables"). */
function directoryIn(host: HostInfo, name: string): string | null {
  const value = host.env[name];
  return value !== undefined && pathModuleOf(host).isAbsolute(value) ? value : null;
}

function pathModuleOf({ platform }: HostInfo): typeof posix {
  return platform === "win32" ? win32 : posix;
}
