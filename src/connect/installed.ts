import { accessSync, constants, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { ConnectableTool, ToolHost } from "../tools/tool.ts";

/**
 * True when one of the tool's programs is on the PATH, or one of its directories or files exists.
 * @param made the files that connecting has created, which prove nothing
 */
export function isInstalled(
  { programs, homePaths, configFiles }: Pick<ConnectableTool, "programs" | "homePaths" | "configFiles">,
  host: ToolHost,
  made: readonly string[],
): boolean {
  const { home, env } = host;
  const directories = (env["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const isOnPath = (name: string) => directories.some((directory) => isExecutable(join(directory, name)));
  const isProof = (path: string) => host.exists(path) && !made.includes(path);
  // These also follow the variables that move a tool's directory, such as XDG_CONFIG_HOME and CODEX_HOME.
  const own = (configFiles?.(host) ?? []).map(dirname).filter((directory) => directory !== home);
  return programs.some(isOnPath) || [...own, ...homePaths.map((path) => join(home, path))].some(isProof);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
