import assert from "node:assert/strict";
import { test } from "node:test";
import { readDigest } from "../../../../src/cli/commands/monitoring/digest/read-digest.ts";
import { renderDigest } from "../../../../src/cli/commands/monitoring/digest/render.ts";
import type { BudgetStatus } from "../../../../src/core/budget/budget-status.ts";
import { UTC_CALENDAR } from "../../../../src/core/ledger/calendar.ts";
import { formatRecord } from "../../../../src/core/ledger/format-record.ts";
import { defaultConfig } from "../../../../src/core/config/config.ts";
import { startDaemonWithUpstream } from "../../../helpers/daemon/daemon-with-upstream.ts";
import { DAY, ledgerWithOutliers } from "../../../helpers/digest/ledger-with-outliers.ts";
import { homeWithLedger } from "../../../helpers/ledger/home-with-ledger.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const LIMIT = { timeout: 300_000 };
const FILES = ledgerWithOutliers();

const BUDGET: BudgetStatus = {
  id: "tool codex: usd per month",
  scope: { kind: "tool", name: "codex" },
  limit: { usd: 300 },
  window: { per: "month" },
  action: "refuse",
  warn: [],
  unpriced: "dearest",
  notify: false,
  amount: "300",
  spent: "212",
  assumed: "0",
  assumedFor: [],
  reserved: "0",
  percent: 70,
  since: "2026-11-01T00:00:00.000Z",
  until: "2026-12-01T00:00:00.000Z",
  opensAt: null,
  perHour: "0",
  spentAt: null,
  isWhole: true,
  isLocked: false,
};

/** Yesterday in UTC, which is the time zone of the homes. */
function yesterday(): string {
  return new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
}

test("a digest says what was used, what is usual, and what is out of line", LIMIT, async (t) => {
  const { stdout, stderr, code } = await homeWithLedger(t, FILES).command("digest", "--day", DAY);
  assert.equal(code, 0, stderr);
  const lines = stdout.trimEnd().split("\n");
  assert.equal(lines[0], `tollkeeper: Saturday ${DAY} (UTC)`);
  assert.match(
    lines[1] ?? "",
    /^Used: \$\d+\.\d\d in \d+ requests with [\d,]+ tokens\. A usual day: \$[\d.]+ in \d+ requests \(median of 28 days with use\)\.$/,
  );
  assert.match(lines[2] ?? "", /^- codex in shop: \$3\d\.\d\d in 2\d\d requests; a usual day: \$[\d.]+$/);
  assert.match(lines[3] ?? "", /^- claude-code in shop: /);
  assert.deepEqual(lines.slice(4, 6), [
    "Budgets: not known, because tollkeeper is not running.",
    "Out of line:",
  ]);
  assert.match(
    lines[6] ?? "",
    /^- codex in shop: one session cost \$31\.00, \d+ times the usual; 97% of it in one agent$/,
  );
  assert.match(
    lines[7] ?? "",
    /^- claude-code in shop: one request at 13:00 cost \$2\.50, \d+ times the usual$/,
  );
  assert.match(
    lines[8] ?? "",
    new RegExp(`^To see the agents of the session: .*usage session planted --since ${DAY}$`),
  );
  assert.equal(lines.length, 9, stdout);
});

test("its sums are those of usage", LIMIT, async (t) => {
  const { command } = homeWithLedger(t, FILES);
  const digest = JSON.parse((await command("digest", "--day", DAY, "--json")).stdout);
  const by = ["--by", "tool,project", "--since", DAY, "--until", DAY, "--json"];
  const usage = JSON.parse((await command("usage", ...by)).stdout);
  const { usual, ...total } = digest.total;
  assert.deepEqual(total, usage.total);
  assert.equal(usual.spans, 28);
  assert.deepEqual(
    digest.rows.map((row: object) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => name !== "usual")),
    ),
    usage.rows,
  );
  assert.deepEqual([digest.since, digest.until], [usage.since, usage.until]);
  const [session, request] = digest.out_of_line;
  assert.deepEqual(
    [session.kind, session.session, session.measure, session.amount, session.compared_with],
    ["session", "planted", "usd", 31, "project"],
  );
  assert.deepEqual(session.mostly, { kind: "agent", share: 0.968 });
  assert.deepEqual([request.kind, request.hour, request.amount], ["request", `${DAY} 13:00`, 2.5]);
});

test("a text has no line that is wider than the terminal, and about 15 lines at most", LIMIT, async (t) => {
  const { directory } = homeWithLedger(t, FILES);
  const since = UTC_CALENDAR.startOf(DAY);
  const period = { since, until: UTC_CALENDAR.startOf(DAY, 1), title: DAY };
  const config = { ...defaultConfig, ledger: { ...defaultConfig.ledger, directory } };
  const digest = await readDigest(config, { span: "day", period, calendar: UTC_CALENDAR, zone: "UTC" });
  for (let width = 60; width <= 240; width += 1) {
    const lines = renderDigest(digest, width).split("\n");
    // A command stays whole, so that it can be pasted.
    for (const line of lines.filter((one) => !one.includes(" usage session ")))
      assert.ok(line.length <= width, `${width}: ${line}`);
    assert.ok(lines.length <= 15, lines.join("\n"));
  }
  assert.match(renderDigest(digest, 60), /\n- .*\n {2}\S/);
  const budgets = [BUDGET, { ...BUDGET, spent: "312.5" }];
  assert.match(
    renderDigest({ ...digest, budgets }, Infinity),
    /\nBudgets: \$88\.00 left of \$300\.00 per month for tool codex; \$12\.50 over \$300\.00 per month for tool codex\.\n/,
  );
});

