import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Failure } from "../../src/core/failure.ts";
import { renderAgent } from "../../src/service/launchd/agent.ts";
import { runSteps } from "../../src/service/run-steps.ts";
import type { Plan } from "../../src/service/service-manager.ts";
import { DOMAIN, OUTPUT, SERVICE, createMac, describePlan } from "./launchd/fake-mac.ts";
import { NASTY, targetFor } from "./launchd/service-target.ts";

const PRINT = `launchctl print ${SERVICE}`;
const BOOTOUT = `launchctl bootout ${SERVICE}`;
const bootstrap = (file: string) => `launchctl bootstrap ${DOMAIN} ${file}`;

/** Returns the step that runs this launchctl command. */
function commandIn(plan: Plan, command: string) {
  const found = plan.steps.find((step) => step.kind === "run" && step.argv[1] === command);
  assert.ok(found?.kind === "run", `there is no launchctl ${command}`);
  return found;
}

const directoriesOf = (home: string) => [
  `make-directory ${home}/Library/Application Support/tollkeeper`,
  `make-directory ${home}/Library/Logs/tollkeeper`,
  `make-directory ${home}/Library/LaunchAgents`,
  `write ${home}/Library/Application Support/tollkeeper/tollkeeper`,
];

const removals = (home: string, file: string) => [
  `remove ${file}`,
  `remove ${home}/Library/Application Support/tollkeeper/tollkeeper`,
];

test("the first install creates the directories, writes the definition and loads it", async (t) => {
  const { home, file, launchd, calls } = createMac(t);
  const target = targetFor(home);
  const plan = await launchd.install(target);
  assert.deepEqual(describePlan(plan), [...directoriesOf(home), `write ${file}`, bootstrap(file)]);
  const modes = plan.steps.map((step) => ("mode" in step ? step.mode : null));
  assert.deepEqual(modes, [0o700, 0o700, 0o755, 0o755, 0o644, null]);
  const write = plan.steps.findLast((step) => step.kind === "write");
  assert.equal(write?.text, renderAgent(target));
  assert.match(plan.notes.join(), /upgrade of Node .*Always Allow.*key remove, then: tollkeeper key set$/);
  assert.ok(
    calls().every(([, verb = ""]) => verb.startsWith("print")),
    "a plan only looks",
  );
});

test("an install over an unchanged, running definition only ensures the directories", async (t) => {
  const { home, file, write, launchd } = createMac(t, { service: OUTPUT.running });
  write(file, renderAgent(targetFor(home)));
  assert.deepEqual(describePlan(await launchd.install(targetFor(home))), directoriesOf(home));
});

test("an install over an unchanged definition starts a loaded service and loads an unloaded one", async (t) => {
  const crashed = createMac(t, { service: OUTPUT.crashed });
  crashed.write(crashed.file, renderAgent(targetFor(crashed.home)));
  const started = describePlan(await crashed.launchd.install(targetFor(crashed.home)));
  assert.deepEqual(started.at(-1), `launchctl kickstart ${SERVICE}`);

  const stopped = createMac(t);
  stopped.write(stopped.file, renderAgent(targetFor(stopped.home)));
  const loaded = describePlan(await stopped.launchd.install(targetFor(stopped.home)));
  assert.deepEqual(loaded, [...directoriesOf(stopped.home), bootstrap(stopped.file)]);
});

test("an install of a changed definition first unloads the old one and waits until its daemon has exited", async (t) => {
  const { home, file, write, launchd } = createMac(t, { service: OUTPUT.running });
  write(file, renderAgent(targetFor(home, { drainMs: 120_000 })));
  const plan = await launchd.install(targetFor(home));
  assert.deepEqual(describePlan(plan), [
    ...directoriesOf(home),
    BOOTOUT,
    PRINT,
    `write ${file}`,
    bootstrap(file),
  ]);
  // The limit of the old definition, not of the new one.
  assert.equal(commandIn(plan, "print").repeats?.limitMs, 130_000);
});

test("a path with spaces, markup and quotes stays one argument of launchctl", async (t) => {
  const { file, home, launchd } = createMac(t, {}, NASTY.slice("/Users/".length).replaceAll("/", ""));
  const plan = await launchd.install(targetFor(home));
  assert.deepEqual(commandIn(plan, "bootstrap").argv, ["launchctl", "bootstrap", DOMAIN, file]);
});

