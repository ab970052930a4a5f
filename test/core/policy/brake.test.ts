import assert from "node:assert/strict";
import { test } from "node:test";
import { BrakeMeter, describeTerms, type BrakeTerms } from "../../../src/core/policy/brake.ts";
import { refuseByBrake } from "../../../src/core/refusals/policy.ts";

const OFF: BrakeTerms = { requestsPerMinute: null, concurrent: null, same: null, keep: null };
const SECOND = 1_000;

/** Sends requests at these times, in seconds, and returns those that passed. */
function passed(
  terms: BrakeTerms,
  seconds: readonly number[],
  body: (index: number) => string | null = () => null,
) {
  const meter = new BrakeMeter();
  return seconds.filter((second, index) => {
    const isFree = meter.findBreach(terms, body(index), second * SECOND) === null;
    if (isFree) meter.count(terms, body(index), second * SECOND);
    return isFree;
  });
}

test("a bucket lets a minute's requests pass at once, and then one each time that it has room for one", () => {
  const terms = { ...OFF, requestsPerMinute: 3 };
  assert.deepEqual(
    passed(terms, [0, 0, 0, 0, 19, 20, 20.5, 39, 40, 200, 200, 200, 200]),
    [0, 0, 0, 20, 40, 200, 200, 200],
  );
});

for (const rate of [7, 11, 13, 120, 9_999]) {
  test(`rounding costs no request at ${rate} per minute`, () => {
    const times = Array.from({ length: rate + 1 }, () => 0.3);
    assert.equal(passed({ ...OFF, requestsPerMinute: rate }, times).length, rate);
  });
}

test("a breach says when the next request may go", () => {
  const meter = new BrakeMeter();
  const terms = { ...OFF, requestsPerMinute: 2, same: { times: 1, minutes: 2 } };
  meter.count(terms, "a", 5 * SECOND);
  assert.deepEqual(meter.findBreach(terms, "a", 45 * SECOND), { limit: "same", waitMs: 80 * SECOND });
  assert.equal(meter.findBreach(terms, "b", 45 * SECOND), null);
  meter.count(terms, "b", 6 * SECOND);
  assert.deepEqual(meter.findBreach(terms, "c", 10 * SECOND), {
    limit: "requestsPerMinute",
    waitMs: 25 * SECOND,
  });
});

/** Terms with this many requests per minute. */
function atRate(requestsPerMinute: number): BrakeTerms {
  return { ...OFF, requestsPerMinute };
}

test("a bucket keeps its level when the rate changes", () => {
  const meter = new BrakeMeter();
  for (let count = 0; count < 10; count += 1) meter.count(atRate(10), null, 0);
  assert.notEqual(meter.findBreach(atRate(10), null, 0), null);
  assert.notEqual(meter.findBreach(atRate(100), null, 0), null);
  assert.equal(meter.findBreach(atRate(100), null, 0.6 * SECOND), null);
});

test("the same body passes so many times within the window, which slides", () => {
  const terms = { ...OFF, same: { times: 2, minutes: 1 } };
  assert.deepEqual(
    passed(terms, [0, 10, 20, 59, 60, 69, 70], () => "a"),
    [0, 10, 60, 70],
  );
  assert.deepEqual(
    passed(terms, [0, 1, 2, 3], (index) => "ab".charAt(index % 2)),
    [0, 1, 2, 3],
  );
  assert.deepEqual(passed(terms, [0, 1, 2, 3]), [0, 1, 2, 3]);
});

test("so many requests may run at the same time", () => {
  const meter = new BrakeMeter();
  const terms = { ...OFF, concurrent: 2 };
  meter.enter();
  assert.equal(meter.findBreach(terms, null, 0), null);
  meter.enter();
  assert.deepEqual(meter.findBreach(terms, null, 0), { limit: "concurrent" });
  meter.leave();
  assert.equal(meter.findBreach(terms, null, 0), null);
});

test("a bounded number of bodies is remembered: those that were sent last", () => {
  const meter = new BrakeMeter();
  const terms = { ...OFF, same: { times: 1, minutes: 1_440 } };
  for (let index = 0; index < 5_000; index += 1) meter.count(terms, `body ${index}`, index);
  assert.equal(meter.findBreach(terms, "body 903", 5_000), null);
  assert.notEqual(meter.findBreach(terms, "body 904", 5_000), null);
});

test("a refusal names the brake, what it allows, and the command", () => {
  const terms = { requestsPerMinute: 60, concurrent: 1, same: { times: 12, minutes: 10 }, keep: 10 };
  const tool = { scope: { kind: "tool", name: "codex" }, terms } as const;
  const group = { scope: { kind: "group", name: "a-group-with-a-rather-long-name" }, terms } as const;
  assert.deepEqual(refuseByBrake(tool, { limit: "same", waitMs: 61_001 }), {
    code: "braked",
    problem: "codex repeats one request",
    reason: "tools.codex.brake allows one request 12 times within 10 minutes",
    advice: "the next may go in 62 s",
    waitSeconds: 62,
    command: "tollkeeper config edit",
  });
  assert.deepEqual(refuseByBrake(group, { limit: "concurrent" }), {
    code: "braked",
    problem: "group a-group-with-a-rather-long-name runs too much at once",
    reason: "groups.a-group-with-a-rather-long-name.brake allows 1 request at once",
    command: "tollkeeper config edit",
  });
  const { problem, reason, advice } = refuseByBrake(tool, { limit: "requestsPerMinute", waitMs: 1 });
  assert.equal(problem, "codex is too fast");
  assert.equal(reason, "tools.codex.brake allows 60 requests per minute");
  assert.equal(advice, "the next may go in 1 s");
});

test("a brake describes itself", () => {
  assert.equal(describeTerms({ ...OFF, concurrent: 1 }), "1 request at once");
  assert.equal(
    describeTerms({ requestsPerMinute: 1, concurrent: 8, same: { times: 1, minutes: 1 }, keep: 10 }),
    "1 request per minute, 8 requests at once, one request 1 time within 1 minute, requests while 10% of each window of the service is left",
  );
});
