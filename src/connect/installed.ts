import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { ConnectableTool, ToolHost } from "../tools/tool.ts";

/** True when one of the tool's programs is on the PATH, or one of its files is in the home directory. */
export function isInstalled(
  { programs, homePaths }: Pick<ConnectableTool, "programs" | "homePaths">,
  { home, env }: Pick<ToolHost, "home" | "env">,
): boolean {
  const directories = (env["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const isOnPath = (name: string) => directories.some((directory) => isExecutable(join(directory, name)));
  return programs.some(isOnPath) || homePaths.some((path) => existsSync(join(home, path)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
