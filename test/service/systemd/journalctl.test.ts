import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { LogStart } from "../../../src/service/service-manager.ts";
import type { RunProgram } from "../../../src/service/run-program.ts";
import { Systemd } from "../../../src/service/systemd.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { createSystemd } from "./stub-systemd.ts";

test("the log consists of the journal entries of both units", async (t) => {
  const { systemd } = createSystemd(t);
  assert.deepEqual(await systemd.lastLines(2), ["one", "two"]);
  const units = ["--user-unit=tollkeeper.service", "--user-unit=tollkeeper.socket"];
  assert.deepEqual(systemd.logsCommand({ lines: 9, follow: false }), [
    "journalctl",
    "--quiet",
    ...units,
    "--lines=9",
    "--no-pager",
  ]);
  assert.equal(systemd.logsCommand({ lines: 9, follow: true }).at(-1), "--follow");
});

test("lastLines asks journalctl to omit lines from before a time or before the last start", async (t) => {
  const home = scratchDirectory(t);
  const calls: string[][] = [];
  let started = "ExecMainStartTimestamp=Sat 2026-11-21 10:00:00 CET\n";
  const run: RunProgram = (argv) => {
    calls.push([...argv]);
    return Promise.resolve({ code: 0, stdout: argv[0] === "systemctl" ? started : "one\n", stderr: "" });
  };
  const systemd = new Systemd({ uid: 7, userName: "ada", home, unitDirectory: join(home, "units"), run });
  const sinceOf = async (since: LogStart) => {
    assert.deepEqual(await systemd.lastLines(2, since), ["one"]);
    return calls.at(-1)?.filter((word) => word.startsWith("--since"));
  };
  assert.deepEqual(await sinceOf(1_795_302_842_999), ["--since=@1795302842"]);
  assert.deepEqual(await sinceOf("last start"), ["--since=Sat 2026-11-21 10:00:00 CET"]);
  started = "ExecMainStartTimestamp=\n";
  assert.deepEqual(await sinceOf("last start"), []);
});
