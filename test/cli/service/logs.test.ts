import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fakePrograms } from "../../helpers/process/fake-programs.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { homeWithSystemd, noLinux } from "./service-home.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";

test(
  "service logs runs journalctl on the terminal, and says when the journal is empty",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t, { journal: "one\ntwo\n" });
    const { code, stdout, stderr } = await home.service("logs", "-n", "2");
    assert.deepEqual([code, stdout, stderr], [0, "one\ntwo\n", ""]);
    const silent = await homeWithSystemd(t).service("logs");
    assert.match(silent.stderr, /^note: the log is empty, or you may not read it/);
    const wrong = await home.service("logs", "-n", "x");
    assert.equal(wrong.code, 2);
  },
);

test("service logs reports a missing journalctl", { skip: noLinux }, async (t) => {
  const { env } = homeWithSystemd(t);
  const unitPath = { match: "*UnitPath", stdout: "UnitPath=/etc/systemd/user\n" };
  const { directory } = fakePrograms(t, { systemctl: [unitPath] });
  const { code, stderr } = await runProgram(["service", "logs"], { env: { ...env, PATH: directory } });
  assert.equal(code, 1);
  assert.match(stderr, /^error: the log cannot be shown: journalctl is missing or cannot be run\nhint: /m);
});

test("service logs -f exits 0 on Ctrl-C", { skip: noLinux }, async (t) => {
  const journalctl = [{ match: "* --follow", stdout: "following", does: "exec sleep 60" }];
  const { env } = homeWithSystemd(t, { journalctl, journal: "one\n" });
  const child = spawn(process.execPath, [PROGRAM, "service", "logs", "-f"], { env, detached: true });
  const exit = once(child, "exit");
  const [output] = (await once(child.stdout, "data")) as [Buffer];
  assert.equal(output.toString(), "following");
  // To the whole process group, as a terminal sends it.
  process.kill(-(child.pid ?? 0), "SIGINT");
  assert.deepEqual(await exit, [0, null]);
});
