// A day with two windows, three tools and another device: what limits, the status line and the dashboard show at twelve moments, beside what
// the service had counted at that moment.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Choice } from "../../src/core/decide/choose-upstream.ts";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { zonedCalendar } from "../../src/core/ledger/calendar.ts";
import {
  describeLimit,
  fullestWindow,
  summariseLimits,
  summariseWindow,
} from "../../src/core/limits/describe-limits.ts";
import { toSnakeCase } from "../../src/core/text/snake-case.ts";
import { DaemonLimits } from "../../src/daemon/limits.ts";
import type { Status } from "../../src/local/dashboard/page/feed-types.ts";
import { limitMeters } from "../../src/local/dashboard/page/meters/limit-meters.ts";
import { ManualClock, MemoryLog } from "../helpers/gate/memory.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

const UTC = zonedCalendar("UTC");

function at(clock: string): number {
  return Date.parse(`2026-11-29T${clock}:00.000Z`);
}

/** What a service counts of its two windows, in percent. */
interface Truth {
  fiveHours: number;
  week: number;
}

/** What a response said, to which tool. */
interface Answer extends Truth {
  time: string;
  tool: string;
  /** When the windows reset. */
  resets: [fiveHours: string, week: string];
}

/** The tools share the account of a plan. */
const ANSWERS: readonly Answer[] = [
  { time: "08:29", tool: "nightly", fiveHours: 40, week: 30, resets: ["09:00", "18:00"] },
  { time: "09:15", tool: "claude-code", fiveHours: 5, week: 31, resets: ["14:15", "18:00"] },
  { time: "10:50", tool: "zed", fiveHours: 48, week: 35, resets: ["14:15", "18:00"] },
  // In the meantime another device has used 12% of the window.
  { time: "11:45", tool: "claude-code", fiveHours: 62, week: 37, resets: ["14:15", "18:00"] },
  // At 12:20 the service has reset the window early.
  { time: "12:35", tool: "zed", fiveHours: 3, week: 38, resets: ["17:35", "18:00"] },
  { time: "15:58", tool: "nightly", fiveHours: 97, week: 52, resets: ["17:35", "18:00"] },
];

/** What is shown of a moment. */
interface Moment {
  time: string;
  truth: Truth;
  /** Why what is shown is not the truth; null where it is. */
  differs: string | null;
  limits: string[];
  limit: string;
  all: string;
  dashboard: string[];
}

const MOMENTS: readonly Moment[] = [
  {
    time: "08:00",
    truth: { fiveHours: 38, week: 29 },
    differs: "nothing has passed",
    limits: [],
    limit: "",
    all: "",
    dashboard: [],
  },
  {
    time: "08:30",
    truth: { fiveHours: 40, week: 30 },
    differs: null,
    limits: [
      "40% of the 5-hour window, from the answer 1 min ago, resets at 09:00",
      "30% of the 7-day window, from the answer 1 min ago, resets at 18:00",
    ],
    limit: "5h 40%",
    all: "plan:claude 5h 40%, 7d 30%",
    dashboard: ["Claude plan, 5-hour window 40%", "Claude plan, 7-day window 30%"],
  },
  {
    time: "09:00",
    truth: { fiveHours: 0, week: 30 },
    differs: null,
    limits: [
      "30% of the 7-day window, from the answer 31 min ago, resets at 18:00",
      "the 5-hour window: reset at 09:00, not seen since",
    ],
    limit: "7d 30%",
    all: "plan:claude 7d 30%",
    dashboard: ["Claude plan, 7-day window 30%"],
  },
  {
    time: "09:20",
    truth: { fiveHours: 5, week: 31 },
    differs: null,
    limits: [
      "31% of the 7-day window, from the answer 5 min ago, resets at 18:00",
      "5% of the 5-hour window, from the answer 5 min ago, resets at 14:15",
    ],
    limit: "7d 31%",
    all: "plan:claude 7d 31%, 5h 5%",
    dashboard: ["Claude plan, 7-day window 31%", "Claude plan, 5-hour window 5%"],
  },
  {
    time: "11:00",
    truth: { fiveHours: 48, week: 35 },
    differs: null,
    limits: [
      "48% of the 5-hour window, from the answer 10 min ago, resets at 14:15",
      "35% of the 7-day window, from the answer 10 min ago, resets at 18:00",
    ],
    limit: "5h 48%",
    all: "plan:claude 5h 48%, 7d 35%",
    dashboard: ["Claude plan, 5-hour window 48%", "Claude plan, 7-day window 35%"],
  },
  {
    time: "11:30",
    truth: { fiveHours: 60, week: 36.5 },
    differs: "another device",
    limits: [
      "48% of the 5-hour window, from the answer 40 min ago, resets at 14:15",
      "35% of the 7-day window, from the answer 40 min ago, resets at 18:00",
    ],
    limit: "5h 48%",
    all: "plan:claude 5h 48%, 7d 35%",
    dashboard: ["Claude plan, 5-hour window 48%", "Claude plan, 7-day window 35%"],
  },
  {
    time: "11:45",
    truth: { fiveHours: 62, week: 37 },
    differs: null,
    limits: [
      "62% of the 5-hour window, from the answer just now, resets at 14:15",
      "37% of the 7-day window, from the answer just now, resets at 18:00",
    ],
    limit: "5h 62%",
    all: "plan:claude 5h 62%, 7d 37%",
    dashboard: ["Claude plan, 5-hour window 62%", "Claude plan, 7-day window 37%"],
  },
  {
    time: "12:30",
    truth: { fiveHours: 0, week: 37 },
    differs: "reset early",
    limits: [
      "62% of the 5-hour window, from the answer 45 min ago, resets at 14:15",
      "37% of the 7-day window, from the answer 45 min ago, resets at 18:00",
    ],
    limit: "5h 62%",
    all: "plan:claude 5h 62%, 7d 37%",
    dashboard: ["Claude plan, 5-hour window 62%", "Claude plan, 7-day window 37%"],
  },
  {
    time: "12:40",
    truth: { fiveHours: 3, week: 38 },
    differs: null,
    limits: [
      "38% of the 7-day window, from the answer 5 min ago, resets at 18:00",
      "3% of the 5-hour window, from the answer 5 min ago, resets at 17:35",
    ],
    limit: "7d 38%",
    all: "plan:claude 7d 38%, 5h 3%",
    dashboard: ["Claude plan, 7-day window 38%", "Claude plan, 5-hour window 3%"],
  },
  {
    time: "16:00",
    truth: { fiveHours: 97, week: 52 },
    differs: null,
    limits: [
      "97% of the 5-hour window, from the answer 2 min ago, resets at 17:35",
      "52% of the 7-day window, from the answer 2 min ago, resets at 18:00",
    ],
    limit: "5h 97%",
    all: "plan:claude 5h 97%, 7d 52%",
    dashboard: ["Claude plan, 5-hour window 97% warning", "Claude plan, 7-day window 52%"],
  },
  {
    time: "17:40",
    truth: { fiveHours: 0, week: 52 },
    differs: null,
    limits: [
      "52% of the 7-day window, from the answer 1 h ago, resets at 18:00",
      "the 5-hour window: reset at 17:35, not seen since",
    ],
    limit: "7d 52%",
    all: "plan:claude 7d 52%",
    dashboard: ["Claude plan, 7-day window 52%"],
  },
  {
    time: "18:30",
    truth: { fiveHours: 0, week: 0 },
    differs: null,
    limits: [
      "the 5-hour window: reset at 17:35, not seen since",
      "the 7-day window: reset at 18:00, not seen since",
    ],
    limit: "",
    all: "",
    dashboard: [],
  },
];

