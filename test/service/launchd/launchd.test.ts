import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import { renderAgent } from "../../../src/service/launchd/agent.ts";
import type { Plan } from "../../../src/service/service-manager.ts";
import { DOMAIN, SAYS, SERVICE, startMac, written } from "./mac.ts";
import { NASTY, targetFor } from "./target.ts";

const PRINT = `launchctl print ${SERVICE}`;
const BOOTOUT = `launchctl bootout ${SERVICE}`;
const bootstrap = (file: string) => `launchctl bootstrap ${DOMAIN} ${file}`;

/** The step that runs this command. */
function commandIn(plan: Plan, command: string) {
  const found = plan.steps.find((step) => step.kind === "run" && step.argv[1] === command);
  assert.ok(found?.kind === "run", `there is no launchctl ${command}`);
  return found;
}

const directoriesOf = (home: string) => [
  `make-directory ${home}/Library/Application Support/tollkeeper`,
  `make-directory ${home}/Library/Logs/tollkeeper`,
  `make-directory ${home}/Library/LaunchAgents`,
];

test("a first install makes the directories, writes the definition and loads it", async (t) => {
  const { home, file, launchd, calls } = startMac(t);
  const target = targetFor(home);
  const plan = await launchd.install(target);
  assert.deepEqual(written(plan), [...directoriesOf(home), `write ${file}`, bootstrap(file)]);
  const modes = plan.steps.map((step) => ("mode" in step ? step.mode : null));
  assert.deepEqual(modes, [0o700, 0o700, 0o755, 0o644, null]);
  const write = plan.steps.find((step) => step.kind === "write");
  assert.equal(write?.text, renderAgent(target));
  assert.match(plan.notes.join(), /upgrade of Node .*Always Allow/);
  assert.ok(
    calls().every(([, verb = ""]) => verb.startsWith("print")),
    "a plan only looks",
  );
});

test("an install over the same definition, which runs, has nothing to do", async (t) => {
  const { home, file, write, launchd } = startMac(t, { service: SAYS.running });
  write(file, renderAgent(targetFor(home)));
  assert.deepEqual(written(await launchd.install(targetFor(home))), directoriesOf(home));
});

test("an install over the same definition starts what is loaded and does not run, and loads what is not loaded", async (t) => {
  const crashed = startMac(t, { service: SAYS.crashed });
  crashed.write(crashed.file, renderAgent(targetFor(crashed.home)));
  const started = written(await crashed.launchd.install(targetFor(crashed.home)));
  assert.deepEqual(started.at(-1), `launchctl kickstart ${SERVICE}`);

  const stopped = startMac(t);
  stopped.write(stopped.file, renderAgent(targetFor(stopped.home)));
  const loaded = written(await stopped.launchd.install(targetFor(stopped.home)));
  assert.deepEqual(loaded, [...directoriesOf(stopped.home), bootstrap(stopped.file)]);
});

test("an install of a changed definition takes the old one out first and waits until it has ended", async (t) => {
  const { home, file, write, launchd } = startMac(t, { service: SAYS.running });
  write(file, renderAgent(targetFor(home, { drainMs: 120_000 })));
  const plan = await launchd.install(targetFor(home));
  assert.deepEqual(written(plan), [...directoriesOf(home), BOOTOUT, PRINT, `write ${file}`, bootstrap(file)]);
  // The old daemon's own limit, not the new one's.
  assert.equal(commandIn(plan, "print").repeats?.limitMs, 130_000);
});

test("a path with spaces, markup and quotes stays one argument", async (t) => {
  const { file, home, launchd } = startMac(t, {}, NASTY.slice("/Users/".length).replaceAll("/", ""));
  const plan = await launchd.install(targetFor(home));
  assert.deepEqual(commandIn(plan, "bootstrap").argv, ["launchctl", "bootstrap", DOMAIN, file]);
});

