import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { startDaemon, type Daemon } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { noTerminal, runOnTerminal } from "../../helpers/process/terminal.ts";

/** A script that prints when it is ready for signals, and the signal it receives. */
const AWAIT_SIGNAL = `
  for name in INT TERM HUP QUIT USR1 USR2; do trap "echo got $name; exit 5" $name; done
  echo ready
  while :; do sleep 0.05; done`;

/** Runs a shell script under `run`, without a terminal. */
function start(daemon: Daemon, script: string) {
  return spawn(process.execPath, [PROGRAM, "run", "--", "sh", "-c", script], {
    env: daemon.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

test("run without a terminal forwards signals and waits for the command", async (t) => {
  const daemon = await startDaemon(t);
  for (const signal of ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGINT", "SIGQUIT"] as const) {
    const child = start(daemon, AWAIT_SIGNAL);
    child.stdout.once("data", () => child.kill(signal));
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    assert.deepEqual([said, code], [`ready\ngot ${signal.slice(3)}\n`, 5], signal);
  }
});

test("run terminates with the signal that terminated the command", async (t) => {
  const daemon = await startDaemon(t);
  for (const signal of ["SIGKILL", "SIGINT", "SIGTERM"] as const) {
    const child = start(daemon, `kill -${signal.slice(3)} $$`);
    assert.deepEqual(await once(child, "exit"), [null, signal]);
  }
});

test("run exits with 128 plus the number of a signal that cannot terminate it", async (t) => {
  const daemon = await startDaemon(t);
  // Node handles or ignores this one.
  const [code] = await once(start(daemon, "kill -USR1 $$"), "exit");
  assert.equal(code, 128 + 10);
});

test("run leaves Ctrl-C on a terminal to the command", { skip: noTerminal }, async (t) => {
  const daemon = await startDaemon(t);
  const argv = [process.execPath, PROGRAM, "run", "--", "sh", join(daemon.home, "script")];
  writeFileSync(join(daemon.home, "script"), AWAIT_SIGNAL);
  const { code, text: screen } = await runOnTerminal(argv, { env: daemon.env }, [["ready", "\u0003"]]);
  assert.equal(screen.match(/got INT/g)?.length, 1);
  assert.equal(code, 5);
});
