import { isAbsolute, join } from "node:path";
import type { HostInfo } from "./recipe.ts";

/**
 * Where a tool keeps its settings: in the directory that its own variable names, else below the home directory. A relative
 * one depends on where the tool is started, and is not followed.
 */
export function directoryOf({ env, home }: HostInfo, variable: string, ...below: string[]): string {
  const named = env[variable];
  return named !== undefined && isAbsolute(named) ? named : join(home, ...below);
}

/** The user's settings of tools that follow the XDG Base Directory Specification, on macOS, too. */
export function configHome(on: HostInfo): string {
  return directoryOf(on, "XDG_CONFIG_HOME", ".config");
}
