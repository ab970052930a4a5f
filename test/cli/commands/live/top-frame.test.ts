import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { renderTop, type TopState } from "../../../../src/cli/commands/live/top-frame.ts";
import { RecentActivity } from "../../../../src/core/ledger/recent-activity.ts";
import { describeRunning } from "../../../../src/core/ledger/running-request.ts";
import { PRICES } from "../../../helpers/ledger/priced-record.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const NOW = Date.parse("2026-11-24T12:00:00Z");

function record(id: number, tool: string, fields: object = {}) {
  return usageRecord({
    id: String(id),
    tool,
    upstream: "anthropic",
    model: "claude-sonnet-5",
    ts: new Date(NOW - 30_000).toISOString(),
    duration_ms: 1_000,
    tokens: tokens({ input_uncached: 1_000 * id, output: 600 }),
    ...fields,
  });
}

const WINDOW = { state: "seen", limit: null, remaining: null, resetsAt: null, seenAt: "2026-11-24" } as const;
const LIMITS = [
  {
    account: "anthropic",
    windows: [
      { ...WINDOW, window: "5h", usedPercent: 82 },
      { ...WINDOW, window: "7d", usedPercent: 31 },
    ],
  },
];

const NOTICE =
  "out of line: codex in shop: one session cost $31.35, 46 times the usual; 94% of it in one agent; for more, type: tollkeeper usage session 0199-4c1e --since 2026-11-28";

function state(changes: Partial<TopState> = {}, toolNames = ["aider", "codex", "zed"]): TopState {
  const activity = new RecentActivity(PRICES);
  toolNames.forEach((tool, at) => activity.add(record(at + 1, tool)));
  const running = [describeRunning(record(99, "codex", { ttft_ms: null, bytes_out: 2_500_000 }))];
  return {
    address: "127.0.0.1:8655",
    now: NOW,
    ...activity.summarise(NOW, running),
    running,
    runningTotal: running.length,
    limits: [],
    notice: null,
    sorting: "cost",
    filter: "",
    footer: "q: quit",
    isWrong: false,
    ...changes,
  };
}

const toolsOf = (lines: readonly string[]) =>
  lines
    .slice(4)
    .map((line) => line.split(" ")[0] ?? "")
    .filter((word) => ["aider", "codex", "zed"].includes(word));

/** What the head says of all tools together. */
function headOf(columns: number): string | undefined {
  return renderTop(state(), { columns, rows: 20, isColoured: false })[1];
}

test("where there is no room for all, the head says what runs and what it costs, not the rates", () => {
  assert.match(headOf(80) ?? "", /^1 running, 3 requests\/min, 30 tokens\/s out, \S+ in the last hour$/);
  assert.match(headOf(60) ?? "", /^1 running, 3 requests\/min, \S+ in the last hour$/);
  assert.match(headOf(40) ?? "", /^1 running, \S+ in the last hour$/);
});

for (const [columns, rows] of [
  [200, 60],
  [80, 24],
  [60, 15],
  [30, 8],
  [10, 3],
] as const) {
  test(`the screen fills a terminal of ${columns} x ${rows}, and no line is too long`, () => {
    const many = Array.from({ length: 40 }, (_, at) => `tool-${at}`);
    for (const shown of [
      state(),
      state({ limits: LIMITS }),
      state({ limits: LIMITS, notice: NOTICE }),
      state({}, many),
      state({ running: [], runningTotal: 0 }, []),
    ]) {
      const lines = renderTop(shown, { columns, rows, isColoured: true });
      assert.equal(lines.length, rows);
      for (const line of lines) assert.ok(stripVTControlCharacters(line).length <= columns, line);
      assert.equal(stripVTControlCharacters(lines.at(-1) ?? ""), "q: quit".slice(0, columns));
    }
  });
}

test("tools are sorted as the person chooses, and filtered by name", () => {
  const view = { columns: 120, rows: 24, isColoured: false };
  const shown = (changes: Partial<TopState>) => toolsOf(renderTop(state({ running: [], ...changes }), view));
  assert.deepEqual(shown({ sorting: "cost" }), ["zed", "codex", "aider"]);
  assert.deepEqual(shown({ sorting: "running" }), ["codex", "aider", "zed"]);
  assert.deepEqual(shown({ sorting: "name" }), ["aider", "codex", "zed"]);
  assert.deepEqual(shown({ filter: "ze" }), ["zed"]);
});