test("bootstrap is tried again while launchd is not done with the old service, not when it refuses", async (t) => {
  const { home, launchd } = startMac(t);
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

test("the wait after bootout goes on while the label is known, and ends without a failure when it is not", async (t) => {
  const { launchd } = startMac(t, { service: SAYS.running });
  const plan = await launchd.stop();
  const { repeats, tolerates } = commandIn(plan, "print");
  for (const known of [SAYS.running, SAYS.crashed]) assert.match(known.stdout, repeats?.while ?? /$^/);
  assert.doesNotMatch(SAYS.notLoaded.stderr, repeats?.while ?? /^/);
  assert.match(SAYS.notLoaded.stderr, tolerates ?? /$^/);
});

test("bootout may find the service gone, or say that it is at it", async (t) => {
  const { launchd } = startMac(t, { service: SAYS.running });
  const { tolerates = /$^/ } = commandIn(await launchd.stop(), "bootout");
  assert.match("Boot-out failed: 3: No such process", tolerates);
  assert.match("Boot-out failed: 36: Operation now in progress", tolerates);
  assert.doesNotMatch("Boot-out failed: 1: Operation not permitted", tolerates);
});

test("uninstall takes the service out, removes its file alone and says where the logs stay", async (t) => {
  const { home, file, write, launchd } = startMac(t, { service: SAYS.running });
  write(file, renderAgent(targetFor(home)));
  write(join(home, "Library/Logs/tollkeeper/tollkeeper.log"), "");
  const plan = await launchd.uninstall();
  assert.deepEqual(written(plan), [BOOTOUT, PRINT, `remove ${file}`]);
  assert.deepEqual(plan.notes, [`the logs stay in ${home}/Library/Logs/tollkeeper`]);
});

test("uninstall of what is not loaded works over ssh, too, and twice", async (t) => {
  const { file, launchd } = startMac(t, { session: SAYS.noSession, service: SAYS.noSession });
  const plan = await launchd.uninstall();
  assert.deepEqual(written(plan), [`remove ${file}`]);
  assert.deepEqual(plan.notes, []);
});

test("start loads what is not loaded, starts what does not run, and leaves alone what runs", async (t) => {
  const cases = [
    { service: SAYS.notLoaded, does: (file: string) => [bootstrap(file)] },
    { service: SAYS.killed, does: () => [`launchctl kickstart ${SERVICE}`] },
    { service: SAYS.running, does: () => [] },
  ];
  for (const { service, does } of cases) {
    const { home, file, write, launchd } = startMac(t, { service });
    write(file, renderAgent(targetFor(home)));
    assert.deepEqual(written(await launchd.start()), does(file));
  }
});

test("stop keeps the file, and says when the service comes back; of what is not loaded there is nothing to do", async (t) => {
  const running = startMac(t, { service: SAYS.running });
  const plan = await running.launchd.stop();
  assert.deepEqual(written(plan), [BOOTOUT, PRINT]);
  assert.match(plan.notes.join(), /next login.*tollkeeper service start$/);
  assert.deepEqual(await startMac(t).launchd.stop(), { steps: [], notes: [] });
});

test("restart lets streams end before kickstart -k, which kills at once", async (t) => {
  const { home, file, write, launchd } = startMac(t, { service: SAYS.running });
  write(file, renderAgent(targetFor(home)));
  const plan = await launchd.restart();
  const expected = [`launchctl kill SIGTERM ${SERVICE}`, PRINT, `launchctl kickstart -k ${SERVICE}`];
  assert.deepEqual(written(plan), expected);
  const { repeats } = commandIn(plan, "print");
  assert.match(SAYS.running.stdout, repeats?.while ?? /$^/);
  for (const ended of [SAYS.crashed, SAYS.killed]) assert.doesNotMatch(ended.stdout, repeats?.while ?? /^/);
  assert.equal(repeats?.limitMs, 40_000);
});

test("restart of what does not run starts it", async (t) => {
  const { home, file, write, launchd } = startMac(t);
  write(file, renderAgent(targetFor(home)));
  assert.deepEqual(written(await launchd.restart()), [bootstrap(file)]);
});

for (const command of ["start", "restart"] as const) {
  test(`${command} of what is not installed names install`, async (t) => {
    await assert.rejects(startMac(t).launchd[command](), (error) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.message, "the service is not installed");
      return error.hint === "type: tollkeeper service install";
    });
  });
}

for (const command of ["install", "start", "restart"] as const) {
  test(`${command} without a login at the screen is refused before anything is done`, async (t) => {
    const { home, file, write, launchd } = startMac(t, {
      session: SAYS.noSession,
      service: SAYS.noSession,
      label: SAYS.noSession,
    });
    write(file, renderAgent(targetFor(home, { drainMs: 1 })));
    await assert.rejects(launchd[command](targetFor(home)), (error) => {
      assert.ok(error instanceof Failure);
      assert.match(error.message, /gui\/501.*not logged in at the screen/);
      assert.match(
        error.hint ?? "",
        new RegExp(`without sudo: tollkeeper service ${command};.* tollkeeper serve$`),
      );
      return true;
    });
  });

  for (const label of [SAYS.disabled, SAYS.disabledBefore13]) {
    const word = label === SAYS.disabled ? "disabled" : "true";
    test(`${command} of a label that somebody switched off ("${word}") tells the command that allows it, and runs it not`, async (t) => {
      const { home, file, write, calls, launchd } = startMac(t, { label });
      write(file, renderAgent(targetFor(home)));
      await assert.rejects(launchd[command](targetFor(home)), (error) => {
        assert.ok(error instanceof Failure);
        assert.match(error.message, /switched tollkeeper off/);
        const enable = `launchctl enable ${SERVICE}; then type: tollkeeper service ${command}`;
        assert.ok(error.hint?.endsWith(enable), error.hint);
        return true;
      });
      assert.ok(calls().every(([, verb]) => verb !== "enable"));
    });
  }
}
