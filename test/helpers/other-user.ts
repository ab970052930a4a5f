import { execFile, execFileSync } from "node:child_process";

/** A user that every Unix has, and that owns nothing. */
export const NOBODY = 65_534;

/** Why no client of another user can be run here, for `test(..., { skip })`; false when one can. */
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

/** How curl ended (0: it got an answer), and that answer: its status, and its body. */
export interface CurlResult {
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
