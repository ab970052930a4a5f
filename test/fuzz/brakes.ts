import assert from "node:assert/strict";
import * as fc from "fast-check";
import { BrakeMeter, type BrakeTerms } from "../../src/core/policy/brake.ts";
import { property, type Property } from "./property.ts";

/** A request with its body, or one that ends; the time that passed before it is in milliseconds. */
type Step = { afterMs: number; body: string | null } | { afterMs: number; ends: true };

const afterMs = fc.constantFrom(0, 0, 1, 250, 1_000, 7_500, 20_000, 60_000, 400_000);

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ afterMs, body: fc.constantFrom("a", "b", "c", null) }),
  fc.record({ afterMs, ends: fc.constant(true as const) }),
);

const terms: fc.Arbitrary<BrakeTerms> = fc.record({
  requestsPerMinute: fc.option(fc.constantFrom(1, 2, 3, 8, 60)),
  concurrent: fc.option(fc.constantFrom(1, 2, 5)),
  same: fc.option(fc.record({ times: fc.constantFrom(1, 2, 4), minutes: fc.constantFrom(1, 2, 5) })),
  keep: fc.constant(null),
});

/** Says which requests pass, from what passed before and nothing else: the bucket is refilled for each of them. */
function passReference(
  { requestsPerMinute, concurrent, same }: BrakeTerms,
  steps: readonly Step[],
): boolean[] {
  const passedAt: { tick: number; body: string | null }[] = [];
  const answers: boolean[] = [];
  let [tick, running] = [0, 0];
  for (const each of steps) {
    tick += each.afterMs;
    if ("ends" in each) {
      running = Math.max(0, running - 1);
      continue;
    }
    const repeated = passedAt.filter(
      (earlier) => same !== null && earlier.body === each.body && tick - earlier.tick < same.minutes * 60_000,
    );
    const isFree =
      (requestsPerMinute === null || levelOf(requestsPerMinute, passedAt, tick) >= 1 - 1e-6) &&
      (concurrent === null || running < concurrent) &&
      (same === null || each.body === null || repeated.length < same.times);
    answers.push(isFree);
    if (!isFree) continue;
    passedAt.push({ tick, body: each.body });
    running += 1;
  }
  return answers;
}

/** How many requests a bucket has room for. */
function levelOf(size: number, taken: readonly { tick: number }[], now: number): number {
  let [level, at] = [size, 0];
  for (const { tick } of taken) {
    level = Math.min(size, level + ((tick - at) * size) / 60_000) - 1;
    at = tick;
  }
  return Math.min(size, level + ((now - at) * size) / 60_000);
}

function passByMeter(limits: BrakeTerms, steps: readonly Step[]): boolean[] {
  const meter = new BrakeMeter();
  const answers: boolean[] = [];
  let [tick, running] = [0, 0];
  for (const each of steps) {
    tick += each.afterMs;
    if ("ends" in each) {
      if (running > 0) meter.leave();
      running = Math.max(0, running - 1);
      continue;
    }
    const breach = meter.findBreach(limits, each.body, tick);
    answers.push(breach === null);
    if (breach !== null) {
      checkWait(meter, limits, each.body, tick, breach);
      continue;
    }
    meter.count(limits, each.body, tick);
    meter.enter();
    running += 1;
  }
  return answers;
}

type Breach = NonNullable<ReturnType<BrakeMeter["findBreach"]>>;

/** A request that comes when a breach said that it may must not meet the same breach; one that comes earlier must. */
function checkWait(
  meter: BrakeMeter,
  limits: BrakeTerms,
  body: string | null,
  tick: number,
  breach: Breach,
): void {
  if (!("waitMs" in breach)) return;
  assert.equal(meter.findBreach(limits, body, tick + breach.waitMs - 1)?.limit, breach.limit);
  assert.notEqual(meter.findBreach(limits, body, tick + breach.waitMs)?.limit, breach.limit);
}

/** Brakes against a slow reference. */
export const BRAKES: readonly Property[] = [
  property(
    "brakes: a meter lets exactly those requests pass that a slow reference does, and says how long to wait",
    { batch: 2_000 },
    fc.property(terms, fc.array(step, { maxLength: 60 }), (limits, steps) => {
      assert.deepEqual(passByMeter(limits, steps), passReference(limits, steps));
    }),
  ),
];