test("bootstrap is repeated while launchd cleans up the old service, but not when launchd refuses", async (t) => {
  const { home, launchd } = createMac(t);
  const repeats = commandIn(await launchd.install(targetFor(home)), "bootstrap").repeats;
  const richer = "\nTry re-running the command as root for richer errors.\n";
  for (const busy of ["5: Input/output error", "37: Operation already in progress"]) {
    assert.match(`Bootstrap failed: ${busy}${richer}`, repeats?.while ?? /$^/);
  }
  for (const refusal of ["119: Service is disabled", "125: Domain does not support specified action"]) {
    assert.doesNotMatch(`Bootstrap failed: ${refusal}${richer}`, repeats?.while ?? /^/);
  }
  assert.ok(repeats && repeats.limitMs > 0 && repeats.limitMs < 60_000, "it ends");
});

test("when bootstrap fails with error 5 to the end, the hint names its causes with a command for each, launchd's own log first", async (t) => {
  const output =
    "Bootstrap failed: 5: Input/output error\nTry re-running the command as root for richer errors.\n";
  const { home, file, launchd, run } = createMac(t, {
    before: [{ match: "bootstrap *", code: 5, stderr: output }],
  });
  const { repeats, ...step } = commandIn(await launchd.install(targetFor(home)), "bootstrap");
  assert.ok(repeats);
  await assert.rejects(
    runSteps([step], run, () => {}),
    (error) => {
      assert.ok(error instanceof Failure);
      assert.match(error.message, /Bootstrap failed: 5: Input\/output error/);
      const commands = [
        `log show --last 5m --predicate 'process == "launchd"' | grep tollkeeper`,
        `launchctl print ${SERVICE}; if so: launchctl bootout ${SERVICE}`,
        `launchctl print-disabled ${DOMAIN}`,
        `ls -l '${file}'`,
        `df '${file}'`,
        "launchctl managername",
        `plutil -lint '${file}'`,
        "tollkeeper service install",
      ];
      const places = commands.map((command) => error.hint?.indexOf(command) ?? -1);
      assert.ok(
        places.every((place, i) => place > (places[i - 1] ?? -1)),
        error.hint,
      );
      return true;
    },
  );
});

test("another error of bootstrap is not explained as if it were error 5", async (t) => {
  const { home, launchd, run } = createMac(t, {
    before: [{ match: "bootstrap *", code: 119, stderr: "Bootstrap failed: 119: Service is disabled\n" }],
  });
  const step = commandIn(await launchd.install(targetFor(home)), "bootstrap");
  await assert.rejects(
    runSteps([step], run, () => {}),
    {
      hint: "find the cause with: tollkeeper service status",
    },
  );
});

test("the wait after bootout lasts while launchd knows the label, and ends without a failure", async (t) => {
  const { launchd } = createMac(t, { service: OUTPUT.running });
  const plan = await launchd.stop();
  const { repeats, tolerates } = commandIn(plan, "print");
  for (const known of [OUTPUT.running, OUTPUT.crashed]) assert.match(known.stdout, repeats?.while ?? /$^/);
  assert.doesNotMatch(OUTPUT.notLoaded.stderr, repeats?.while ?? /^/);
  assert.match(OUTPUT.notLoaded.stderr, tolerates ?? /$^/);
});

test("bootout tolerates a service that is gone and a stop in progress, but no other error", async (t) => {
  const { launchd } = createMac(t, { service: OUTPUT.running });
  const { tolerates = /$^/ } = commandIn(await launchd.stop(), "bootout");
  assert.match("Boot-out failed: 3: No such process", tolerates);
  assert.match("Boot-out failed: 36: Operation now in progress", tolerates);
  assert.doesNotMatch("Boot-out failed: 1: Operation not permitted", tolerates);
});

test("uninstall unloads the service, removes only its file and says where the logs remain", async (t) => {
  const { home, file, write, launchd } = createMac(t, { service: OUTPUT.running });
  write(file, renderAgent(targetFor(home)));
  write(join(home, "Library/Logs/tollkeeper/tollkeeper.log"), "");
  const plan = await launchd.uninstall();
  assert.deepEqual(describePlan(plan), [BOOTOUT, PRINT, ...removals(home, file)]);
  assert.deepEqual(plan.notes, [`the logs stay in ${home}/Library/Logs/tollkeeper`]);
});