test("tools that do not fit are counted, and a running request says how long and how much", () => {
  const many = Array.from({ length: 40 }, (_, at) => `tool-${at}`);
  const lines = renderTop(state({}, many), { columns: 100, rows: 20, isColoured: false });
  assert.ok(
    lines.some((line) => /^and \d+ more tools$/.test(line)),
    lines.join("\n"),
  );
  assert.ok(
    lines.some((line) => /^codex .* 2\.5 MB {2}waiting$/.test(line)),
    lines.join("\n"),
  );
});

test("a line says with bars how much of the services' limits is used, the fullest in yellow; without any there is none", () => {
  const view = { columns: 80, rows: 24, isColoured: true };
  assert.ok(
    renderTop(state({ limits: LIMITS }), view).includes(
      "limits used: anthropic \u001b[33m5h ████████░░ 82%\u001b[0m, 7d ███░░░░░░░ 31%",
    ),
  );
  assert.ok(!renderTop(state(), view).some((line) => line.includes("limits")));
});

test("a notice stands above the tools, with its command on a line of its own", () => {
  const lines = renderTop(state({ notice: NOTICE }), { columns: 80, rows: 24, isColoured: false });
  assert.deepEqual(lines.slice(2, 4), [
    "out of line: codex in shop: one session cost $31.35, 46 times the usual; 94% of",
    "it in one agent; for more, type:",
  ]);
  assert.match(lines[4] ?? "", / usage session 0199/);
  const low = renderTop(state({ notice: NOTICE }), { columns: 80, rows: 12, isColoured: false });
  assert.ok(!low.some((line) => line.includes("out of line")));
});

test("at 80 columns a running request is whole, with its agent where one has any", () => {
  const view = { columns: 80, rows: 24, isColoured: false };
  const agent = describeRunning(record(98, "claude-code", { agent_kind: "compaction", ttft_ms: 300 }));
  const lines = renderTop(state({ running: [agent], runningTotal: 1 }), view);
  assert.ok(
    lines.some((line) => /^claude-code +compaction +claude-sonnet-5 .* streaming$/.test(line)),
    lines.join("\n"),
  );
  assert.ok(!renderTop(state(), view).some((line) => line.includes("agent")));
});

test("names cannot control the terminal", () => {
  const evil = "\u001b[2J\u202eevil\n";
  const hostile = describeRunning(record(7, evil, { model: evil.repeat(1_000) }));
  const lines = renderTop(state({ running: [hostile], runningTotal: 1 }, [evil]), {
    columns: 100,
    rows: 24,
    isColoured: false,
  });
  for (const line of lines) {
    assert.ok(line.length <= 100);
    assert.doesNotMatch(line, /[\p{Cc}\p{Bidi_Control}]/u);
  }
});

const rowsAt = (columns: number, shown: TopState) =>
  renderTop(shown, { columns, rows: 24, isColoured: false }).slice(4, 7);

test("the column that tools are sorted by is marked, and each has its share of the cost and its last hour", () => {
  const head = (sorting: TopState["sorting"], columns: number) =>
    renderTop(state({ sorting }), { columns, rows: 24, isColoured: false })[3] ?? "";
  assert.match(head("cost", 60), /cost\/h↓$/);
  assert.match(head("cost", 80), /last hour +cost\/h↓ {2}share$/);
  assert.match(head("requests", 80), /requests\/h↓/);
  assert.match(head("name", 80), /^tool↓ /);
  assert.match(rowsAt(160, state())[0] ?? "", / {2}\d+% {2}█+░*$/);
  const activity = new RecentActivity(PRICES);
  const at = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();
  for (let id = 1; id <= 8; id += 1) activity.add(record(id, "zed", { ts: at(58) }));
  activity.add(record(9, "zed"));
  activity.add(record(10, "codex", { ts: at(28) }));
  const rows = rowsAt(80, state({ ...activity.summarise(NOW, []), sorting: "name" }));
  assert.match(rows[0] ?? "", /^codex.* {10}▁ {5}/);
  assert.match(rows[1] ?? "", /^zed .* █ {10}▁ /);
});

test("a name takes the room that is free before it is cut, and a long run has minutes", () => {
  const long = describeRunning(
    record(98, "a-tool-with-a-very-long-name", {
      ts: new Date(NOW - 45 * 60_000).toISOString(),
      duration_ms: 45 * 60_000,
    }),
  );
  const lines = renderTop(state({ running: [long], runningTotal: 1 }), {
    columns: 120,
    rows: 24,
    isColoured: false,
  });
  const row = lines.find((line) => line.includes("45 min")) ?? lines.join("\n");
  assert.match(row, /^a-tool-with-a-very-long-name +claude-sonnet-5 /);
});
