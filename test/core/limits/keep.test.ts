import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import { judgeKeep, listHolds } from "../../../src/core/limits/keep.ts";
import type { SeenWindow } from "../../../src/core/limits/limit-warnings.ts";
import { findLow } from "../../../src/core/limits/low-window.ts";
import type { Brake } from "../../../src/core/policy/brake.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import { upstreamAt } from "../../helpers/gate/gate.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR = 3_600_000;
const UTC = zonedCalendar("UTC");

function seen(window: string, usedPercent: number | null, resetsAt: number | null = NOW + HOUR): SeenWindow {
  return { window, usedPercent, limit: null, remaining: null, resetsAt, seenAt: NOW };
}

function windows(...given: SeenWindow[]): Map<string, SeenWindow> {
  return new Map(given.map((one) => [one.window, one]));
}

function keeping(keep: number | null, scope: Brake["scope"] = { kind: "tool", name: "nightly" }): Brake {
  return { scope, terms: { requestsPerMinute: null, concurrent: null, same: null, keep } };
}

test("less than the share that is kept refuses, until the reset; exactly that share does not", () => {
  assert.deepEqual(findLow(windows(seen("5h", 90.01)), 10, NOW), {
    window: "5h",
    leftPercent: 9.99,
    resetsAt: NOW + HOUR,
  });
  assert.equal(findLow(windows(seen("5h", 90)), 10, NOW), null);
  assert.notEqual(findLow(windows(seen("5h", 95)), 10, NOW + HOUR - 1), null);
  assert.equal(findLow(windows(seen("5h", 95)), 10, NOW + HOUR), null);
  assert.equal(findLow(windows(seen("5h", 120)), 10, NOW)?.leftPercent, 0);
});

test("what is not known refuses nothing", () => {
  assert.equal(findLow(undefined, 99, NOW), null);
  for (const unknown of [
    seen("5h", null),
    seen("requests", 100, null),
    seen("retry", null),
    seen("overage", 100),
  ])
    assert.equal(findLow(windows(unknown), 99, NOW), null, unknown.window);
});

const window = fc.record({
  window: fc.constantFrom("5h", "7d", "30d", "requests", "overage", "retry"),
  usedPercent: fc.option(fc.constantFrom(0, 49.5, 89, 90, 91, 100, 104)),
  resetsAt: fc.option(fc.constantFrom(NOW - 1, NOW, NOW + 1, NOW + HOUR, NOW + 24 * HOUR)),
});

test("a refusal waits for the window that resets last, and then all are open", () => {
  fc.assert(
    fc.property(fc.array(window), fc.constantFrom(1, 10, 50, 99), (given, keep) => {
      const all = windows(...given.map((one) => seen(one.window, one.usedPercent, one.resetsAt)));
      const low = findLow(all, keep, NOW);
      const late = [...all.values()].filter(
        (one) =>
          one.window !== "overage" &&
          one.window !== "retry" &&
          one.usedPercent !== null &&
          100 - one.usedPercent < keep &&
          one.resetsAt !== null &&
          one.resetsAt > NOW,
      );
      const last = Math.max(...late.map(({ resetsAt }) => resetsAt ?? 0));
      assert.equal(low?.resetsAt ?? null, late.length === 0 ? null : last);
      if (low !== null) assert.equal(findLow(all, keep, low.resetsAt), null);
    }),
  );
});

function isHeld(usedPercent: number): boolean {
  return findLow(windows(seen("5h", usedPercent)), 10, NOW) !== null;
}

test("a share that is kept from less is kept from more, and a lower value opens what a higher one has closed", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 110 }), fc.integer({ min: 0, max: 110 }), (one, other) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)];
      assert.ok(!isHeld(less) || isHeld(more));
      assert.equal(isHeld(one), 100 - one < 10);
    }),
  );
});

test("the refusal is a throttle that says what is left, when it resets and how to lift it", () => {
  const low = windows(seen("5h", 96));
  assert.deepEqual(judgeKeep([keeping(null), keeping(10)], "default", low, NOW, UTC), {
    code: "limit_kept",
    problem: "nightly waits for the 5-hour window of default",
    reason: "4% of it is left, by the last response, and tools.nightly.brake.keep keeps 10%",
    advice: "it resets at 13:00",
    waitSeconds: 3600,
    headers: ["retry-after", "3600"],
    command: "tollkeeper brake remove nightly",
  });
  const group = keeping(10, { kind: "group", name: "jobs" });
  assert.equal(judgeKeep([group], "default", low, NOW, UTC)?.command, "tollkeeper brake remove --group jobs");
  const other = { ...group, terms: { ...group.terms, concurrent: 2 } };
  assert.equal(judgeKeep([other], "default", low, NOW, UTC)?.command, "tollkeeper config edit");
  assert.equal(judgeKeep([keeping(null)], "default", low, NOW, UTC), null);
  assert.equal(judgeKeep([keeping(4)], "default", low, NOW, UTC), null);
});

test("of two brakes the one that waits longer is named", () => {
  const low = windows(seen("5h", 96), seen("7d", 60, NOW + 24 * HOUR));
  const group = keeping(50, { kind: "group", name: "jobs" });
  const refusal = judgeKeep([keeping(10), group], "default", low, NOW, UTC);
  assert.match(refusal?.problem ?? "", /^group jobs waits for the 7-day window/);
});

test("holds are listed for the accounts that may pay for a tool or for the tools of a group, and for no other", () => {
  const settings = prepareSettings({
    ...defaultConfig,
    plans: ["claude-code"],
    upstreams: {
      default: upstreamAt("https://one.example/v1"),
      work: upstreamAt("https://two.example/v1", { name: "work" }),
    },
    ...rulesForTools({
      tools: {
        nightly: { brake: { keep: 10 }, upstreams: ["default"] },
        zed: { brake: { concurrent: 3 } },
        "claude-code": { group: "jobs", upstreams: ["work"] },
      },
      groups: { jobs: { brake: { keep: 20, concurrent: 4 } } },
    }),
  });
  const known = new Map(
    ["default", "work", "plan:claude", "plan:chatgpt"].map((account) => [account, windows(seen("5h", 96))]),
  );
  const holds = listHolds(settings, known, NOW);
  assert.deepEqual(
    holds.map(({ kind, name, account, lift }) => [kind, name, account, lift]),
    [
      ["tool", "nightly", "default", "tollkeeper brake remove nightly"],
      ["group", "jobs", "work", "tollkeeper config edit"],
      ["group", "jobs", "plan:claude", "tollkeeper config edit"],
    ],
  );
  assert.deepEqual(listHolds(settings, known, NOW + HOUR), []);
});
