import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { dayOf } from "../../../src/core/ledger/day.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { ledgerScratchDirectory } from "../../helpers/ledger/ledger.ts";
import { usualConfigFile } from "../../helpers/config/config-file.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { priceTable } from "../../helpers/ledger/prices.ts";
import { violations, type JsonSchema } from "../../helpers/json-schema.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

interface UsageInput {
  records?: UsageRecord[];
  /** Lines appended to today's ledger file. */
  foreign?: string;
  /** Changes the ledger once the records and lines are written. */
  prepare?: (directory: string) => void;
  config?: string;
  /** The option `ledger.project`. */
  project?: boolean;
  upstreams?: object;
  env?: Record<string, string>;
}

const COMPUTED = `Cost: pay-per-use list prices of ${priceTable.asOf} (${priceTable.source}). An estimate, not a bill.`;

/** Depends on when the tests run. */
const PRICES_ARE_OLD = /\n*The price table is \d+ days old: .*\n.*config edit(?=\n)/;

/** Runs `tollkeeper usage` on a ledger with these records. Returns its output without what it says of the age of the prices. */
async function usage(
  t: TestContext,
  args: string[],
  { records = [], foreign = "", ...given }: UsageInput = {},
) {
  const home = ledgerScratchDirectory(t);
  const directory = join(home, "ledger");
  const config = usualConfigFile(home);
  mkdirSync(directory);
  writeFileSync(
    config,
    given.config ??
      JSON.stringify({ upstreams: given.upstreams, ledger: { directory, project: given.project } }),
  );
  for (const record of records) {
    writeFileSync(join(directory, `${dayOf(record.ts)}.ndjson`), `${JSON.stringify(record)}\n`, {
      flag: "a",
    });
  }
  if (foreign !== "") writeFileSync(join(directory, `${today()}.ndjson`), foreign, { flag: "a" });
  given.prepare?.(directory);
  const words = ["usage", "--config", config, ...args];
  const env = {
    ...process.env,
    XDG_CONFIG_HOME: join(home, ".config"),
    TZ: "UTC",
    FORCE_COLOR: "1",
    ...given.env,
  };
  const { stdout: out, stderr: err, code } = await runProgram(words, { env });
  return { out: out.replace(PRICES_ARE_OLD, ""), err, code, directory };
}

const today = (daysBefore = 0) => dayOf(daysAgo(daysBefore));
const now = (changes: Partial<UsageRecord> = {}) => usageRecord({ ts: new Date().toISOString(), ...changes });
const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString();

test("usage prints the period and a table by tool with grouped digits, aligned columns, the total last, no colours and no remarks", async (t) => {
  const records = [
    now({ tokens: tokens({ input_uncached: 1_234_567, cache_read: 89_000, output: 42, reasoning: 7 }) }),
    now({ tool: "opencode" }),
  ];
  const { out, err, code } = await usage(t, [], { records });
  assert.equal(
    out,
    [
      `Usage by tool, ${today(29)} to ${today()} (UTC)`,
      "",
      // 1,234,567 * 1.25 + 89,000 * 0.125 + 42 * 10; 10 * 1.25 + 5 * 10: millionths.
      "tool        cost  requests  tokens in  from cache  tokens out",
      "codex      $1.55         1  1,323,567          7%          42",
      "opencode  <$0.01         1         10          0%           5",
      "total      $1.55         2  1,323,577          7%          47",
      "",
      "Tokens: all counts are exact.",
      COMPUTED,
      "Cache: saved $0.10 against full-price input; 7% of the input tokens came from the cache.",
      "",
    ].join("\n"),
  );
  assert.deepEqual({ err, code }, { err: "", code: 0 });
});

