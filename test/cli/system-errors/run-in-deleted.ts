import { execFile } from "node:child_process";
import type { TestContext } from "node:test";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

/** Why there is no such directory, for `test(..., { skip })`; false where there is. */
export const noDeletion =
  process.platform === "win32" && "Windows deletes no directory that a process works in";

/** Runs a command in a directory that is deleted before it starts, as agents do with the worktree that a shell of theirs is in. */
export function runInDeleted(
  t: TestContext,
  env: NodeJS.ProcessEnv,
  ...words: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
  const argv = ["-c", script, "sh", process.execPath, PROGRAM, ...words];
  return new Promise((resolve) => {
    const child = execFile("sh", argv, { env, cwd: scratchDirectory(t) }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end();
  });
}
