import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { homeWithLedger } from "../../../helpers/ledger/home-with-ledger.ts";
import { homeToReconcile, withLedger } from "../../../helpers/ledger/home-to-reconcile.ts";
import { extraTokens, tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const HEADER =
  "usage_date_utc,model_version,api_key,usage_input_tokens_no_cache,usage_input_tokens_cache_read,usage_output_tokens";
const csv = (...rows: string[]) => [HEADER, ...rows].join("\n");
const at = (ts: string, changes: Partial<UsageRecord> = {}) =>
  usageRecord({ ts, upstream: "anthropic", model: "claude-opus-5", ...changes });

const MORNING = at("2026-11-20T09:00:00.000Z", {
  tokens: tokens({ input_uncached: 10, cache_read: 100, output: 5 }),
});
const NIGHT = at("2026-11-20T23:30:00.000Z", { tokens: tokens({ input_uncached: 1, output: 1 }) });
const NEXT = at("2026-11-21T12:00:00.000Z", { tokens: tokens({ input_uncached: 7, output: 2 }) });

test("ledger reconcile finds that an export matches, model by model and day by day", async (t) => {
  const compaction = extraTokens({
    type: "compaction",
    model: null,
    billable: true,
    input_uncached: 4,
    output: 3,
  });
  const reconcile = withLedger(t, [
    MORNING,
    NIGHT,
    NIGHT,
    at("2026-11-21T12:00:00.000Z", { tokens: NEXT.tokens, extra: [compaction] }),
    at("2026-11-21T13:00:00.000Z", {
      outcome: "error",
      status: 429,
      usage: "absent",
      tokens: null,
      spend: "never",
    }),
    // Neither is the service's.
    at("2026-11-20T10:00:00.000Z", { upstream: "sandbox" }),
    at("2026-11-20T10:00:00.000Z", { upstream: "openai", model: "gpt-5.5" }),
    at("2026-11-23T10:00:00.000Z"),
  ]);
  const { code, stdout } = await reconcile(
    csv("2026-11-20,claude-opus-5,laptop,11,100,6", "2026-11-21,claude-opus-5,laptop,11,0,5"),
  );
  assert.match(
    stdout,
    /export\.csv: Anthropic's usage \(CSV of the console\), 2 rows, 2026-11-20 to 2026-11-21 \(UTC\)\nCompared with: anthropic\n\nBy day and model, 2 of 2 match\.\n$/,
  );
  assert.equal(code, 0);
});

test("ledger reconcile says what differs by how much, and that the service has requests of another key or machine", async (t) => {
  const { reconcile, type } = homeToReconcile(t, [MORNING, NEXT]);
  const { code, stdout } = await reconcile(
    csv(
      "2026-11-20,claude-opus-5,laptop,1010,150,5",
      "2026-11-21,claude-opus-5,laptop,7,0,2",
      "2026-11-21,claude-haiku-5,laptop,3,0,1",
    ),
  );
  assert.equal(code, 1);
  assert.deepEqual(
    stdout
      .replaceAll(/ --config \S+/g, "")
      .split("\n")
      .slice(3),
    [
      "By day and model, 1 of 3 match.",
      "",
      "day         model           what        service  ledger  difference",
      "2026-11-20  claude-opus-5   input         1,160     110      +1,050",
      "2026-11-20  claude-opus-5   cache read      150     100         +50",
      "2026-11-21  claude-haiku-5  input             3       0          +3",
      "2026-11-21  claude-haiku-5  output            1       0          +1",
      "",
      "Likely reasons:",
      "- tollkeeper saw nothing of claude-haiku-5 on 2026-11-21: another machine, another key, or a tool that is not connected. Type:",
      "  tollkeeper connect --list",
      "- the service has more than the ledger of claude-opus-5 on 2026-11-20: other machines, or tools that are not connected. Type:",
      "  tollkeeper connect --list",
      "",
    ],
  );
  assert.match(type(stdout).stdout, /claude-code/);
});

test("ledger reconcile finds the time zone of an export's days, and counts in it when told", async (t) => {
  const { reconcile, type } = homeToReconcile(t, [MORNING, NIGHT, NEXT]);
  // In Berlin the night is of the 21st.
  const text = csv("2026-11-20,claude-opus-5,laptop,10,100,5", "2026-11-21,claude-opus-5,laptop,8,0,3");
  const { code, stdout } = await reconcile(text);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^- the export counts its days in another time zone: with those of \S+ it matches, or nearly so\. Type:\n {2}tollkeeper ledger reconcile \S+ --timezone \S+ --config \S+$/m,
  );
  const told = type(stdout);
  assert.equal(told.status, 0, told.stdout);
  assert.equal((await reconcile(text, "--timezone", "Europe/Berlin")).code, 0);
});