test("usage prints a remark below the table for each kind of unknown usage", async (t) => {
  const noTokens = { usage: "absent", tokens: null, spend: "never" } as const;
  const records = [
    now({ usage: "partial", outcome: "cut", tokens: tokens({ output: 1, reasoning: null }) }),
    now({ ...noTokens, outcome: "cut" }),
    now({ ...noTokens, outcome: "error", status: 429 }),
    now({ extra: [extraTokens({ type: "message", model: "m", billable: null, output: 1500 })] }),
  ];
  const { out } = await usage(t, [], { records, foreign: "nonsense\n" });
  const [, , head, codex, total, , ...remarks] = out.trimEnd().split("\n");
  assert.match(head ?? "", /tokens out {2}partial {2}uncounted {2}failed$/);
  assert.match(codex ?? "", /^codex +≥\$0\.\d+ +4 .* +1 +1 +1$/);
  assert.match(total ?? "", /^total +≥\$0\.\d+ +4 .* +1 +1 +1$/);
  assert.deepEqual(remarks, [
    "Tokens: exact for 1 of 3 requests that used any; 1 partial (the response ended early, or its figures disagree); 1 uncounted (no token counts came back: not in tokens or cost). ≥ means at least.",
    COMPUTED,
    "Of 4 requests: 1 failed (25%), at no cost; 2 were cut short (50%). To see how, use --by outcome.",
    "",
    "The sums do not include 1,500 tokens of attempts that another model replaced. The service bills these only in some cases.",
    `The sums do not include 1 unreadable line of the ledger, the first of which is ${today()}.ndjson:5. To see why, type:`,
    "  tollkeeper ledger verify",
  ]);
});

test("usage names each tool whose streams of Chat Completions reported no usage, with the remedy, in the table's output and beside CSV", async (t) => {
  const silent = {
    tool: "nightly",
    user_agent: "OpenAI/Python 2.1.0",
    route: "/chat/completions",
    usage: "absent",
    tokens: null,
    spend: "never",
  } as const;
  const records = [
    now(silent),
    now({ ...silent, tool: "aider" }),
    now({ route: "/chat/completions" }),
    now(silent),
  ];
  const lines = [
    "aider: 1 streamed response came without token counts. To have the next ones counted, set stream_options in ~/.aider.model.settings.yml (MODEL is your model's name) with:",
    "  tollkeeper connect aider --model MODEL",
    'nightly: 2 streamed responses came without token counts. To have the next ones counted, in its code, pass stream_options={"include_usage": True}, or with LangChain stream_usage=True.',
  ];
  const { out } = await usage(t, ["--by", "model"], { records });
  const absent =
    "Tokens: exact for 1 of 4 requests; 3 uncounted (no token counts came back: not in tokens or cost).";
  const shown = [`${absent} ≥ means at least.`, COMPUTED, "", ...lines];
  assert.deepEqual(out.trimEnd().split("\n").slice(-shown.length), shown);
  const csv = await usage(t, ["--csv"], { records });
  assert.deepEqual(csv.err.trimEnd().split("\n"), [absent, ...lines]);
  const { out: json } = await usage(t, ["--json"], { records });
  assert.ok(!json.includes("stream_options"));
  const cured = await usage(t, [], { records: [...records, now({ ...silent, usage: "final" })] });
  assert.match(cured.out, /^aider: /m);
  assert.doesNotMatch(cured.out, /^nightly: /m);
});

test("usage shows requests to the sandbox in a table of their own", async (t) => {
  const sandboxed = now({ upstream: "sandbox", tokens: tokens({ output: 7 }) });
  const both = await usage(t, [], { records: [sandboxed, now()] });
  assert.match(
    both.out,
    /^Usage by tool, .*\n\ntool .*\ncodex .*\ntotal +\$0\.0001 +1 +10 +0% +5\n\nTokens: all counts are exact\.\n.*\n\nSandbox usage by tool, .*\. Its tokens are made up and cost nothing\.\n\ntool .*\ncodex .*\ntotal +free +1 +0 +7\n$/,
  );
  const alone = await usage(t, ["--since", "today"], { records: [sandboxed] });
  assert.match(alone.out, /^Sandbox usage by tool, [-\d]+ \(UTC\)\. /);
});