function headersOf({ fiveHours, week, resets }: Answer): HeaderIndex {
  const windows = { "5h": [fiveHours, resets[0]], "7d": [week, resets[1]] } as const;
  return new HeaderIndex(
    Object.entries(windows).flatMap(([name, [percent, reset]]) => [
      `anthropic-ratelimit-unified-${name}-utilization`,
      String(percent / 100),
      `anthropic-ratelimit-unified-${name}-reset`,
      String(at(reset) / 1000),
    ]),
  );
}

/** The account is that of the plan, whichever tool asks. */
const FROM = {
  upstream: { name: "plan:claude", recordedAs: "plan:claude", key: "plan:claude" },
  key: { name: "plan:claude" },
} as unknown as Choice;

test("what is shown of a day's limits is the truth, or says how old it is", (t) => {
  const clock = new ManualClock();
  const warned: string[] = [];
  const limits = new DaemonLimits({
    path: join(scratchDirectory(t), "limits.json"),
    clock,
    log: new MemoryLog(),
    warn: (notice) => void warned.push(notice.replace(/; it resets .*$/, "")),
  });
  t.after(() => limits.close());
  const answers = [...ANSWERS];
  for (const { time, truth, differs, ...shown } of MOMENTS) {
    for (let next = answers[0]; next !== undefined && next.time <= time; next = answers[0]) {
      clock.wallMs = at(next.time);
      limits.sawResponse(FROM, 200, headersOf(next));
      answers.shift();
    }
    clock.wallMs = at(time);
    const accounts = limits.describe();
    const fullest = fullestWindow(accounts);
    const meters = limitMeters({ limits: toSnakeCase(accounts) as Status["limits"], holds: [] });
    assert.deepEqual(
      {
        limits: accounts.flatMap(({ windows }) => windows.map((one) => describeLimit(one, at(time), UTC))),
        limit: fullest === null ? "" : summariseWindow(fullest),
        all: summariseLimits(accounts),
        dashboard: meters.map(({ name, percent, tone }) =>
          `${name.replace("plan:claude: ", "")} ${percent}% ${tone}`.trim(),
        ),
      },
      shown,
      time,
    );
    // A window that has reset has nothing used, and nothing is shown of it.
    const used = new Map(
      accounts.flatMap(({ windows }) =>
        windows.map(({ window, state, usedPercent }) => [window, state === "reset" ? 0 : usedPercent]),
      ),
    );
    const isTrue = used.get("5h") === truth.fiveHours && used.get("7d") === truth.week;
    assert.equal(isTrue, differs === null, `${time}: ${differs ?? "the truth"}`);
  }
  assert.deepEqual(warned, ["plan:claude has used 97% of the 5-hour window"]);
});
