import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { ConnectableTool, ToolHost } from "../tools/tool.ts";

/**
 * True when one of the tool's programs is on the PATH, or one of its directories or files is in the home directory.
 * @param made the directories that connecting has created, which prove nothing
 */
export function isInstalled(
  { programs, homePaths }: Pick<ConnectableTool, "programs" | "homePaths">,
  { home, env }: Pick<ToolHost, "home" | "env">,
  made: readonly string[],
): boolean {
  const directories = (env["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const isOnPath = (name: string) => directories.some((directory) => isExecutable(join(directory, name)));
  const isProof = (path: string) => existsSync(path) && !made.includes(path);
  return programs.some(isOnPath) || homePaths.some((path) => isProof(join(home, path)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
