import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { renderService } from "../../../src/service/systemd/render-units.ts";
import { commandsOf, filesOf, LISTENING, writeUnits, RUNNING, createSystemd } from "./stub-systemd.ts";
import { targetFor } from "./service-target.ts";

/** The commands name both units even when a file is missing, because systemd may still know the unit. */
const TAKE_AWAY = [
  "systemctl --user stop tollkeeper.socket tollkeeper.service",
  "systemctl --user disable tollkeeper.socket tollkeeper.service",
  "systemctl --user daemon-reload",
  "systemctl --user reset-failed tollkeeper.socket tollkeeper.service",
];

test("uninstall removes only the files of an installation, and does nothing when there is none", async (t) => {
  const { systemd, paths } = createSystemd(t);
  assert.deepEqual(await systemd.uninstall(), { steps: [], notes: [] });
  writeUnits(paths, { service: renderService(targetFor()) });
  const plan = await systemd.uninstall();
  assert.deepEqual(commandsOf(plan), TAKE_AWAY);
  assert.deepEqual(filesOf(plan), [
    ["remove", paths.service],
    ["remove", paths.socket],
    ["remove", paths.sandbox],
    ["remove", dirname(paths.sandbox)],
  ]);
});

test("uninstall removes remains: a drop-in without its unit, or units that systemd still runs or would start", async (t) => {
  const left = createSystemd(t);
  writeUnits(left.paths, { sandbox: "[Service]\n" });
  const systemds = [
    left,
    createSystemd(t, { service: { ...RUNNING, UnitFileState: "bad", InactiveExitTimestampMonotonic: 1 } }),
    createSystemd(t, { socket: LISTENING }),
    createSystemd(t, { service: { UnitFileState: "enabled" } }),
  ];
  for (const { systemd } of systemds) assert.deepEqual(commandsOf(await systemd.uninstall()), TAKE_AWAY);
});

test("uninstall tolerates systemd's errors about unknown units", async (t) => {
  const { systemd, paths } = createSystemd(t);
  writeUnits(paths, { sandbox: "[Service]\n" });
  const [stop, disable] = (await systemd.uninstall()).steps;
  assert.ok(stop?.kind === "run" && disable?.kind === "run");
  assert.match(
    "Failed to stop tollkeeper.socket: Unit tollkeeper.socket not loaded.",
    stop.tolerates ?? /^$/,
  );
  assert.match(
    "Failed to disable unit: Unit file tollkeeper.socket does not exist.",
    disable.tolerates ?? /^$/,
  );
});

test("uninstall and stop tolerate a unit that systemd cannot load", async (t) => {
  const { systemd, paths } = createSystemd(t);
  writeUnits(paths, { service: "broken" });
  for (const { steps } of [await systemd.uninstall(), await systemd.stop()]) {
    const [first] = steps;
    assert.ok(first?.kind === "run");
    assert.match(
      "Failed to stop tollkeeper.service: Unit tollkeeper.service not loaded.",
      first.tolerates ?? /^$/,
    );
  }
});
