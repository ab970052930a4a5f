import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import { renderAgent } from "../../../src/service/launchd/agent.ts";
import { runSteps } from "../../../src/service/run-steps.ts";
import { SAYS, startMac } from "./mac.ts";
import { targetFor } from "./target.ts";

const tellNobody = () => {};
const richer = "Try re-running the command as root for richer errors.\n";

/** What launchctl was told to do, without what was only asked. */
function orders(calls: string[][]): string[] {
  return calls.map(([, verb = ""]) => verb).filter((verb) => !verb.startsWith("print"));
}

test("a first install leaves the definition, readable to all, and a log directory for its owner alone", async (t) => {
  const { home, file, launchd, run, calls } = startMac(t);
  const target = targetFor(home);
  await runSteps((await launchd.install(target)).steps, run, tellNobody);
  assert.equal(readFileSync(file, "utf8"), renderAgent(target));
  assert.equal(statSync(file).mode & 0o777, 0o644);
  assert.equal(statSync(`${home}/Library/Logs/tollkeeper`).mode & 0o777, 0o700);
  assert.deepEqual(orders(calls()), ["bootstrap"]);
});

test("an upgrade gets there while the old daemon drains, and launchd then says 5 and 37", async (t) => {
  const { home, file, write, launchd, run, calls } = startMac(t, {
    before: [
      // Once for the plan, then twice while it drains.
      { match: "print gui/501/tollkeeper", times: 3, ...SAYS.running },
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
  await runSteps((await launchd.install(targetFor(home))).steps, run, tellNobody);
  assert.deepEqual(orders(calls()), ["bootout", "bootstrap", "bootstrap", "bootstrap"]);
  const asked = calls().filter(([, verb, what]) => verb === "print" && what === "gui/501/tollkeeper");
  assert.equal(asked.length, 4, "it waited until launchd did not know the label any more");
  assert.equal(readFileSync(file, "utf8"), renderAgent(targetFor(home)));
});

test("a refusal of launchd's is told in its own words, at once", async (t) => {
  const { home, launchd, run, calls } = startMac(t, {
    before: [
      {
        match: "bootstrap *",
        code: 125,
        stderr: "Bootstrap failed: 125: Domain does not support specified action\n",
      },
    ],
  });
  const { steps } = await launchd.install(targetFor(home));
  await assert.rejects(runSteps(steps, run, tellNobody), (error) => {
    return error instanceof Failure && /Domain does not support specified action/.test(error.message);
  });
  assert.deepEqual(orders(calls()), ["bootstrap"]);
});

test("a restart waits until the daemon has ended before it starts the next", async (t) => {
  const { home, file, write, launchd, run, calls } = startMac(t, {
    service: SAYS.killed,
    before: [{ match: "print gui/501/tollkeeper", times: 3, ...SAYS.running }],
  });
  write(file, renderAgent(targetFor(home)));
  await runSteps((await launchd.restart()).steps, run, tellNobody);
  assert.deepEqual(calls().slice(-5), [
    ["launchctl", "kill", "SIGTERM", "gui/501/tollkeeper"],
    ["launchctl", "print", "gui/501/tollkeeper"],
    ["launchctl", "print", "gui/501/tollkeeper"],
    ["launchctl", "print", "gui/501/tollkeeper"],
    ["launchctl", "kickstart", "-k", "gui/501/tollkeeper"],
  ]);
});

test("a daemon that ends between two looks is no failure of stop, nor of uninstall, which removes the file", async (t) => {
  const gone = { match: "bootout *", code: 3, stderr: "Boot-out failed: 3: No such process\n" };
  const once = { match: "print gui/501/tollkeeper", times: 2, ...SAYS.running };
  const { home, file, write, launchd, run } = startMac(t, { before: [gone, once] });
  write(file, renderAgent(targetFor(home)));
  const [stop, uninstall] = [await launchd.stop(), await launchd.uninstall()];
  await runSteps(stop.steps, run, tellNobody);
  assert.ok(existsSync(file));
  await runSteps(uninstall.steps, run, tellNobody);
  assert.ok(!existsSync(file));
});
