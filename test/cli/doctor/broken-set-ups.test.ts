import assert from "node:assert/strict";
import { test } from "node:test";
import type { CheckedFinding } from "../../../src/cli/doctor/run.ts";
import type { BrokenSetUp } from "./set-ups/broken.ts";
import { CONFIGURATION_SET_UPS } from "./set-ups/configuration.ts";
import { DAEMON_SET_UPS } from "./set-ups/daemon.ts";
import { KEY_SET_UPS } from "./set-ups/keys.ts";
import { PLACE_SET_UPS } from "./set-ups/places.ts";

const SET_UPS: BrokenSetUp[] = [
  ...CONFIGURATION_SET_UPS,
  ...KEY_SET_UPS,
  ...DAEMON_SET_UPS,
  ...PLACE_SET_UPS,
];

const skipElsewhere =
  process.platform === "linux" ? false : "needs Linux: elsewhere the real keychain would be asked";

for (const { name, skip = skipElsewhere, build, finds } of SET_UPS) {
  test(`${name}: what is wrong is told, with what mends it, and nothing else`, { skip }, async (t) => {
    const machine = await build(t);
    if (machine === null) return;
    const { code, stdout } = await machine.doctor("--json");
    const { checks } = JSON.parse(stdout) as { checks: CheckedFinding[] };
    const found = checks.filter(({ verdict }) => verdict === "failure" || verdict === "warning");
    const told = found.map(({ verdict, id, message, fix }) => [
      machine.named(`${verdict} ${id}: ${message}`),
      machine.named(String(fix)),
    ]);
    for (const [what, fix] of told) {
      t.diagnostic(`${what}`);
      t.diagnostic(`  -> ${fix}`);
    }
    assert.deepEqual(told, finds);
    assert.equal(code, found.some(({ verdict }) => verdict === "failure") ? 1 : 0);
    assert.ok(!stdout.includes(machine.key), "the key is in what doctor says");
  });
}
