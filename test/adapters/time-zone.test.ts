import assert from "node:assert/strict";
import { copyFileSync, existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { adoptTimeZone, localZoneName } from "../../src/adapters/time-zone.ts";
import { prepareHome } from "../helpers/daemon/daemon.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { setEnvironment } from "../helpers/process/set-environment.ts";

const BERLIN = "/usr/share/zoneinfo/Europe/Berlin";
const noZones = !existsSync(BERLIN) && "not installed: the zones of the system (apt-get install tzdata)";

/** How far the clocks are ahead of UTC, in hours, in January and in July. */
function offsets(): number[] {
  return [0, 6].map((month) => (0 - new Date(2026, month, 1).getTimezoneOffset()) / 60);
}

test(
  "a zone that TZ gives by a path, with a colon or by another form has its name and its summer time",
  { skip: noZones },
  (t) => {
    const directory = scratchDirectory(t);
    const [link, copy] = [join(directory, "localtime"), join(directory, "copy")];
    symlinkSync(BERLIN, link);
    copyFileSync(BERLIN, copy);
    for (const given of [
      BERLIN,
      `:${BERLIN}`,
      ":Europe/Berlin",
      "Europe/Berlin",
      "posix/Europe/Berlin",
      `:${link}`,
      copy,
    ]) {
      setEnvironment(t, { TZ: given });
      assert.equal(adoptTimeZone(), null, given);
      assert.deepEqual(offsets(), [1, 2], given);
      // Others have the same times as Berlin.
      if (given !== copy) assert.equal(localZoneName(), "Europe/Berlin", given);
    }
  },
);

test("a rule of POSIX without summer time is the zone of that offset", (t) => {
  for (const [given, hours] of [
    ["JST-9", 9],
    ["<+03>-3", 3],
    ["UTC0", 0],
    ["EST5", -5],
    ["", 0],
  ] as const) {
    setEnvironment(t, { TZ: given });
    assert.equal(adoptTimeZone(), null, given);
    assert.deepEqual(offsets(), [hours, hours], given);
    assert.doesNotMatch(localZoneName() ?? "none", /none|Unknown/);
  }
});

test("a TZ that names no zone is named in a warning, and UTC counts", (t) => {
  for (const given of ["Mars/Phobos", "CET-1CEST,M3.5.0,M10.5.0/3", "/nowhere"]) {
    setEnvironment(t, { TZ: given });
    assert.match(adoptTimeZone() ?? "", new RegExp(`^TZ="${given}" is no time zone`));
    assert.equal(localZoneName(), "UTC");
    assert.deepEqual(offsets(), [0, 0]);
  }
});

test("reports say in which zone they are, and warn of a TZ that names none", { skip: noZones }, async (t) => {
  const { command } = prepareHome(t, { env: { TZ: `:${BERLIN}` } });
  const { stdout } = await command("usage", "--json");
  assert.match(stdout, /"time_zone": "Europe\/Berlin"/);
  const unknown = prepareHome(t, { env: { TZ: "Mars/Phobos" } });
  const report = await unknown.command("usage", "--json");
  assert.match(report.stdout, /"time_zone": "UTC"/);
  assert.match(report.stderr, /^warning: TZ="Mars\/Phobos" is no time zone/);
});
