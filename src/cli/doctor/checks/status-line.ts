import { execFile } from "node:child_process";
import { failure, type Check, type Finding } from "../../../check/check.ts";
import { findStatusLines, type StatusLine } from "../../connect/status-line.ts";
import { displayLocation, displayPath } from "../../terminal/format.ts";
import type { Evidence } from "../evidence.ts";

/** As long as a daemon may take to answer, and a slow disk to start Node. */
const LIMIT_MS = 10_000;

/** Runs what `connect --statusline` wrote, as the tool does: its Node or its program may have been moved or removed since. */
export const statusLineCheck: Check<Evidence> = {
  id: "statusline",
  title: "status line",
  async run({ env, home }) {
    const findings = await Promise.all(findStatusLines().map((line) => checkOne(line, env, home)));
    return findings.flat();
  },
};

async function checkOne(
  { tool, path, line, setting, command, fix }: StatusLine,
  env: NodeJS.ProcessEnv,
  home: string,
): Promise<Finding[]> {
  const problem = await tryCommand(command, env);
  if (problem === null) return [];
  const file = displayPath(path, home);
  const where = displayLocation(line === null ? file : `${file}:${line}`, setting);
  return [failure(`${tool} cannot draw the status line of ${where}: ${problem}`, fix)];
}

/** Returns what went wrong; null when the command prints a line. It exits with 0 without a daemon, too. */
function tryCommand(command: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise((resolve) => {
    const child = execFile("sh", ["-c", command], { env, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      const [last = ""] = stderr.trim().split("\n").filter(isTelling).slice(-1);
      if (error?.killed === true) resolve(`its command does not end within ${LIMIT_MS / 1000} seconds`);
      else if (error !== null)
        resolve(last === "" ? `its command ends with code ${error.code ?? "unknown"}` : last);
      else resolve(stdout.startsWith("tollkeeper needs Node") ? stdout.trim() : null);
    });
    // It takes the tool's JSON, if there is any.
    child.stdin?.on("error", () => {}).end();
  });
}

/** Node ends what it says of a missing file with its own version, after the stack. */
function isTelling(line: string): boolean {
  return line !== "" && !/^(?:Node\.js v| +at |[{}]| +(?:code|requireStack|url):)/.test(line);
}