test("usage counts days in local time, and in UTC with --utc", async (t) => {
  const records = [now()];
  const env = { TZ: "Pacific/Kiritimati" };
  const { out } = await usage(t, ["--by", "day"], { records, env });
  const local = new Intl.DateTimeFormat("sv-SE", { timeZone: env.TZ }).format(
    Date.parse(records[0]?.ts ?? ""),
  );
  assert.match(
    out,
    new RegExp(`^Usage by day, .* to ${local} \\(Pacific/Kiritimati\\)\n\nday .*\n${local} +\\$\\S+ +1 `),
  );
  const utc = await usage(t, ["--by", "day", "--utc"], { records, env });
  assert.match(
    utc.out,
    new RegExp(`^Usage by day, .* to ${today()} \\(UTC\\)\n\nday .*\n${today()} +\\$\\S+ +1 `),
  );
});

test("usage --by groups rows by that field, saying where no record has it, and explains missing projects", async (t) => {
  const records = [now({ session: null, project: "/home/u/my project" })];
  assert.match((await usage(t, ["--by", "session"], { records })).out, /\n\nsession .*\n\(no session\) /);
  assert.match(
    (await usage(t, ["--by", "project"], { records })).out,
    /\n\nproject .*\n\/home\/u\/my project /,
  );
  const { out } = await usage(t, ["--by", "project"], { records: [now()] });
  assert.match(
    out,
    /^Projects and their branches are not recorded\. .*type:\n {2}tollkeeper config set ledger\.project true\n/m,
  );
  const asked = await usage(t, ["--by", "project"], { records: [now()], project: true });
  assert.match(asked.out, /^No project could be determined, .*type:\n {2}tollkeeper service install$/m);
  assert.doesNotMatch(asked.out, /"project": true/);
});

test("usage --since includes records from that time on, exact to the millisecond for hours", async (t) => {
  const records = [
    usageRecord({ ts: daysAgo(40) }),
    usageRecord({ ts: daysAgo(1 + 1 / 1440), tool: "recent" }),
    now(),
  ];
  const toolsSince = async (...args: string[]) => {
    const { out } = await usage(t, ["--json", ...args], { records });
    const { rows } = JSON.parse(out) as { rows: { tool: string; requests: number }[] };
    return rows.map(({ tool, requests }) => `${tool} ${requests}`).sort();
  };
  assert.deepEqual(await toolsSince(), ["codex 1", "recent 1"]);
  assert.deepEqual(await toolsSince("--since", "24h"), ["codex 1"]);
  assert.deepEqual(await toolsSince("--since", "2020-01-01"), ["codex 2", "recent 1"]);
});

test("usage --json prints one document with the ledger's field names and null for unknown sums", async (t) => {
  const records = [
    now({ tool: "a\u202eb", tokens: tokens({ output: 41, reasoning: null }), duration_ms: 2200.5 }),
  ];
  const { out } = await usage(t, ["--json", "--since", "today"], { records, foreign: "foreign\n" });
  assert.doesNotMatch(out, /\u202e/);
  const sums = {
    requests: 1,
    failed: 0,
    input_uncached: 0,
    cache_read: 0,
    cache_write: 0,
    output: 41,
    reasoning: null,
    reasoning_unknown: 1,
    partial: 0,
    absent: 0,
    maybe_unbilled: 0,
    cut: 0,
    retries: 0,
    refused: 0,
    plan_requests: 0,
    extra_requests: 0,
    own_requests: 0,
    failed_midway: 0,
    misses: 0,
    miss_tokens: 0,
    cost_usd: "0.00041",
    cost_is_exact: true,
    billed_usd: "0",
    extra_cost_usd: "0",
    plan_worth_usd: null,
    plan_worth_is_exact: null,
    own_worth_usd: null,
    own_worth_is_exact: null,
    cache_saved_usd: "0",
    miss_cost_usd: null,
    miss_plan_worth_usd: null,
    miss_cost_is_exact: null,
    unpriced: [],
    ttft_ms: { median: 200, p95: 200 },
    tokens_per_second: { median: 20.1, p95: 20.1 },
  };
  assert.deepEqual(JSON.parse(out), {
    v: 1,
    by: ["tool"],
    since: `${today()}T00:00:00.000Z`,
    until: null,
    time_zone: "UTC",
    prices: { source: priceTable.source, as_of: priceTable.asOf },
    rows: [{ tool: "a\u202eb", ...sums }],
    total: sums,
    sandbox: {
      rows: [],
      total: {
        ...sums,
        requests: 0,
        cost_usd: "0",
        output: 0,
        reasoning_unknown: 0,
        ttft_ms: null,
        tokens_per_second: null,
      },
    },
    unreadable_lines: 1,
    sums_only: null,
  });
});