test("ledger reconcile compares models with dated names, and says so", async (t) => {
  const reconcile = withLedger(t, [MORNING]);
  const { code, stdout } = await reconcile(csv("2026-11-20,claude-opus-5-20260801,laptop,10,100,5"));
  assert.equal(code, 0);
  assert.match(
    stdout,
    /models have other names in the export: claude-opus-5-20260801 is claude-opus-5 in the ledger/,
  );
});

test("ledger reconcile can take only the rows of one key, and names the keys of an export of several", async (t) => {
  const { reconcile, type } = homeToReconcile(t, [MORNING]);
  const text = csv("2026-11-20,claude-opus-5,laptop,10,100,5", "2026-11-20,claude-opus-5,ci,1000,0,50");
  const all = await reconcile(text);
  assert.equal(all.code, 1);
  assert.match(all.stdout, /The export is of 2 keys: ci, laptop\.\n$/);
  assert.match(all.stdout, /it matches, or nearly so, without other keys\. Type:\n.* --only api_key=laptop /);
  const one = type(all.stdout);
  assert.equal(one.status, 0, one.stdout);
  const none = await reconcile(text, "--only", "api_key=labtop");
  assert.equal(none.code, 1);
  assert.match(
    none.stderr,
    /^error: no row of the export has api_key=labtop\nhint: its values are: ci, laptop$/m,
  );
});

test("ledger reconcile compares costs, with the model's name for people, and OpenAI's without models", async (t) => {
  const million = tokens({ input_uncached: 100_000, output: 100_000 });
  const reconcile = withLedger(t, [
    at("2026-11-20T10:00:00.000Z", {
      model: "claude-sonnet-4-5-20250929",
      route: "/messages",
      tokens: million,
    }),
    at("2026-11-20T10:00:00.000Z", { upstream: "openai", model: "gpt-5", tokens: million }),
  ]);
  const header = "usage_date_utc,model,api_key,token_type,cost_usd,list_price_usd";
  const costs = (output: string) =>
    [
      header,
      "2026-11-20,Claude Sonnet 4.5,laptop,input_no_cache,0.30,0.30",
      `2026-11-20,Claude Sonnet 4.5,laptop,output,${output},1.50`,
    ].join("\n");
  const right = await reconcile(costs("1.50"));
  assert.equal(right.code, 0, right.stdout);
  const wrong = await reconcile(costs("2.50"));
  assert.match(wrong.stdout, /^2026-11-20 +claude-sonnet-4-5 +cost +\$2\.80 +\$1\.80 +\+\$1\.00$/m);
  const start = Date.UTC(2026, 10, 20) / 1000;
  const bucket = {
    start_time: start,
    end_time: start + 86_400,
    results: [{ amount: { value: 1.125, currency: "usd" } }],
  };
  const whole = await reconcile(JSON.stringify({ data: [bucket] }));
  assert.match(whole.stdout, /By day, 1 of 1 match\./);
});

