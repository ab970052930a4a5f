import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { Failure } from "../../src/core/failure.ts";
import { renderSandbox, renderService, renderSocket } from "../../src/service/systemd/render-units.ts";
import {
  commandsOf,
  filesOf,
  LISTENING,
  writeUnits,
  RUNNING,
  createSystemd,
} from "./systemd/stub-systemd.ts";
import { targetFor } from "./systemd/service-target.ts";

const START = "systemctl --user enable --now tollkeeper.socket tollkeeper.service";

test("install creates directories, writes units, tries the sandbox, then enables and starts both units", async (t) => {
  const { systemd, paths } = createSystemd(t);
  const plan = await systemd.install(targetFor({ writableDirectories: ["/state", "/ledger"] }));
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

test("install restarts the running daemon only when something has changed", async (t) => {
  const { systemd } = createSystemd(t);
  const { steps } = await systemd.install(targetFor());
  const conditional = steps.flatMap((step) => (step.kind === "run" && step.ifChanged === true ? [step] : []));
  assert.deepEqual(
    conditional.map(({ argv }) => argv.at(-2)),
    ["try-restart"],
  );
});

/** A start time on systemd's clock that is older than any file of a test. */
const LONG_AGO = { InactiveExitTimestampMonotonic: 1 };

test("install stops both units first when the socket changes or is not listening yet", async (t) => {
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
    const { systemd, paths } = createSystemd(t, { service, socket });
    const [, text] = (await systemd.install(targetFor({ port: 8655 }))).steps.flatMap((step) =>
      step.kind === "write" ? [step.text] : [],
    );
    writeUnits(paths, { socket: text ?? "" });
    const commands = commandsOf(await systemd.install(targetFor({ port })));
    assert.equal(commands.includes(stop), isStopped, JSON.stringify({ service, socket, port }));
  }
});

test("install neither rewrites nor stops a socket whose unit differs in its comments only, as after an upgrade", async (t) => {
  const { systemd, paths } = createSystemd(t, { service: RUNNING, socket: LISTENING });
  const [, ours = ""] = (await systemd.install(targetFor())).steps.flatMap((step) =>
    step.kind === "write" ? [step.text] : [],
  );
  writeUnits(paths, { socket: ours.replaceAll(/^#.*$/gm, "# a comment of an older version") });
  const plan = await systemd.install(targetFor());
  assert.ok(!filesOf(plan).some(([, path]) => path === paths.socket));
  assert.ok(!commandsOf(plan).some((command) => command.startsWith("systemctl --user stop")));
});

test("install restarts a process left by an interrupted installation, even when no file changes", async (t) => {
  const cases = [
    { service: RUNNING, unconditional: false },
    { service: { ...RUNNING, ...LONG_AGO }, unconditional: true },
    { service: { ...RUNNING, NeedDaemonReload: "yes" }, unconditional: true },
    { service: { ...LONG_AGO, ActiveState: "inactive" }, unconditional: false },
  ];
  const target = targetFor();
  for (const { service, unconditional } of cases) {
    for (const name of ["service", "sandbox"] as const) {
      const { systemd, paths } = createSystemd(t, { service, socket: LISTENING });
      writeUnits(paths, { [name]: { service: renderService, sandbox: renderSandbox }[name](target) });
      const { steps } = await systemd.install(target);
      const restart = steps.find((step) => step.kind === "run" && step.argv.includes("try-restart"));
      assert.ok(restart?.kind === "run");
      assert.equal(restart.ifChanged !== true, unconditional, JSON.stringify({ service, name }));
    }
  }
});

test("install refuses a masked unit and says how to unmask it", async (t) => {
  for (const masked of ["service", "socket"] as const) {
    const { systemd } = createSystemd(t, { [masked]: { LoadState: "masked" } });
    await assert.rejects(systemd.install(targetFor()), (error: Failure) => {
      assert.equal(error.message, `tollkeeper.${masked} is masked`);
      assert.match(error.hint ?? "", new RegExp(`systemctl --user unmask tollkeeper\\.${masked};`));
      return error instanceof Failure;
    });
  }
});

test("install tries a sandbox again that is in force, with the files that the daemon now reads", async (t) => {
  const { systemd, paths } = createSystemd(t, { service: RUNNING });
  writeUnits(paths, { sandbox: renderSandbox(targetFor()) });
  const trustedFiles = [import.meta.filename];
  const [trial] = (await systemd.install(targetFor({ trustedFiles }))).steps.filter(
    ({ kind }) => kind === "try",
  );
  assert.ok(trial?.kind === "try" && trial.argv.includes(import.meta.filename));
  assert.match(trial.exitCodes[217] ?? "", /user namespace/);
});

test("install leaves the sandbox out and says why when a command prints a key", async (t) => {
  const { systemd, paths } = createSystemd(t);
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
    /keySource.*sandbox\.conf is left out\n.*set-gid.*systemctl --user edit/,
  );
});

test("install leaves the sandbox out and says why when a setting does not work in it", async (t) => {
  const { systemd, paths } = createSystemd(t);
  const plan = await systemd.install(targetFor({ sandboxIncompatibleSettings: ["access.peerUid"] }));
  assert.ok(filesOf(plan).some(([kind, path]) => kind === "remove" && path === paths.sandbox));
  assert.match(plan.notes.join("\n"), /access\.peerUid is set.*sandbox\.conf is left out/);
});

test("install tolerates units that systemd has not loaded, even when it removes the socket", async (t) => {
  const { systemd, paths } = createSystemd(t);
  writeUnits(paths, { socket: renderSocket(8655, { hasIpv6: true }) });
  const { steps } = await systemd.install(targetFor({ port: 0 }));
  const undoing = steps.flatMap((step) =>
    step.kind === "run" && /reset-failed|disable/.test(step.argv.join(" ")) ? [step] : [],
  );
  assert.equal(undoing.length, 2);
  for (const { tolerates } of undoing) {
    assert.match("Failed to reset failed state of unit x: Unit x not loaded.", tolerates ?? /^$/);
  }
});

test("install with port 0 writes no socket unit and removes an existing one", async (t) => {
  const { systemd, paths } = createSystemd(t);
  writeUnits(paths, { socket: renderSocket(8655, { hasIpv6: true }) });
  const plan = await systemd.install(targetFor({ port: 0 }));
  const commands = commandsOf(plan);
  assert.ok(commands.includes("systemctl --user disable --now tollkeeper.socket"));
  assert.equal(commands.at(-1), "systemctl --user enable --now tollkeeper.service");
  assert.ok(filesOf(plan).some(([kind, path]) => kind === "remove" && path === paths.socket));
  assert.match(plan.notes.join("\n"), /no socket unit/);
});

test("install explains linger and its effect on the keychain, unless the linger state is unknown", async (t) => {
  const notesWith = async (linger?: "yes" | "no") =>
    (
      await createSystemd(t, linger === undefined ? {} : { linger }).systemd.install(targetFor())
    ).notes.join();
  assert.match(await notesWith("no"), /stops when you log out.*loginctl enable-linger ada.*keychain.*locked/);
  assert.match(await notesWith("yes"), /linger is on.*keychain.*locked/);
  assert.equal(await notesWith(), "");
});

test("stop stops the socket too, which would otherwise start the service at the next connection", async (t) => {
  const { systemd, paths } = createSystemd(t);
  assert.deepEqual(commandsOf(await systemd.stop()), []);
  writeUnits(paths, { service: renderService(targetFor()), socket: renderSocket(8655, { hasIpv6: true }) });
  assert.deepEqual(commandsOf(await systemd.stop()), [
    "systemctl --user stop tollkeeper.socket tollkeeper.service",
  ]);
});

test("restart leaves the socket alone, and starts both units when the service is not running", async (t) => {
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
    const { systemd, paths } = createSystemd(t, { service });
    writeUnits(paths, { service: renderService(targetFor()), socket: renderSocket(8655, { hasIpv6: true }) });
    assert.deepEqual(commandsOf(await systemd.restart()), commands);
  }
});

test("start is refused when the service runs without its socket, which systemd would not start", async (t) => {
  const { systemd, paths } = createSystemd(t, { service: RUNNING });
  writeUnits(paths, { service: renderService(targetFor()) });
  assert.equal(commandsOf(await systemd.start()).length, 2);
  writeUnits(paths, { socket: renderSocket(8655, { hasIpv6: true }) });
  await assert.rejects(systemd.start(), /the service is running and its socket is not/);
});

test("start and restart are refused when the service is not installed", async (t) => {
  const { systemd } = createSystemd(t);
  await assert.rejects(systemd.start(), Failure);
  await assert.rejects(systemd.restart(), Failure);
});