test("usage --csv prints rows without a total, quotes by RFC 4180, disarms formulas, and prints remarks on standard error only", async (t) => {
  const names = ['say "hi", all', "=1+1", "+1", "-1", "@x", "\tx", "plain-x"];
  const records = names.map((tool, index) =>
    now({ tool, tokens: tokens({ output: 100 - index, reasoning: null }) }),
  );
  const { out, err } = await usage(t, ["--csv"], { records });
  const [head, ...rows] = out.split("\r\n");
  assert.equal(
    head,
    "tool,requests,failed,input_uncached,cache_read,cache_write,output,reasoning,reasoning_unknown,partial,absent,maybe_unbilled,cut,retries,cost_usd,cost_is_exact,billed_usd,plan_worth_usd,refused,plan_requests,plan_worth_is_exact,misses,miss_tokens,miss_cost_usd,miss_plan_worth_usd,miss_cost_is_exact,extra_requests,extra_cost_usd,own_requests,own_worth_usd,own_worth_is_exact,failed_midway",
  );
  assert.equal(rows[0], '"say ""hi"", all",1,0,0,0,0,100,,1,0,0,0,0,0,0.001,true,0,,0,0,,0,0,,,,0,0,0,,,0');
  assert.deepEqual(
    rows.slice(1).map((row) => row.split(",")[0]),
    ["'=1+1", "'+1", "'-1", "'@x", "'\\u0009x", "plain-x", ""],
  );
  assert.equal(err, "");
});

test("usage --csv leaves the cost of a row without any price empty, and adds what has one", async (t) => {
  const known = now({ tool: "both", tokens: tokens({ output: 100, reasoning: null }) });
  const unknown = { model: "nobody-knows", requested_model: "nobody-knows" };
  const records = [known, now({ ...unknown, tool: "both" }), now({ ...unknown, tool: "unpriced" })];
  const [head = "", ...rows] = (await usage(t, ["--csv"], { records })).out.trimEnd().split("\r\n");
  const at = head.split(",").indexOf("cost_usd");
  const costs = Object.fromEntries(rows.map((row) => [row.split(",")[0], row.split(",").slice(at, at + 2)]));
  assert.deepEqual(costs["unpriced"], ["", "false"]);
  assert.equal(costs["both"]?.[1], "false");
  assert.ok(Number(costs["both"]?.[0]) > 0, costs["both"]?.[0]);
});

test("usage --csv and --json have no cost for a row whose usage or price is not known, and 0 for what was free", async (t) => {
  const unknown = { model: "nobody-knows", requested_model: "nobody-knows" };
  const records = [
    now({ tool: "absent", usage: "absent", tokens: null, outcome: "cut", cut_by: "client" }),
    now({ ...unknown, tool: "unpriced" }),
    now({ ...unknown, tool: "billed", billed_usd: "0" }),
    now({ tool: "refused", outcome: "error", status: 400, usage: "absent", tokens: null, spend: "never" }),
  ];
  const costs = { absent: null, unpriced: null, billed: "0", refused: "0" };
  const { out } = await usage(t, ["--json"], { records });
  const { rows, total } = JSON.parse(out) as {
    rows: { tool: string; cost_usd: string | null; cache_saved_usd: string | null }[];
    total: { cost_usd: string | null; cache_saved_usd: string | null };
  };
  // Nor is it known what the cache saved.
  for (const { cost_usd: cost, cache_saved_usd: saved } of [...rows, total]) assert.equal(saved, cost);
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row.tool, row.cost_usd])), {
    ...costs,
  });
  assert.equal(total.cost_usd, null);
  const [head = "", ...lines] = (await usage(t, ["--csv"], { records })).out.trimEnd().split("\r\n");
  const at = head.split(",").indexOf("cost_usd");
  assert.deepEqual(Object.fromEntries(lines.map((line) => [line.split(",")[0], line.split(",")[at]])), {
    absent: "",
    unpriced: "",
    billed: "0",
    refused: "0",
  });
});