test("without options it is about yesterday, and an empty day is one line", LIMIT, async (t) => {
  const empty = await homeWithLedger(t, FILES).command("digest");
  assert.equal(empty.code, 0);
  assert.match(
    empty.stdout,
    new RegExp(`^tollkeeper: no usage is recorded for \\w+day ${yesterday()} \\(UTC\\)\\.\n$`),
  );
  const record = usageRecord({
    ts: `${yesterday()}T12:00:00.000Z`,
    tool: "claude-code",
    tokens: tokens({ input_uncached: 1_000_000 }),
  });
  const failed = usageRecord({
    ...record,
    id: "f",
    outcome: "error",
    status: 529,
    tokens: null,
    usage: "none",
  });
  const text = `${formatRecord(record)}\n${formatRecord(failed)}\n`;
  const { stdout } = await homeWithLedger(t, { [`${yesterday()}.ndjson`]: text }).command("digest");
  assert.match(
    stdout,
    /\nUsed: \$1\.25 in 1 request with 1,000,000 tokens\.\n- claude-code: \$1\.25 in 1 request\n/,
  );
  assert.match(
    stdout,
    /\nFailures: 1 failed\.\nToo little is recorded before it to say what is out of line\.\n$/,
  );
});

test("without prices it counts tokens, and what a plan paid is told apart", LIMIT, async (t) => {
  const ts = `${yesterday()}T12:00:00.000Z`;
  const half = tokens({ input_uncached: 500_000 });
  const records = [
    usageRecord({ ts, tool: "zed", model: "house-1", model_requested: "house-1", tokens: half }),
    usageRecord({ ts, tool: "codex", upstream: "plan:openai", tokens: half }),
    usageRecord({ ts, tool: "aider", outcome: "rejected", status: 402, tokens: null, usage: "none" }),
  ];
  const text = records.map((record) => `${formatRecord(record)}\n`).join("");
  const { stdout } = await homeWithLedger(t, { [`${yesterday()}.ndjson`]: text }).command("digest");
  assert.match(stdout, /^- codex: \$0\.625 worth of a plan in 1 request$/m);
  assert.match(stdout, /^- zed: 500,000 tokens \(unpriced\) in 1 request$/m);
  assert.match(stdout, /^- aider: nothing$/m);
  assert.match(stdout, /^Failures: 1 refused by tollkeeper\.$/m);
  assert.match(stdout, /^The cost leaves out what has no known price: house-1 in 1 request\./m);
});

test("a week is Monday to Sunday", LIMIT, async (t) => {
  const { stdout } = await homeWithLedger(t, FILES).command("digest", "--weekly", "--json");
  const { span, since, until } = JSON.parse(stdout) as Record<string, string>;
  const [monday, next] = [new Date(since ?? ""), new Date(until ?? "")];
  assert.deepEqual([span, monday.getUTCDay(), next.getUTCDay()], ["week", 1, 1]);
  assert.equal(next.getTime() - monday.getTime(), 7 * 86_400_000);
  assert.ok(next.getTime() <= Date.now());
});

test("a day that is not over, and options that exclude each other, are wrong usage", LIMIT, async (t) => {
  const { command } = homeWithLedger(t, {});
  for (const args of [
    ["--day", new Date().toISOString().slice(0, 10)],
    ["--day", "2026-11"],
    ["--day", DAY, "--weekly"],
    ["--day", DAY, "--today"],
    ["--weekly", "--today"],
  ]) {
    const { code, stdout, stderr } = await command("digest", ...args);
    assert.deepEqual([code, stdout], [2, ""], stderr);
  }
});

test("today so far is judged by the days before it, and each item says what to type", LIMIT, async (t) => {
  const today = new Date().toISOString().slice(0, 10);
  const { command } = homeWithLedger(t, endingOn(FILES, today));
  const { stdout } = await command("digest", "--today");
  assert.match(stdout, new RegExp(`^tollkeeper: \\w+day ${today} so far \\(UTC\\)\n`));
  const document = JSON.parse((await command("digest", "--today", "--json")).stdout) as {
    until: string | null;
    out_of_line: { kind: string; text: string; command: string; request: string | null }[];
  };
  assert.equal(document.until, null);
  const [session, request] = document.out_of_line;
  assert.match(
    session?.text ?? "",
    /^codex in shop: one session cost \$3\d\.\d\d, \d+ times the usual; \d+% of it in one agent$/,
  );
  assert.equal(session?.command, `tollkeeper usage session planted --since ${today}`);
  assert.equal(request?.command, `tollkeeper explain ${request?.request ?? ""}`);
  for (const { text } of document.out_of_line) assert.ok(stdout.includes(`\n- ${text}\n`), text);
});

/** Returns the files of a ledger as if its last day were another one. */
function endingOn(files: Readonly<Record<string, string>>, day: string): Record<string, string> {
  const shift = Date.parse(day) - Date.parse(DAY);
  const moved = (date: string) => new Date(Date.parse(date) + shift).toISOString().slice(0, 10);
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => {
      const date = name.slice(0, "YYYY-MM-DD".length);
      return [`${moved(date)}.ndjson`, text.replaceAll(`"ts":"${date}`, `"ts":"${moved(date)}`)];
    }),
  );
}

test("what is left of the month's budgets is asked of the daemon", LIMIT, async (t) => {
  const config = {
    budgets: [
      { usd: 300, per: "month" },
      { usd: 20, per: "day" },
    ],
  };
  const { daemon } = await startDaemonWithUpstream(t, undefined, { config });
  const { stdout } = await daemon.command("digest", "--json");
  const { budgets } = JSON.parse(stdout) as { budgets: { id: string }[] };
  assert.deepEqual(
    budgets.map(({ id }) => id),
    ["all: usd per month"],
  );
});
