import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import { renderSandbox, renderService, renderSocket } from "../../../src/service/systemd/units.ts";
import { commandsOf, filesOf, LISTENING, putUnits, RUNNING, startSystemd } from "./fake-systemd.ts";
import { targetFor } from "./target.ts";

const START = "systemctl --user enable --now tollkeeper.socket tollkeeper.service";

test("an installation makes directories, writes units, tries the sandbox, then enables and starts both", async (t) => {
  const { systemd, paths } = startSystemd(t);
  const plan = await systemd.install(targetFor({ writable: ["/state", "/ledger"] }));
  assert.deepEqual(filesOf(plan), [
    ["make-directory", "/state"],
    ["make-directory", "/ledger"],
    ["make-directory", dirname(paths.service)],
    ["write", paths.service],
    ["write", paths.socket],
  ]);
  const [trial] = plan.steps.filter((step) => step.kind === "try");
  assert.deepEqual(
    trial?.onSuccess.map((step) => step.kind === "write" && step.path),
    [false, paths.sandbox],
  );
  assert.deepEqual(
    trial?.onFailure.map((step) => step.kind === "remove" && step.path),
    [paths.sandbox, dirname(paths.sandbox)],
  );
  assert.deepEqual(commandsOf(plan), [
    "systemctl --user daemon-reload",
    "systemctl --user reset-failed tollkeeper.socket tollkeeper.service",
    "systemctl --user try-restart tollkeeper.service",
    START,
  ]);
});

test("the running daemon is restarted only when something has changed", async (t) => {
  const { systemd } = startSystemd(t);
  const { steps } = await systemd.install(targetFor());
  const conditional = steps.flatMap((step) => (step.kind === "run" && step.ifChanged === true ? [step] : []));
  assert.deepEqual(
    conditional.map(({ argv }) => argv.at(-2)),
    ["try-restart"],
  );
});

/** By the clock of systemd, long before any file that a test has written. */
const LONG_AGO = { InactiveExitTimestampMonotonic: 1 };

test("a socket that would listen elsewhere, or does not listen yet, needs what is up to stop first", async (t) => {
  const stop = "systemctl --user stop tollkeeper.socket tollkeeper.service";
  const starting = { ...RUNNING, ActiveState: "activating", SubState: "start" };
  const failed = { ...RUNNING, ActiveState: "failed" };
  const cases = [
    { service: RUNNING, socket: LISTENING, port: 8655, isStopped: false },
    { service: RUNNING, socket: LISTENING, port: 9000, isStopped: true },
    { service: RUNNING, socket: {}, port: 8655, isStopped: true },
    { service: starting, socket: {}, port: 8655, isStopped: true },
    { service: {}, socket: LISTENING, port: 9000, isStopped: true },
    { service: failed, socket: LISTENING, port: 9000, isStopped: true },
    { service: {}, socket: LISTENING, port: 8655, isStopped: false },
    { service: failed, socket: {}, port: 9000, isStopped: false },
    { service: RUNNING, socket: { ...LISTENING, ...LONG_AGO }, port: 8655, isStopped: true },
  ];
  for (const { service, socket, port, isStopped } of cases) {
    const { systemd, paths } = startSystemd(t, { service, socket });
    const [, text] = (await systemd.install(targetFor({ port: 8655 }))).steps.flatMap((step) =>
      step.kind === "write" ? [step.text] : [],
    );
    putUnits(paths, { socket: text ?? "" });
    const commands = commandsOf(await systemd.install(targetFor({ port })));
    assert.equal(commands.includes(stop), isStopped, JSON.stringify({ service, socket, port }));
  }
});

test("what an installation that broke off has left of the old process is restarted, though no file changes any more", async (t) => {
  const cases = [
    { service: RUNNING, unconditional: false },
    { service: { ...RUNNING, ...LONG_AGO }, unconditional: true },
    { service: { ...RUNNING, NeedDaemonReload: "yes" }, unconditional: true },
    { service: { ...LONG_AGO, ActiveState: "inactive" }, unconditional: false },
  ];
  const target = targetFor();
  for (const { service, unconditional } of cases) {
    for (const name of ["service", "sandbox"] as const) {
      const { systemd, paths } = startSystemd(t, { service, socket: LISTENING });
      putUnits(paths, { [name]: { service: renderService, sandbox: renderSandbox }[name](target) });
      const { steps } = await systemd.install(target);
      const restart = steps.find((step) => step.kind === "run" && step.argv.includes("try-restart"));
      assert.ok(restart?.kind === "run");
      assert.equal(restart.ifChanged !== true, unconditional, JSON.stringify({ service, name }));
    }
  }
});

test("a unit that somebody has masked stays so, and it is said how to allow it", async (t) => {
  for (const masked of ["service", "socket"] as const) {
    const { systemd } = startSystemd(t, { [masked]: { LoadState: "masked" } });
    await assert.rejects(systemd.install(targetFor()), (error: Failure) => {
      assert.equal(error.message, `tollkeeper.${masked} is masked`);
      assert.match(error.hint ?? "", new RegExp(`systemctl --user unmask tollkeeper\\.${masked};`));
      return error instanceof Failure;
    });
  }
});

