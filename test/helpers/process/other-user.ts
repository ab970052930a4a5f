import { execFile, execFileSync } from "node:child_process";
import { PROGRAM } from "../daemon/program.ts";

/** The uid of the user `nobody`, which every Unix has and which owns nothing. */
export const NOBODY = 65_534;

/** The reason why no client of another user can run here, for `test(..., { skip })`; false when one can. */
export const noOtherUser: string | false = reasonToSkip();

function reasonToSkip(): string | false {
  if (process.platform !== "linux")
    return "needs Linux: elsewhere the system does not tell whose client it is";
  if (process.getuid?.() !== 0) return "needs root, to run a client as another user";
  try {
    execFileSync("curl", ["--version"], { stdio: "ignore", uid: NOBODY, gid: NOBODY });
    return false;
  } catch {
    return "not installed: curl (apt-get install curl)";
  }
}

/**
 * Returns the reason why the program cannot run as this user, for `test(..., { skip })`; false when it can.
 * @param words a command that executes its remaining arguments
 */
export function noDaemonAs(uid: number, ...words: string[]): string | false {
  if (noOtherUser !== false) return noOtherUser;
  try {
    const argv = [...identityOf(uid), ...words, process.execPath, PROGRAM, "--version"];
    execFileSync("setpriv", argv, { stdio: "ignore" });
    return false;
  } catch {
    const missing = ["setpriv", ...words.slice(0, 1)].join(" or ");
    return `user ${uid} cannot run ${PROGRAM}: no ${missing} (apt-get install util-linux), or a directory that is closed to it`;
  }
}

/** Returns a launcher for `startDaemon` that gives the daemon's scratch directory to the user and runs the daemon as him. */
export function asUser(uid: number): string[] {
  const script = `chown -R ${uid}:${uid} "$HOME" && exec setpriv ${identityOf(uid).join(" ")} "$@"`;
  return ["/bin/sh", "-c", script, "sh"];
}

function identityOf(uid: number): string[] {
  return [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
}

/** curl's exit code, 0 when it got a response, and the response's status and body. */
interface CurlResult {
  exitCode: number;
  status: number;
  body: string;
}

/** Runs curl as another user of this machine. */
export function curlAs(uid: number, ...args: string[]): Promise<CurlResult> {
  const options = { uid, gid: uid, cwd: "/" };
  return new Promise((resolve, reject) => {
    execFile("curl", ["-s", "-w", "\n%{http_code}", ...args], options, (error, stdout) => {
      const code = error === null ? 0 : error.code;
      if (typeof code !== "number") {
        reject(new Error("curl did not run", { cause: error }));
        return;
      }
      const end = stdout.lastIndexOf("\n");
      resolve({ exitCode: code, status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) });
    });
  });
}
