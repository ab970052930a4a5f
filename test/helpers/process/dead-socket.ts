import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { lstatSync } from "node:fs";

const LISTEN_AND_DIE =
  'require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))';

/** Leaves a Unix socket whose program has been killed. */
export function leaveDeadSocket(path: string): void {
  spawnSync(process.execPath, ["-e", LISTEN_AND_DIE, path]);
  assert.ok(lstatSync(path).isSocket());
}
