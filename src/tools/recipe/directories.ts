import { isAbsolute, join } from "node:path";
import type { HostInfo } from "../../core/host-info.ts";

/**
 * Returns a function for the directory that a variable names, else the one at `below` in the home directory. A relative
 * value is ignored, because it depends on where the tool is started.
 */
export function directoryOf(variable: string, ...below: string[]): (host: HostInfo) => string {
  return ({ env, home }) => {
    const named = env[variable];
    return named !== undefined && isAbsolute(named) ? named : join(home, ...below);
  };
}

/** The configuration directory of the XDG Base Directory Specification, which many tools follow on macOS as well. */
export const configHome = directoryOf("XDG_CONFIG_HOME", ".config");

/** The data directory of the same specification. */
export const dataHome = directoryOf("XDG_DATA_HOME", ".local", "share");

/** The directory of the same specification for what programs remember. */
export const stateHome = directoryOf("XDG_STATE_HOME", ".local", "state");

/** The directory of zsh's start-up files. */
export const zshHome = directoryOf("ZDOTDIR");

/** Returns the directory in which desktop applications keep their settings. */
export function applicationHome(host: HostInfo): string {
  return host.platform === "darwin" ? join(host.home, "Library", "Application Support") : configHome(host);
}

/** Returns the directory of settings for all users, which an administrator manages. */
export function managedDirectory({ platform }: HostInfo, name: string, macName = name): string {
  return platform === "darwin" ? `/Library/Application Support/${macName}` : `/etc/${name}`;
}

/** Returns the paths of files in a directory. */
export function filesIn(directory: string, ...names: string[]): string[] {
  return names.map((name) => join(directory, name));
}
