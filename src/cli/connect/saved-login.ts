import { execFile } from "node:child_process";
import type { ConnectableTool, ToolHost } from "../../tools/tool.ts";

/** A person waits for it, once before a tool is connected. The program takes less than a second. */
const TIMEOUT_MS = 10_000;

/**
 * True for a tool that has a login, by the existence of a file that is never opened, or by a variable. On macOS the login may be in the
 * keychain, so the tool's own program is asked, if there is neither.
 */
export async function hasSavedLogin(
  { savedLogin }: Pick<ConnectableTool, "savedLogin">,
  host: ToolHost,
): Promise<boolean> {
  if (savedLogin === undefined) return false;
  const { file, variable, status } = savedLogin;
  if (host.exists(file(host))) return true;
  if (variable !== null && (host.env[variable] ?? "") !== "") return true;
  if (status === null || host.platform !== "darwin") return false;
  const [program, ...args] = status.command;
  return status.says.test(await outputOf(program, args, host.env));
}

/** Returns what a program prints; "" where there is none, or it takes too long. Its exit code says whether anything is signed in. */
function outputOf(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    const options = { env, timeout: TIMEOUT_MS, killSignal: "SIGKILL" } as const;
    execFile(program, args, options, (_error, stdout) => resolve(stdout));
  });
}