test("usage escapes control characters in names", async (t) => {
  const { out } = await usage(t, [], { records: [now({ tool: "a\u001b[31m\u009b\u202e\nb" })] });
  assert.match(out, /^a\\u001b\[31m\\u009b\\u202e\\u000ab +\$0\.0001 +1 /m);
});

test("usage names the file and the line of what is not readable, be it 700 MB long, and counts the records around it", async (t) => {
  const prepare = (directory: string) => {
    const path = join(directory, `${today()}.ndjson`);
    truncateSync(path, 700e6);
    appendFileSync(path, `\n${JSON.stringify(now())}\n`);
  };
  const { out, code } = await usage(t, ["--by", "tool"], { records: [now()], prepare });
  assert.match(out, /^codex +\S+ +2 +20 /m);
  assert.match(
    out,
    new RegExp(
      `^The sums do not include 1 unreadable line .* the first of which is ${today()}\\.ndjson:2\\. `,
      "m",
    ),
  );
  assert.equal(code, 0);
});

test("usage of an empty ledger says where it looked and what to do next", async (t) => {
  const { out, err, code, directory } = await usage(t, []);
  assert.equal(out, "");
  assert.match(
    err,
    /^No usage is recorded for [-\d]+ to [-\d]+ \(UTC\) in .*\nTo see which tools are connected, type:\n {2}tollkeeper connect --list\n$/,
  );
  assert.ok(err.includes(directory));
  assert.equal(code, 0);
});

test("usage --by key has a row for each key, with what was used by it", async (t) => {
  const records = [now({ key: "codex" }), now({ key: "codex" }), now({ key: "zed" })];
  const { out } = await usage(t, ["--by", "key"], { records });
  assert.match(out, /\n\nkey .*\ncodex .* 2 .*\nzed .* 1 .*\ntotal .* 3 /);
});

test("usage --wide adds the classes of tokens, what the cache saved, and speeds", async (t) => {
  const used = tokens({ input_uncached: 100, cache_read: 300, output: 101 });
  const records = [
    now({ tokens: used, ttft_ms: 500, duration_ms: 2500 }),
    now({ outcome: "cut", usage: "partial", ttft_ms: null }),
  ];
  const { out } = await usage(t, ["--wide"], { records });
  const [, , head, codex] = out.split("\n");
  assert.match(
    head ?? "",
    /from cache {2}tokens out +saved {2}partial {2}uncached {2}cache read {2}cache write {2}first token {2}slowest 5% {2}tokens\/s {2}fastest 5%$/,
  );
  // 300 * (1.25 - 0.125) millionths are saved.
  assert.match(
    codex ?? "",
    /^codex +≥\S+ +2 .* 73% +≥106 +\$0\.0003 +1 +≥110 +≥300 +≥0 +497 ms +497 ms +49.9 +49.9$/,
  );
});

test("usage names what has no price, and says which part of the cost services charged", async (t) => {
  const records = [
    now({ model: "nobody-knows" }),
    now({ model: "nobody-knows", tool: "zed" }),
    now({ service_tier: "scale" }),
    now({ billed_usd: "0.0123" }),
  ];
  const { out } = await usage(t, ["--by", "model", "--wide"], { records });
  assert.match(out, /^nobody-knows +unpriced .* – /m);
  assert.match(out, /^gpt-5 +≥\$0\.0123 .* \$0\.0123 /m);
  assert.match(out, /^Cost: as reported by the provider\.$/m);
  assert.match(
    out,
    /^The cost leaves out what has no known price: nobody-knows in 2 requests, gpt-5 \(tier scale\) in 1 request\. To set prices, add them under "prices" with:\n {2}tollkeeper config edit$/m,
  );
  const mixed = await usage(t, [], { records: [now(), now({ billed_usd: "0.0123" })] });
  assert.match(
    mixed.out,
    /^Cost: \$0\.0123 as reported by the provider, the rest at pay-per-use list prices of /m,
  );
});

test("usage takes prices from the configuration, and what an upstream without a key serves is free", async (t) => {
  const upstreams = {
    house: {
      baseUrl: "https://house.example/v1",
      keySource: { file: "/k" },
      prices: { "h-*": { input: 2 } },
    },
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none" },
  };
  const input = tokens({ input_uncached: 1_000_000 });
  const records = [
    now({ upstream: "house", model: "h-1", tokens: input }),
    now({ upstream: "local", model: "gpt-5", tokens: input }),
  ];
  const { out } = await usage(t, ["--by", "upstream"], { records, upstreams });
  assert.match(out, /^house +\$2\.00 /m);
  assert.match(out, /^local +free /m);
  assert.match(out, /^Cost: your own prices\. An estimate, not a bill\.$/m);
});

test("usage --oneline prints the total in one line", async (t) => {
  const records = [now({ tokens: tokens({ cache_read: 1000, output: 5 }) }), now({ usage: "partial" })];
  const { out } = await usage(t, ["--oneline", "--since", "today"], { records });
  assert.equal(out, `${today()}: ≥$0.000238, 2 requests, ≥1,010 tokens in (99% from cache), ≥10 out\n`);
});

test("usage --schema describes the document of --json", async (t) => {
  const { out } = await usage(t, ["--schema"]);
  const schema = JSON.parse(out) as JsonSchema;
  const records = [
    now({ service_tier: "scale", project: null }),
    now({ upstream: "sandbox", tokens: tokens({ output: 5, reasoning: null }), ttft_ms: null }),
  ];
  const { out: json } = await usage(t, ["--json", "--by", "project,day"], { records });
  const document = JSON.parse(json) as { rows: object[] };
  assert.deepEqual(violations(schema, document), []);
  assert.deepEqual(violations(schema, { ...document, v: "1" }), ["$.v"]);
  const [row] = document.rows;
  assert.deepEqual(violations(schema, { ...document, rows: [{ ...row, cost_usd: 1 }] }), [
    "$.rows.0.cost_usd",
  ]);
  assert.deepEqual(violations(schema, { ...document, rows: [{}] }).length > 10, true);
});

test("usage --json --fields has of rows and totals only the fields that are named, whose values are those of the whole document", async (t) => {
  const records = [
    now({ tool: "codex", project: "/src/shop", branch: "main", session: "one" }),
    now({ tool: "codex", project: "/src/shop", branch: "next", session: "one", ttft_ms: null }),
    now({ upstream: "sandbox", tokens: tokens({ output: 5 }) }),
  ];
  type Sums = Record<string, unknown>;
  type Document = { rows: Sums[]; total: Sums; sandbox: Pick<Document, "rows" | "total"> };
  const by = ["--json", "--by", "session,project,branch,day"];
  const read = async (...args: string[]) =>
    JSON.parse((await usage(t, [...by, ...args], { records })).out) as Document;
  const whole = await read();
  const named = whole.rows
    .map(({ session, branch, requests }) => [session, branch, requests].join(" "))
    .sort();
  assert.deepEqual(named, ["one main 1", "one next 1"]);
  for (const fields of [["requests"], ["requests", "cost_usd"], ["ttft_ms"], Object.keys(whole.total)]) {
    const { rows, total, sandbox, ...rest } = await read("--fields", fields.join());
    const cut = (sums: Sums, ...names: string[]) =>
      Object.fromEntries(Object.entries(sums).filter(([name]) => [...fields, ...names].includes(name)));
    const cutRow = (row: Sums) => cut(row, "session", "project", "branch", "day");
    assert.deepEqual(rows, whole.rows.map(cutRow));
    assert.deepEqual(total, cut(whole.total));
    assert.deepEqual(sandbox.rows, whole.sandbox.rows.map(cutRow));
    assert.deepEqual(
      Object.keys(rest),
      Object.keys(whole).filter((name) => !(name in { rows, total, sandbox })),
    );
  }
});

test("usage --until ends the period, in the days of --timezone", async (t) => {
  // Half past eleven in the evening of the 20th in UTC is the 21st in Berlin.
  const records = [usageRecord({ tool: "codex", ts: "2025-11-20T23:30:00.000Z" })];
  const requests = async (...options: string[]) => {
    const { out } = await usage(t, ["--json", "--since", "2025-11", ...options], { records });
    const {
      total,
      until,
      time_zone: zone,
    } = JSON.parse(out) as {
      total: { requests: number };
      until: string;
      time_zone: string;
    };
    return [total.requests, until, zone];
  };
  const berlin = ["--timezone", "Europe/Berlin"];
  assert.deepEqual(await requests("--until", "2025-11-20", "--utc"), [1, "2025-11-21T00:00:00.000Z", "UTC"]);
  assert.deepEqual(await requests("--until", "2025-11-20", ...berlin), [
    0,
    "2025-11-20T23:00:00.000Z",
    "Europe/Berlin",
  ]);
  assert.deepEqual((await requests("--until", "2025-11", ...berlin))[0], 1);
});

test("usage --timezone with an unknown zone is wrong usage", async (t) => {
  const { out, err, code } = await usage(t, ["--timezone", "Berlin"]);
  assert.deepEqual([out, code], ["", 2]);
  assert.match(err, /^error: no time zone is called "Berlin"\nhint: use a name of the IANA database/);
});

test("usage of a time that has not begun is wrong usage", async (t) => {
  const { err, code } = await usage(t, ["--since", "2999-01-01"]);
  assert.deepEqual(
    [code, err],
    [
      2,
      'error: --since "2999-01-01" is in the future\nhint: type a day that has begun, for example: --since today\n',
    ],
  );
});

test("usage --since with an invalid value is wrong usage", async (t) => {
  const { out, err, code } = await usage(t, ["--since", "lately"]);
  assert.deepEqual({ out, code }, { out: "", code: 2 });
  assert.match(err, /^error: cannot read --since "lately": .*\nhint: use today, yesterday, "last week", 24h/);
});

for (const args of [
  ["--by", "colour"],
  ["--json", "--csv"],
  ["--oneline", "--csv"],
  ["--wide", "--json"],
  ["--fields", "requests"],
  ["--json", "--fields", "cost"],
  ["--json", "--by", "tool,tool"],
  ["--json", "--by", "tool,model,day,key,session"],
]) {
  test(`usage ${args.join(" ")} is wrong usage`, async (t) => {
    const { out, code } = await usage(t, args);
    assert.deepEqual({ out, code }, { out: "", code: 2 });
  });
}

test("usage reports the problems of an invalid configuration", async (t) => {
  const { err, code } = await usage(t, [], { config: '{ "ledgr": {} }' });
  assert.match(err, /^error: the configuration is not usable\n.*ledgr/);
  assert.equal(code, 1);
});

for (const [args, expected] of [
  [["--tool", "codx"], "has the tool codx. Did you mean codex? There is: codex, pi."],
  [["--model", "claude*"], "has the model claude*. There is: gpt-5."],
  [["--project", "/x"], "has the project /x. None has a project."],
  [
    ["--tool", "pi", "--session", "s-codex"],
    "matches --tool pi and --session s-codex together; each of them alone does.",
  ],
] as const) {
  test(`usage ${args.join(" ")}, which matches nothing, says so and what there is`, async (t) => {
    const records = [now({ tool: "codex", session: "s-codex" }), now({ tool: "pi", session: "s-pi" })];
    const { out, err, code } = await usage(t, [...args], { records });
    assert.equal(out, "");
    assert.ok(err.replaceAll(/\s+/g, " ").includes(expected), err);
    assert.equal(code, 0);
  });
}
