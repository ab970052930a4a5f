// The effect of each sandboxing option: what a process may do in a bare unit, with that option alone, and in the whole unit.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { parseSettings, type UnitSetting } from "../../src/service/systemd/unit-syntax.ts";
import { prepareProbes, runProbes, runUnit } from "./run-probes.ts";
import { PROBES, type Probe } from "./probes.ts";
import { service, UNITS } from "./service.ts";

/** Options that start and supervise the daemon without restricting it. Other tests of this folder cover them. */
const NOT_SANDBOXING =
  /^(?:Type|NotifyAccess|Exec\w+|Environment|SyslogIdentifier|Timeout\w+|WatchdogSec|Restart\w*|KillMode|NonBlocking|RuntimeDirectoryPreserve)$/;

/** The [Service] settings of the installed unit and its drop-in. */
let unit: UnitSetting[] = [];
/** The probes that this machine can run. */
let probes: readonly Probe[] = PROBES;

/** Some kernels run no program of another architecture, under no settings: there the shell takes it for a script, and finds no command. */
async function findProbes(): Promise<readonly Probe[]> {
  const foreign = PROBES.find(({ setting }) => setting === "SystemCallArchitectures");
  const isRun = foreign === undefined || (await outcomeWith(foreign, foreign.beside ?? [])) !== "exit 127";
  return isRun ? PROBES : PROBES.filter((one) => one !== foreign);
}

before(async () => {
  await service.removeAll();
  await service.mustRun("service", "install");
  const files = ["tollkeeper.service", "tollkeeper.service.d/sandbox.conf"];
  const text = files.map((file) => service.container.read(`${UNITS}/${file}`)).join("\n");
  unit = parseSettings(text).filter(({ section }) => section === "Service");
  await service.mustRun("service", "uninstall");
  await prepareProbes(service.container);
  probes = await findProbes();
});
after(() => service.removeAll());

function linesOf(settings: readonly string[]): string[] {
  return unit.filter(({ name }) => settings.includes(name)).map(({ name, value }) => `${name}=${value}`);
}

async function outcomeWith({ setting }: Probe, settings: readonly string[]): Promise<string | undefined> {
  return (await runProbes(service.container, linesOf(settings), [setting])).get(setting);
}

test("every sandboxing option of the unit has a probe, and every probe has an option", () => {
  const options = new Set(unit.map(({ name }) => name).filter((name) => !NOT_SANDBOXING.test(name)));
  assert.deepEqual([...options].sort(), PROBES.map(({ setting }) => setting).sort());
});

for (const entry of PROBES) {
  const { setting, tries, beside = [], without } = entry;
  test(`${setting}: ${tries}: ${without} without it, ${entry.with} with it`, async (t) => {
    if (!probes.includes(entry)) return t.skip("this kernel runs no program of another architecture");
    assert.equal(await outcomeWith(entry, beside), without);
    assert.equal(await outcomeWith(entry, [...beside, setting]), entry.with);
  });
}

/** Returns the user id that a set-uid program gets under these settings. */
async function setUidWith(lines: readonly string[]): Promise<string | undefined> {
  const setting = "NoNewPrivileges";
  return (await runProbes(service.container, lines, [setting])).get(setting);
}

test("the drop-in shown in the unit's comment gives set-id programs their privileges back", async () => {
  const text = readFileSync(new URL("../../systemd/tollkeeper.service", import.meta.url), "utf8");
  const [, shown = ""] = /^#\[Service\]\n((?:#\w+=.*\n)+)/m.exec(text) ?? [];
  const lifted = shown.replaceAll(/^#/gm, "").trim().split("\n");
  assert.equal(lifted[0], "NoNewPrivileges=no");
  const names = parseSettings(text).flatMap(({ section, name }) => (section === "Service" ? [name] : []));
  const base = linesOf(names.filter((name) => PROBES.some(({ setting }) => setting === name)));
  assert.equal(await setUidWith(base), "uid 1000");
  assert.equal(await setUidWith([...base, ...lifted]), "uid 0");
  for (const line of lifted) {
    const others = [...base, ...lifted.filter((other) => other !== line)];
    assert.equal(await setUidWith(others), "uid 1000", `${line} is needed`);
  }
});

test("the complete unit has the effects of all its options", async () => {
  const lines = linesOf(unit.map(({ name }) => name));
  const outcomes = await runProbes(
    service.container,
    lines,
    probes.map(({ setting }) => setting),
  );
  const expected = new Map(probes.map(({ setting, with: outcome }) => [setting, outcome]));
  assert.deepEqual(outcomes, expected);
});

async function exists(file: string): Promise<boolean> {
  return (await service.container.user("test", "-e", file)).code === 0;
}

test("what docs/service.md says that the complete unit does not stop: a program that systemd starts outside, asked over D-Bus", async () => {
  const file = "/home/tk/.ssh/written-outside";
  const lines = linesOf(unit.map(({ name }) => name));
  await runUnit(service.container, lines, `-touch ${file}`);
  assert.equal(await exists(file), false);
  await runUnit(service.container, lines, `systemd-run --user --wait --quiet touch ${file}`);
  assert.equal(await exists(file), true);
  const page = readFileSync(new URL("../../docs/service.md", import.meta.url), "utf8");
  assert.match(page, /does not stop[^]*?`systemd-run --user`/);
});
