import assert from "node:assert/strict";
import { test } from "node:test";
import type { Finding } from "../../../src/core/digest/out-of-line.ts";
import { HABITS } from "../../helpers/digest/habits.ts";
import { findOn, hourName, makeUp, type MadeUpRequest } from "../../helpers/digest/made-up-ledger.ts";
import { assertQuiet } from "../../helpers/digest/quiet-ledgers.ts";

const PLANTED_ON = 43;

// Every day is judged in out-of-line-every-day.test.ts.
test("ledgers in which nothing is out of line have fewer than one finding a week, by every fourth day", () => {
  assertQuiet(4);
});

const PLACE = { tool: "codex", project: "/home/u/shop", session: "planted", agent: null };
const HOUR = hourName(PLANTED_ON, 20);

/** Requests that are all the same. */
function repeat(count: number, usd: number, changes: Partial<MadeUpRequest> = {}): MadeUpRequest[] {
  const one = { ...PLACE, hour: HOUR, usd, tokens: Math.round(usd * 500_000), ...changes };
  return Array.from({ length: count }, () => ({ ...one }));
}

interface Planted {
  requests: MadeUpRequest[];
  /** What has to be found. */
  isIt(finding: Finding): boolean;
  /** Without prices. */
  isUnpriced?: boolean;
}

/** A usual session of this ledger costs about a dollar, in 25 requests; an hour about two. */
const PLANTED: Readonly<Record<string, Planted>> = {
  "a session that costs ten times as much": {
    requests: [13, 14, 15, 16, 17].flatMap((hour) => repeat(54, 0.04, { hour: hourName(PLANTED_ON, hour) })),
    isIt: ({ kind, session, times }) => kind === "session" && session === "planted" && times > 7,
  },
  "a request every three seconds for an hour": {
    requests: repeat(1200, 0.006),
    isIt: ({ session, hour }) => session === "planted" || hour === HOUR,
  },
  "such a loop of a tool that sends no session": {
    requests: repeat(1200, 0.006, { session: null }),
    isIt: ({ kind, hour, measure, amount }) =>
      kind === "hour" && hour === HOUR && (measure === "usd" || amount >= 1200),
  },
  "a request with a huge prompt": {
    requests: repeat(1, 3),
    isIt: ({ kind, session, mostly }) =>
      session === "planted" && (kind === "request" || mostly?.kind === "request"),
  },
  "an agent that costs most of a session": {
    requests: [...repeat(20, 0.04), ...repeat(150, 0.06, { agent: "a1" })],
    isIt: ({ session, agent, mostly }) =>
      session === "planted" && (agent === "a1" || (mostly?.kind === "agent" && mostly.share > 0.8)),
  },
  "an hour with thirty usual sessions": {
    requests: Array.from({ length: 30 }, (_, at) => repeat(25, 0.04, { session: `many-${at}` })).flat(),
    isIt: ({ kind, hour }) => kind === "hour" && hour === HOUR,
  },
  "a session of ten times as many tokens, where nothing has a price": {
    requests: repeat(270, 0.04),
    isUnpriced: true,
    isIt: ({ session, measure }) => session === "planted" && measure === "tokens",
  },
  "a session in a project that was never used before": {
    requests: repeat(900, 0.05, { project: "/home/u/site" }),
    isIt: ({ session, usual }) => session === "planted" && usual.of === "tool",
  },
};

for (const [name, { requests, isIt, isUnpriced = false }] of Object.entries(PLANTED))
  test(`found: ${name}`, () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const days = makeUp(seed, HABITS["one tool in one project"] ?? [], PLANTED_ON + 1);
      days[PLANTED_ON]?.push(...requests);
      const priced = isUnpriced ? days.map((day) => day.map((one) => ({ ...one, usd: 0 }))) : days;
      const found = findOn(priced, PLANTED_ON);
      assert.ok(found.some(isIt), `seed ${seed}: ${JSON.stringify(found)}`);
      assert.ok(found.length <= 2, `it is said once: ${JSON.stringify(found)}`);
    }
  });

test("cents are never out of line", () => {
  const habits = [
    { tool: "codex", project: "/home/u/shop", sessions: 6, requests: 25, usd: 0.0004, spread: 0.5 },
  ];
  const days = makeUp(1, habits, PLANTED_ON + 1);
  days[PLANTED_ON]?.push(...repeat(25, 0.04));
  assert.deepEqual(findOn(days, PLANTED_ON), []);
});

test("without a past nothing is out of line", () => {
  const days = makeUp(1, HABITS["one tool in one project"] ?? [], 1);
  days[0]?.push(...repeat(500, 1));
  assert.deepEqual(findOn(days, 0), []);
});