test("ledger reconcile --upstream compares with other upstreams, and without any the whole export is missing", async (t) => {
  const reconcile = withLedger(t, [MORNING, at("2026-11-20T11:00:00.000Z", { upstream: "other" })]);
  const text = csv("2026-11-20,claude-opus-5,laptop,10,100,5");
  assert.equal((await reconcile(text)).code, 1);
  assert.equal((await reconcile(text, "--upstream", "anth*")).code, 0);
  const none = await reconcile(csv("2026-11-20,claude-haiku-5,laptop,10,100,5"));
  assert.match(none.stdout, /^Compared with: anthropic, other$/m);
  assert.match(none.stdout, /tollkeeper saw nothing of claude-haiku-5 on 2026-11-20/);
  const mistyped = await reconcile(text, "--upstream", "antropic");
  assert.match(
    mistyped.stdout,
    /^Compared with: no upstream, because none that served a request is called antropic$/m,
  );
});

test("ledger reconcile says how many lines of the ledger it cannot compare", async (t) => {
  const { command, home } = homeWithLedger(t, {
    "2026-11-20.ndjson": `${JSON.stringify(MORNING)}\nnonsense\n`,
  });
  writeFileSync(join(home, "export.csv"), csv("2026-11-20,claude-opus-5,laptop,10,100,5"));
  const { code, stderr } = await command("ledger", "reconcile", join(home, "export.csv"));
  assert.equal(code, 0);
  assert.equal(
    stderr,
    "note: not compared: 1 unreadable line; to see them, type: tollkeeper ledger verify\n",
  );
});

test("ledger reconcile lets no name of an export begin a line", async (t) => {
  const { stdout } = await withLedger(t, [MORNING])(
    csv('2026-11-20,"evil\nforged",laptop,10,100,5', '2026-11-20,m,"ci\nforged",1,1,1'),
  );
  assert.doesNotMatch(stdout, /^forged/m);
  assert.match(stdout, /evil\\u000aforged/);
});

test("ledger reconcile --json has every day and model, and refuses a wrong command line", async (t) => {
  const reconcile = withLedger(t, [MORNING]);
  const { code, stdout } = await reconcile(
    "d,m,i,o\n2026-11-20,claude-opus-5,111,5\n",
    "--json",
    "--map",
    "date=d,model=m,input=i,output=o",
  );
  assert.equal(code, 1);
  const { cells, reasons, is_match } = JSON.parse(stdout) as Record<
    string,
    { difference: unknown; code: string }[]
  >;
  assert.deepEqual(cells?.[0]?.difference, { input: 1, output: 0, cost_usd: null });
  assert.deepEqual([reasons?.map((reason) => reason.code), is_match], [["other_keys"], false]);
  for (const args of [
    ["--map", "day=d"],
    ["--map", "date"],
    ["--only", "api_key"],
    ["--timezone", "Moon"],
  ]) {
    const { code: wrong, stderr } = await reconcile("d\n1\n", ...args);
    assert.equal(wrong, 2, stderr);
  }
});

test("ledger reconcile tells requests that are lower bounds, an export that is older than its last day, and usage that it leaves out", async (t) => {
  const { reconcile, type } = homeToReconcile(t, [
    at("2026-11-19T10:00:00.000Z", {
      usage: "partial",
      outcome: "cut",
      cut_by: "client",
      tokens: tokens({ input_uncached: 5, output: 1 }),
    }),
    MORNING,
    NEXT,
  ]);
  const { stdout } = await reconcile(
    csv(
      "2026-11-19,claude-opus-5,laptop,5,0,9",
      "2026-11-20,claude-opus-5,laptop,9,100,5",
      "2026-11-21,claude-opus-5,laptop,6,0,2",
    ),
  );
  assert.match(
    stdout,
    /^- requests of the ledger are lower bounds or unknown: claude-opus-5 on 2026-11-19\. Type:\n {2}tollkeeper usage --since 2026-11-19 --until 2026-11-19 --utc /m,
  );
  assert.match(type(stdout).stdout, /1 partial/);
  assert.match(
    stdout,
    /^- the ledger has more on the last day, so the export may be older than the end of it: claude-opus-5 on 2026-11-21$/m,
  );
  assert.match(
    stdout,
    /^- the ledger has more than the export of claude-opus-5 on 2026-11-20: the export may leave out a key or a workspace$/m,
  );
});
