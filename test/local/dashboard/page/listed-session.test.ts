import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { PricedRecord, Row } from "../../../../src/local/dashboard/page/feed-types.ts";
import { isFound, listSessions } from "../../../../src/local/dashboard/page/sessions/listed-session.ts";
import { nameProject, tellPathsApart } from "../../../../src/local/dashboard/page/project-names.ts";
import { formatLastUsed, formatLength } from "../../../../src/local/dashboard/page/sessions/session-words.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";

/** A row of a report with its names, of so many requests. */
function row(names: object, requests = 1): Row {
  return { ...names, requests, failed: 0 } as unknown as Row;
}

function record(ts: string, changes: object = {}): PricedRecord {
  return { ...usageRecord({ ts, session: "one", tool: "codex", ...changes }) } as unknown as PricedRecord;
}

const DAYS = ["2026-11-18", "2026-11-20"].map((day) => row({ session: "one", day }));
const ROWS = {
  tools: [row({ session: "one", tool: "codex" }, 2), row({ session: "one", tool: "zed" })],
  places: [
    ...DAYS,
    row({ session: "one", project: "/src/shop", branch: "main" }),
    row({ session: "one", project: "/src/shop", branch: null }),
    row({ session: "one", project: null, branch: "main" }),
  ],
  hours: [] as Row[],
};

test("a session has its names, its last time, and its length where all of its requests are known", () => {
  const records = [record("2026-11-20T10:30:00"), record("2026-11-20T10:18:00")];
  const [codex, zed] = listSessions(ROWS, records);
  assert.deepEqual(codex?.projects, ["/src/shop"]);
  assert.deepEqual(codex.branches, ["main"]);
  assert.equal(codex.lastUsed, "2026-11-20 10:30:00");
  assert.equal(codex.lasted, 12 * 60_000);
  // Of the other tool, only the days of the session are known.
  assert.equal(zed?.lastUsed, "2026-11-20");
  assert.equal(formatLength(zed.lasted ?? 0), "3 days");
});

test("a session's length is not told where a request of it is not known and it had one day", () => {
  const [codex] = listSessions({ ...ROWS, places: DAYS.slice(1) }, [record("2026-11-20T10:30:00")]);
  assert.equal(codex?.lastUsed, "2026-11-20 10:30:00");
  assert.equal(codex.lasted, null);
});

/** Rows of the session in these hours. */
function inHours(...hours: string[]): Row[] {
  return hours.map((hour) => row({ session: "one", hour }));
}

for (const [what, known, expected] of [
  ["in one hour", { hours: inHours("2026-11-18 14:00") }, ["2026-11-18 14:00", 1]],
  ["in several hours", { hours: inHours("2026-11-18 14:00", "2026-11-18 16:00") }, ["2026-11-18 16:00", 3]],
  [
    "on two days",
    { days: DAYS, hours: inHours("2026-11-18 23:00", "2026-11-20 00:00") },
    ["2026-11-20 00:00", 26],
  ],
  // Its first hours are not known, but its first day.
  [
    "from before the known hours",
    { days: DAYS, hours: inHours("2026-11-20 14:00") },
    ["2026-11-20 14:00", 72],
  ],
  [
    "until a known time",
    { hours: inHours("2026-11-20 09:00", "2026-11-20 10:00"), records: [record("2026-11-20T10:30:00")] },
    ["2026-11-20 10:30:00", 1.5],
  ],
] as const)
  test(`a session ${what} has them as its time, and the length that they have room for`, () => {
    const {
      hours,
      days = [],
      records = [],
    } = known as {
      hours: Row[];
      days?: Row[];
      records?: PricedRecord[];
    };
    const [codex] = listSessions({ ...ROWS, places: days, hours }, records);
    assert.equal(codex?.lastUsed, expected[0]);
    assert.equal((codex.lasted ?? 0) / (60 * 60_000), expected[1]);
    assert.equal(codex.isLastedMost, !what.startsWith("from before"));
  });

