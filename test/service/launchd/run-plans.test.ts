import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import { renderAgent } from "../../../src/service/launchd/agent.ts";
import { runSteps } from "../../../src/service/run-steps.ts";
import { OUTPUT, createMac } from "./fake-mac.ts";
import { targetFor } from "./service-target.ts";

const ignore = () => {};
const richer = "Try re-running the command as root for richer errors.\n";

/** Returns the launchctl commands that change something. */
function changes(calls: string[][]): string[] {
  return calls.map(([, verb = ""]) => verb).filter((verb) => !verb.startsWith("print"));
}

test("the first install leaves a world-readable definition and a private log directory", async (t) => {
  const { home, file, launchd, run, calls } = createMac(t);
  const target = targetFor(home);
  await runSteps((await launchd.install(target)).steps, run, ignore);
  assert.equal(readFileSync(file, "utf8"), renderAgent(target));
  assert.equal(statSync(file).mode & 0o777, 0o644);
  assert.equal(statSync(`${home}/Library/Logs/tollkeeper`).mode & 0o777, 0o700);
  assert.deepEqual(changes(calls()), ["bootstrap"]);
});

test("an upgrade succeeds while the old daemon drains and bootstrap fails with errors 5 and 37 at first", async (t) => {
  const { home, file, write, launchd, run, calls } = createMac(t, {
    before: [
      // One query for the plan, and two while the daemon drains.
      { match: "print gui/501/tollkeeper", times: 3, ...OUTPUT.running },
      { match: "bootout *", code: 36, stderr: "Boot-out failed: 36: Operation now in progress\n" },
      {
        match: "bootstrap *",
        times: 1,
        code: 5,
        stderr: `Bootstrap failed: 5: Input/output error\n${richer}`,
      },
      {
        match: "bootstrap *",
        times: 1,
        code: 37,
        stderr: "Bootstrap failed: 37: Operation already in progress\n",
      },
    ],
  });
  write(file, renderAgent(targetFor(home, { node: "/old/node" })));
  await runSteps((await launchd.install(targetFor(home))).steps, run, ignore);
  assert.deepEqual(changes(calls()), ["bootout", "bootstrap", "bootstrap", "bootstrap"]);
  const asked = calls().filter(([, verb, what]) => verb === "print" && what === "gui/501/tollkeeper");
  assert.equal(asked.length, 4, "it waited until launchd did not know the label any more");
  assert.equal(readFileSync(file, "utf8"), renderAgent(targetFor(home)));
});

test("a refusal by launchd is reported at once in its own words", async (t) => {
  const { home, launchd, run, calls } = createMac(t, {
    before: [
      {
        match: "bootstrap *",
        code: 125,
        stderr: "Bootstrap failed: 125: Domain does not support specified action\n",
      },
    ],
  });
  const { steps } = await launchd.install(targetFor(home));
  await assert.rejects(runSteps(steps, run, ignore), (error) => {
    return error instanceof Failure && /Domain does not support specified action/.test(error.message);
  });
  assert.deepEqual(changes(calls()), ["bootstrap"]);
});

test("a restart waits until the daemon has exited before it starts the next one", async (t) => {
  const { home, file, write, launchd, run, calls } = createMac(t, {
    service: OUTPUT.killed,
    before: [{ match: "print gui/501/tollkeeper", times: 3, ...OUTPUT.running }],
  });
  write(file, renderAgent(targetFor(home)));
  await runSteps((await launchd.restart()).steps, run, ignore);
  assert.deepEqual(calls().slice(-5), [
    ["launchctl", "kill", "SIGTERM", "gui/501/tollkeeper"],
    ["launchctl", "print", "gui/501/tollkeeper"],
    ["launchctl", "print", "gui/501/tollkeeper"],
    ["launchctl", "print", "gui/501/tollkeeper"],
    ["launchctl", "kickstart", "-k", "gui/501/tollkeeper"],
  ]);
});

test("stop and uninstall succeed when the daemon exits between two queries", async (t) => {
  const gone = { match: "bootout *", code: 3, stderr: "Boot-out failed: 3: No such process\n" };
  const once = { match: "print gui/501/tollkeeper", times: 2, ...OUTPUT.running };
  const { home, file, write, launchd, run } = createMac(t, { before: [gone, once] });
  write(file, renderAgent(targetFor(home)));
  const [stop, uninstall] = [await launchd.stop(), await launchd.uninstall()];
  await runSteps(stop.steps, run, ignore);
  assert.ok(existsSync(file));
  await runSteps(uninstall.steps, run, ignore);
  assert.ok(!existsSync(file));
});
