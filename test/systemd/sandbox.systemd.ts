// Each option of the unit by its effect: what the same process may do in a bare unit, with that option alone, and in ours.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { settingsOf, type Setting } from "../../src/service/systemd/unit-file.ts";
import { prepareProbing, probe } from "./probing.ts";
import { PROBES, type Probe } from "./probes.ts";
import { service, UNITS } from "./service.ts";

/** How the daemon is run and watched, which takes nothing away: what comes of these, other tests of this folder show. */
const NO_SANDBOX =
  /^(?:Type|NotifyAccess|Exec\w+|Environment|SyslogIdentifier|Timeout\w+|WatchdogSec|Restart\w*|KillMode|RuntimeDirectoryPreserve)$/;

/** What the installed unit and its drop-in say in [Service]. */
let unit: Setting[] = [];

before(async () => {
  await service.removeAll();
  await service.done("service", "install");
  const files = ["tollkeeper.service", "tollkeeper.service.d/sandbox.conf"];
  const text = files.map((file) => service.container.read(`${UNITS}/${file}`)).join("\n");
  unit = settingsOf(text).filter(({ section }) => section === "Service");
  await service.done("service", "uninstall");
  await prepareProbing(service.container);
});
after(() => service.removeAll());

function linesOf(settings: readonly string[]): string[] {
  return unit.filter(({ name }) => settings.includes(name)).map(({ name, value }) => `${name}=${value}`);
}

async function outcomeWith({ setting }: Probe, settings: readonly string[]): Promise<string | undefined> {
  return (await probe(service.container, linesOf(settings), [setting])).get(setting);
}

test("every option of the unit has a probe, and every probe its option", () => {
  const options = new Set(unit.map(({ name }) => name).filter((name) => !NO_SANDBOX.test(name)));
  assert.deepEqual([...options].sort(), PROBES.map(({ setting }) => setting).sort());
});

for (const entry of PROBES) {
  const { setting, tries, beside = [], without } = entry;
  test(`${setting}: ${tries}: ${without} without it, ${entry.with} with it`, async () => {
    assert.equal(await outcomeWith(entry, beside), without);
    assert.equal(await outcomeWith(entry, [...beside, setting]), entry.with);
  });
}

/** What becomes of who runs a set-uid program under these settings. */
async function setUidWith(lines: readonly string[]): Promise<string | undefined> {
  const setting = "NoNewPrivileges";
  return (await probe(service.container, lines, [setting])).get(setting);
}

test("the lines that the unit shows for set-id programs give them their rights back", async () => {
  const text = readFileSync(new URL("../../systemd/tollkeeper.service", import.meta.url), "utf8");
  const [, shown = ""] = /^#\[Service\]\n((?:#\w+=.*\n)+)/m.exec(text) ?? [];
  const lifted = shown.replaceAll(/^#/gm, "").trim().split("\n");
  assert.equal(lifted[0], "NoNewPrivileges=no");
  const names = settingsOf(text).flatMap(({ section, name }) => (section === "Service" ? [name] : []));
  const base = linesOf(names.filter((name) => PROBES.some(({ setting }) => setting === name)));
  assert.equal(await setUidWith(base), "uid 1000");
  assert.equal(await setUidWith([...base, ...lifted]), "uid 0");
  for (const line of lifted) {
    const others = [...base, ...lifted.filter((other) => other !== line)];
    assert.equal(await setUidWith(others), "uid 1000", `${line} is needed`);
  }
});

test("in the whole unit every one of these effects is there", async () => {
  const outcomes = await probe(service.container, linesOf(unit.map(({ name }) => name)));
  const expected = new Map(PROBES.map(({ setting, with: outcome }) => [setting, outcome]));
  assert.deepEqual(outcomes, expected);
});
