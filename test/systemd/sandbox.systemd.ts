// Each option of the unit by its effect: what the same process may do in a bare unit, with that option alone, and in ours.
import assert from "node:assert/strict";
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

test("in the whole unit every one of these effects is there", async () => {
  const outcomes = await probe(service.container, linesOf(unit.map(({ name }) => name)));
  const expected = new Map(PROBES.map(({ setting, with: outcome }) => [setting, outcome]));
  assert.deepEqual(outcomes, expected);
});
