import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { renderService } from "../../../src/service/systemd/units.ts";
import { commandsOf, filesOf, LISTENING, putUnits, RUNNING, startSystemd } from "./fake-systemd.ts";
import { targetFor } from "./target.ts";

/** Of both units, whatever is there: systemd may know what has no file any more. */
const TAKE_AWAY = [
  "systemctl --user stop tollkeeper.socket tollkeeper.service",
  "systemctl --user disable tollkeeper.socket tollkeeper.service",
  "systemctl --user daemon-reload",
  "systemctl --user reset-failed tollkeeper.socket tollkeeper.service",
];

test("taking it away removes our files and nothing else, and does nothing the second time", async (t) => {
  const { systemd, paths } = startSystemd(t);
  assert.deepEqual(await systemd.uninstall(), { steps: [], notes: [] });
  putUnits(paths, { service: renderService(targetFor()) });
  const plan = await systemd.uninstall();
  assert.deepEqual(commandsOf(plan), TAKE_AWAY);
  assert.deepEqual(filesOf(plan), [
    ["remove", paths.service],
    ["remove", paths.socket],
    ["remove", paths.sandbox],
    ["remove", dirname(paths.sandbox)],
  ]);
});

test("what is left of an installation is taken away: a sandbox alone, or what systemd still runs or would start", async (t) => {
  const left = startSystemd(t);
  putUnits(left.paths, { sandbox: "[Service]\n" });
  const systemds = [
    left,
    startSystemd(t, { service: { ...RUNNING, UnitFileState: "bad", InactiveExitTimestampMonotonic: 1 } }),
    startSystemd(t, { socket: LISTENING }),
    startSystemd(t, { service: { UnitFileState: "enabled" } }),
  ];
  for (const { systemd } of systemds) assert.deepEqual(commandsOf(await systemd.uninstall()), TAKE_AWAY);
});

test("systemd's words on a unit that it does not know are no failure of an uninstallation", async (t) => {
  const { systemd, paths } = startSystemd(t);
  putUnits(paths, { sandbox: "[Service]\n" });
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

test("a unit that systemd cannot load can be stopped and taken away all the same", async (t) => {
  const { systemd, paths } = startSystemd(t);
  putUnits(paths, { service: "broken" });
  for (const { steps } of [await systemd.uninstall(), await systemd.stop()]) {
    const [first] = steps;
    assert.ok(first?.kind === "run");
    assert.match(
      "Failed to stop tollkeeper.service: Unit tollkeeper.service not loaded.",
      first.tolerates ?? /^$/,
    );
  }
});