test("uninstall of an unloaded service works over ssh and when repeated", async (t) => {
  const { home, file, launchd } = createMac(t, { session: OUTPUT.noSession, service: OUTPUT.noSession });
  const plan = await launchd.uninstall();
  assert.deepEqual(describePlan(plan), removals(home, file));
  assert.deepEqual(plan.notes, []);
});

test("start loads an unloaded service, starts a stopped one and leaves a running one alone", async (t) => {
  const cases = [
    { service: OUTPUT.notLoaded, does: (file: string) => [bootstrap(file)] },
    { service: OUTPUT.killed, does: () => [`launchctl kickstart ${SERVICE}`] },
    { service: OUTPUT.running, does: () => [] },
  ];
  for (const { service, does } of cases) {
    const { home, file, write, launchd } = createMac(t, { service });
    write(file, renderAgent(targetFor(home)));
    assert.deepEqual(describePlan(await launchd.start()), does(file));
  }
});

test("stop keeps the file and says when the service starts again, and does nothing for an unloaded service", async (t) => {
  const running = createMac(t, { service: OUTPUT.running });
  const plan = await running.launchd.stop();
  assert.deepEqual(describePlan(plan), [BOOTOUT, PRINT]);
  assert.match(plan.notes.join(), /next login.*tollkeeper service start$/);
  assert.deepEqual(await createMac(t).launchd.stop(), { steps: [], notes: [] });
});

test("restart waits for the daemon to exit before kickstart -k, which kills at once", async (t) => {
  const { home, file, write, launchd } = createMac(t, { service: OUTPUT.running });
  write(file, renderAgent(targetFor(home)));
  const plan = await launchd.restart();
  const expected = [`launchctl kill SIGTERM ${SERVICE}`, PRINT, `launchctl kickstart -k ${SERVICE}`];
  assert.deepEqual(describePlan(plan), expected);
  const { repeats } = commandIn(plan, "print");
  assert.match(OUTPUT.running.stdout, repeats?.while ?? /$^/);
  for (const ended of [OUTPUT.crashed, OUTPUT.killed])
    assert.doesNotMatch(ended.stdout, repeats?.while ?? /^/);
  assert.equal(repeats?.limitMs, 40_000);
});

test("restart of a service that is not running starts it", async (t) => {
  const { home, file, write, launchd } = createMac(t);
  write(file, renderAgent(targetFor(home)));
  assert.deepEqual(describePlan(await launchd.restart()), [bootstrap(file)]);
});

for (const command of ["start", "restart"] as const) {
  test(`${command} of a service that is not installed suggests install`, async (t) => {
    await assert.rejects(createMac(t).launchd[command](), (error) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.message, "the service is not installed");
      return error.hint === "type: tollkeeper service install";
    });
  });
}

for (const command of ["install", "start", "restart"] as const) {
  test(`${command} without a graphical login is refused before anything changes`, async (t) => {
    const { home, file, write, launchd } = createMac(t, {
      session: OUTPUT.noSession,
      service: OUTPUT.noSession,
      label: OUTPUT.noSession,
    });
    write(file, renderAgent(targetFor(home, { drainMs: 1 })));
    await assert.rejects(launchd[command](targetFor(home)), (error) => {
      assert.ok(error instanceof Failure);
      assert.match(error.message, /gui\/501.*no graphical login session/);
      assert.match(
        error.hint ?? "",
        new RegExp(`without sudo: tollkeeper service ${command};.* tollkeeper serve$`),
      );
      return true;
    });
  });

  for (const label of [OUTPUT.disabled, OUTPUT.disabledBefore13]) {
    const word = label === OUTPUT.disabled ? "disabled" : "true";
    test(`${command} of a disabled label (printed as "${word}") names the command that enables it, and does not run that command`, async (t) => {
      const { home, file, write, calls, launchd } = createMac(t, { label });
      write(file, renderAgent(targetFor(home)));
      await assert.rejects(launchd[command](targetFor(home)), (error) => {
        assert.ok(error instanceof Failure);
        assert.match(error.message, /tollkeeper has been disabled/);
        const enable = `launchctl enable ${SERVICE}; then type: tollkeeper service ${command}`;
        assert.ok(error.hint?.endsWith(enable), error.hint);
        return true;
      });
      assert.ok(calls().every(([, verb]) => verb !== "enable"));
    });
  }
}
