import assert from "node:assert/strict";
import { mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { renderAgent } from "../../../src/service/launchd/agent.ts";
import { launchdLogFile } from "../../../src/service/launchd.ts";
import { OUTPUT, createMac } from "./fake-mac.ts";
import type { LaunchctlOutput } from "./fake-mac.ts";
import { targetFor } from "./service-target.ts";

const { node, script } = targetFor("/Users/ada");

/** Returns a log line of the daemon with this timestamp. */
const lineAt = (ms: number, text: string) => `${new Date(ms).toISOString()}  info   ${text}\n`;

test("the state of a running service has its pid and what its definition names", async (t) => {
  const { home, file, write, launchd } = createMac(t, { service: OUTPUT.running });
  write(file, renderAgent(targetFor(home)));
  assert.deepEqual(await launchd.state(), {
    files: [file],
    isInstalled: true,
    isEnabled: true,
    isRunning: true,
    hasFailed: false,
    pid: 4711,
    holdsPort: false,
    outlivesLogin: null,
    node,
    script,
    configFile: targetFor(home).configFile,
    port: null,
    drainMs: 30_000,
    detail: "running",
  });
});

const NEVER_EXITED = `gui/501/tollkeeper = {\n\tstate = waiting\n\tlast exit code = (never exited)\n}\n`;
const ENDED_WELL = `gui/501/tollkeeper = {\n\tstate = not running\n\tlast exit code = 0\n}\n`;

/** The output of launchctl, whether a definition exists, and the expected state. */
const NOT_RUNNING: [
  LaunchctlOutput,
  isInstalled: boolean,
  isEnabled: boolean,
  hasFailed: boolean,
  detail: string,
][] = [
  [{}, false, false, false, "not installed"],
  [{}, true, true, false, "stopped"],
  [{ service: OUTPUT.crashed }, true, true, true, "spawn scheduled, last exit code 78: EX_CONFIG"],
  [{ service: OUTPUT.killed }, true, true, true, "not running, ended by signal Killed: 9"],
  [{ service: { stdout: NEVER_EXITED } }, true, true, false, "waiting, last exit code (never exited)"],
  [{ service: { stdout: ENDED_WELL } }, true, true, false, "not running, last exit code 0"],
  [{ service: OUTPUT.unknownWords }, true, true, false, "loaded"],
  [{ label: OUTPUT.disabled }, true, false, false, "disabled in launchd"],
  [
    { session: OUTPUT.noSession, service: OUTPUT.noSession },
    true,
    true,
    false,
    "no user is logged in to a graphical session",
  ],
];

for (const [says, isInstalled, isEnabled, hasFailed, detail] of NOT_RUNNING) {
  test(`the state of a service that is not running says: ${detail}`, async (t) => {
    const { home, file, write, launchd } = createMac(t, says);
    if (isInstalled) write(file, renderAgent(targetFor(home)));
    const state = await launchd.state();
    assert.deepEqual(
      [state.isInstalled, state.isEnabled, state.isRunning, state.hasFailed, state.pid, state.detail],
      [isInstalled, isEnabled, false, hasFailed, null, detail],
    );
  });
}

test("an unreadable definition counts as installed and names nothing", async (t) => {
  const { file, write, launchd } = createMac(t);
  write(file, "bplist00");
  const { isInstalled, node: named, script: started } = await launchd.state();
  assert.deepEqual([isInstalled, named, started], [true, null, null]);
});

test("lastLines returns the newest lines of both logs, ending with the log that was written last", async (t) => {
  const { home, write, launchd } = createMac(t);
  const log = launchdLogFile(home);
  const start = join(log, "../start.log");
  write(log, "one\ntwo\nthree\n");
  write(start, "Error: no such module\n\n    at node:internal\n");
  utimesSync(start, 1_000, 1_000);
  assert.deepEqual(await launchd.lastLines(2), ["two", "three"]);
  assert.deepEqual(await launchd.lastLines(100), [
    "Error: no such module",
    "    at node:internal",
    "one",
    "two",
    "three",
  ]);
  utimesSync(log, 500, 500);
  assert.deepEqual(await launchd.lastLines(3), ["three", "Error: no such module", "    at node:internal"]);
  assert.deepEqual(await launchd.lastLines(0), []);
});

test("lastLines since a time omits earlier lines and files that were not written since", async (t) => {
  const { home, write, launchd } = createMac(t);
  const log = launchdLogFile(home);
  const start = join(log, "../start.log");
  const since = Date.parse("2026-11-21T10:00:00Z");
  write(start, "error: port 8655 is taken by pid 1\n");
  utimesSync(start, since / 1000 - 60, since / 1000 - 60);
  write(log, lineAt(since - 1, "old") + lineAt(since, "new") + "goes on\n");
  const lines = await launchd.lastLines(10, since);
  assert.deepEqual(lines, [lineAt(since, "new").trimEnd(), "goes on"]);
  assert.equal((await launchd.lastLines(10, "last start")).length, 4);
  utimesSync(start, since / 1000 + 1, since / 1000 + 1);
  assert.equal((await launchd.lastLines(10, since)).length, 3);
});

test("lastLines reads only the end of a large log, in whole lines", async (t) => {
  const { home, write, launchd } = createMac(t);
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} é`);
  write(launchdLogFile(home), `${lines.join("\n")}\n`);
  const read = await launchd.lastLines(20_000);
  assert.ok(read.length > 1_000 && read.length < 20_000, String(read.length));
  assert.deepEqual(read, lines.slice(-read.length));
});

test("lastLines returns nothing for a missing or unreadable log", async (t) => {
  const { home, launchd } = createMac(t);
  assert.deepEqual(await launchd.lastLines(10), []);
  mkdirSync(launchdLogFile(home), { recursive: true });
  assert.deepEqual(await launchd.lastLines(10), []);
});

test("logsCommand is tail, which follows the log by name", async (t) => {
  const { home, launchd } = createMac(t);
  const log = launchdLogFile(home);
  assert.deepEqual(launchd.logsCommand({ lines: 50, follow: false }), ["tail", "-n", "50", log]);
  assert.deepEqual(launchd.logsCommand({ lines: 50, follow: true }), ["tail", "-n", "50", "-F", log]);
});