/** Requests of a model in an hour of the session. */
function used(model: string, requests: number, paid: object): Row {
  return row({ session: "one", hour: "2026-11-18 14:00", model, ...paid }, requests);
}

test("a session has its models, the dearest first, whoever paid; where no cost is known, that of the most requests", () => {
  for (const [hours, expected] of [
    [
      [used("small", 9, { cost_usd: "0.10" }), used("large", 1, { cost_usd: "1.9" })],
      ["large", "small"],
    ],
    // Each hour has a row of its own.
    [
      [used("a", 1, { cost_usd: "0.6" }), used("b", 1, { cost_usd: "1" }), used("a", 1, { cost_usd: "0.6" })],
      ["a", "b"],
    ],
    [
      [
        used("small", 9, { cost_usd: "0", plan_worth_usd: "0.10" }),
        used("large", 1, { cost_usd: "0", plan_worth_usd: "1.9" }),
      ],
      ["large", "small"],
    ],
    [
      [used("small", 2, { cost_usd: null }), used("large", 1, { cost_usd: null })],
      ["small", "large"],
    ],
    [[row({ session: "one", hour: "2026-11-18 14:00", model: null })], []],
  ] as const) {
    const [codex] = listSessions({ ...ROWS, hours }, []);
    assert.deepEqual(codex?.models, expected);
    assert.equal(isFound(codex, "codex LARGE"), expected.includes("large" as never));
  }
});

test("an hour is said as one, a time to the minute, and a day alone has none", () => {
  const time = new Intl.DateTimeFormat(undefined, { hour: "numeric" });
  const hour = time.formatRange(new Date("2026-11-18T14:00"), new Date("2026-11-18T15:00"));
  assert.equal(formatLastUsed("2026-11-18 14:00")[1], hour);
  const last = [23, 0].map((at) => time.format(new Date(2026, 10, 18, at)));
  assert.equal(formatLastUsed("2026-11-18 23:00")[1], last.join(" – "));
  assert.match(formatLastUsed("2026-11-18 14:00:09")[1], /:00/);
  assert.equal(formatLastUsed("2026-11-18")[1], "");
});

for (const [search, isMeant] of [
  ["", true],
  [" ", true],
  ["SHOP", true],
  ["main  codex", true],
  ["one", true],
  ["shop zed", false],
  ["shopmain", false],
] as const)
  test(`"${search}" finds ${isMeant ? "the session" : "nothing"}`, () => {
    const [codex] = listSessions(ROWS, []);
    assert.ok(codex !== undefined);
    assert.equal(isFound(codex, search), isMeant);
  });

test("paths are told apart by as few of their last parts as that takes", () => {
  const paths = ["/home/me/src/shop", "/home/me/client/shop", "/home/me/notes", "/", "/shop"];
  assert.deepEqual(
    [...tellPathsApart(paths)],
    [
      ["/home/me/src/shop", "src/shop"],
      ["/home/me/client/shop", "client/shop"],
      ["/home/me/notes", "notes"],
      ["/", "/"],
      ["/shop", "/shop"],
    ],
  );
});

test("no two paths have the same name", () => {
  const path = fc
    .array(fc.constantFrom("a", "b", "c"), { maxLength: 4 })
    .map((parts) => `/${parts.join("/")}`);
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 12 }), (paths) => {
      assert.equal(new Set(tellPathsApart(paths).values()).size, paths.length);
    }),
  );
});

for (const [ms, text] of [
  [9_000, "9 sec"],
  [12 * 60_000, "12 min"],
  [60 * 60_000, "1 hr"],
  [185 * 60_000, "3 hr, 5 min"],
  [72 * 60 * 60_000, "3 days"],
] as const)
  test(`${ms} ms are ${text}`, () => assert.equal(formatLength(ms), text));

test("a project keeps telling itself apart from one that was met before", () => {
  assert.equal(nameProject("/home/ana/one/till"), "till");
  assert.equal(nameProject("/home/ana/two/till"), "two/till");
  assert.equal(nameProject("/home/ana/one/till"), "one/till");
});
