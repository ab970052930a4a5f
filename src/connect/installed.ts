import { accessSync, constants, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { ConnectableTool, ToolHost } from "../tools/tool.ts";

/**
 * True when one of the tool's programs is on the PATH, other than Windows' own, or one of its directories or files exists.
 * @param made the files that connecting has created, which prove nothing
 */
export function isInstalled(
  { programs, homePaths, configFiles }: Pick<ConnectableTool, "programs" | "homePaths" | "configFiles">,
  host: ToolHost,
  made: readonly string[],
): boolean {
  const { home, env } = host;
  const isOwn = (directory: string) => directory !== "" && !(isWsl(env) && WINDOWS_DRIVE.test(directory));
  const directories = (env["PATH"] ?? "").split(delimiter).filter(isOwn);
  const isOnPath = (name: string) => directories.some((directory) => isExecutable(join(directory, name)));
  const isProof = (path: string) => host.exists(path) && !made.includes(path);
  // These also follow the variables that move a tool's directory, such as XDG_CONFIG_HOME and CODEX_HOME.
  const own = (configFiles?.(host) ?? []).map(dirname).filter((directory) => directory !== home);
  return programs.some(isOnPath) || [...own, ...homePaths.map((path) => join(home, path))].some(isProof);
}

/**
 * Where the Windows Subsystem for Linux puts the drives of Windows, whose PATH it appends. Programs there have their settings in Windows
 * (https://learn.microsoft.com/windows/wsl/wsl-config, sections automount and interop).
 */
const WINDOWS_DRIVE = /^\/mnt\/[a-z](?:\/|$)/;

function isWsl(env: ToolHost["env"]): boolean {
  return env["WSL_DISTRO_NAME"] !== undefined || env["WSL_INTEROP"] !== undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