test("a sandbox that is in force is tried again: the files that the daemon reads may be others", async (t) => {
  const { systemd, paths } = startSystemd(t, { service: RUNNING });
  putUnits(paths, { sandbox: renderSandbox(targetFor()) });
  const reads = [import.meta.filename];
  const [trial] = (await systemd.install(targetFor({ reads }))).steps.filter(({ kind }) => kind === "try");
  assert.ok(trial?.kind === "try" && trial.argv.includes(import.meta.filename));
  assert.match(trial.exitCodes[217] ?? "", /user namespace/);
});

test("where a command prints a key there is no sandbox, and it is said why", async (t) => {
  const { systemd, paths } = startSystemd(t);
  const plan = await systemd.install(targetFor({ runsKeyCommands: true }));
  assert.equal(
    plan.steps.some(({ kind }) => kind === "try"),
    false,
  );
  assert.deepEqual(filesOf(plan).slice(-2), [
    ["remove", paths.sandbox],
    ["remove", dirname(paths.sandbox)],
  ]);
  assert.match(
    plan.notes.join("\n"),
    /keySource.*sandbox\.conf is left out\n.*set-id.*systemctl --user edit/,
  );
});

test("where a setting would come to nothing in the sandbox there is none, and it is said why", async (t) => {
  const { systemd, paths } = startSystemd(t);
  const plan = await systemd.install(targetFor({ blindedSettings: ["access.peerUid"] }));
  assert.ok(filesOf(plan).some(([kind, path]) => kind === "remove" && path === paths.sandbox));
  assert.match(plan.notes.join("\n"), /access\.peerUid is set.*sandbox\.conf is left out/);
});

test("what systemd has not loaded yet is no trouble for an installation, not even for one that drops the socket", async (t) => {
  const { systemd, paths } = startSystemd(t);
  putUnits(paths, { socket: renderSocket(8655, true) });
  const { steps } = await systemd.install(targetFor({ port: 0 }));
  const undoing = steps.flatMap((step) =>
    step.kind === "run" && /reset-failed|disable/.test(step.argv.join(" ")) ? [step] : [],
  );
  assert.equal(undoing.length, 2);
  for (const { tolerates } of undoing) {
    assert.match("Failed to reset failed state of unit x: Unit x not loaded.", tolerates ?? /^$/);
  }
});

test("where any port is taken there is no socket; one of before goes", async (t) => {
  const { systemd, paths } = startSystemd(t);
  putUnits(paths, { socket: renderSocket(8655, true) });
  const plan = await systemd.install(targetFor({ port: 0 }));
  const commands = commandsOf(plan);
  assert.ok(commands.includes("systemctl --user disable --now tollkeeper.socket"));
  assert.equal(commands.at(-1), "systemctl --user enable --now tollkeeper.service");
  assert.ok(filesOf(plan).some(([kind, path]) => kind === "remove" && path === paths.socket));
  assert.match(plan.notes.join("\n"), /no socket unit/);
});

test("linger is explained, with what it means for the keychain; where nobody knows, nothing is said", async (t) => {
  const notesWith = async (linger?: "yes" | "no") =>
    (await startSystemd(t, linger === undefined ? {} : { linger }).systemd.install(targetFor())).notes.join();
  assert.match(await notesWith("no"), /ends when you log out.*loginctl enable-linger ada.*keychain.*locked/);
  assert.match(await notesWith("yes"), /linger is on.*keychain.*locked/);
  assert.equal(await notesWith(), "");
});

test("stopping stops the socket, too, with which the next connection would start it again", async (t) => {
  const { systemd, paths } = startSystemd(t);
  assert.deepEqual(commandsOf(await systemd.stop()), []);
  putUnits(paths, { service: renderService(targetFor()), socket: renderSocket(8655, true) });
  assert.deepEqual(commandsOf(await systemd.stop()), [
    "systemctl --user stop tollkeeper.socket tollkeeper.service",
  ]);
});

test("a restart leaves the socket alone; one of what does not run is a start", async (t) => {
  for (const [service, commands] of [
    [
      RUNNING,
      ["systemctl --user reset-failed tollkeeper.service", "systemctl --user restart tollkeeper.service"],
    ],
    [
      { ActiveState: "failed" },
      [
        "systemctl --user reset-failed tollkeeper.socket tollkeeper.service",
        "systemctl --user start tollkeeper.socket tollkeeper.service",
      ],
    ],
  ] as const) {
    const { systemd, paths } = startSystemd(t, { service });
    putUnits(paths, { service: renderService(targetFor()), socket: renderSocket(8655, true) });
    assert.deepEqual(commandsOf(await systemd.restart()), commands);
  }
});

test("a start of a socket whose service runs is refused, as systemd refuses it, with what to type", async (t) => {
  const { systemd, paths } = startSystemd(t, { service: RUNNING });
  putUnits(paths, { service: renderService(targetFor()) });
  assert.equal(commandsOf(await systemd.start()).length, 2);
  putUnits(paths, { socket: renderSocket(8655, true) });
  await assert.rejects(systemd.start(), /the service runs, and its socket does not/);
});

test("what is not installed is neither started nor restarted", async (t) => {
  const { systemd } = startSystemd(t);
  await assert.rejects(systemd.start(), Failure);
  await assert.rejects(systemd.restart(), Failure);
});
