import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { homeToReconcile, withLedger } from "../../../helpers/ledger/home-to-reconcile.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const csv = (...rows: string[]) =>
  [
    "usage_date_utc,model_version,api_key,usage_input_tokens_no_cache,usage_input_tokens_cache_read,usage_output_tokens",
    ...rows,
  ].join("\n");
const at = (ts: string, changes: Partial<UsageRecord> = {}) =>
  usageRecord({ ts, upstream: "anthropic", model: "claude-opus-5", ...changes });

/** An OpenAI project's costs as the console exports them: a day without costs has a row without an amount. */
const COSTS =
  "start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,line_item,organization_id";
const costOn = (day: string, amount: string) => {
  const start = Date.parse(day) / 1000;
  const currency = amount === "" ? "" : "usd";
  return `${start},${start + 86_400},${day}T00:00:00,,${amount},${currency},,org`;
};

const costs = (...rows: string[]) => [COSTS, ...rows].join("\n");

/** 100,000 tokens in and out: $1.125 with gpt-5, $1.80 with claude-sonnet-4-5. */
const HUNDRED_THOUSAND = tokens({ input_uncached: 100_000, output: 100_000 });
const gpt = (ts: string, changes: Partial<UsageRecord> = {}) =>
  at(ts, { upstream: "openai", model: "gpt-5", tokens: HUNDRED_THOUSAND, ...changes });
const claude = (ts: string, changes: Partial<UsageRecord> = {}) =>
  at(ts, { route: "/messages", model: "claude-sonnet-4-5", tokens: HUNDRED_THOUSAND, ...changes });

/** Both services, and gateways whose addresses no price table knows. */
const SERVICES = {
  upstreams: {
    anthropic: { baseUrl: "https://api.anthropic.com/v1" },
    openai: { baseUrl: "https://api.openai.com/v1" },
    openrouter: { baseUrl: "https://openrouter.ai/api/v1" },
    gateway: { baseUrl: "https://llm.example.com/v1" },
    local: { baseUrl: "http://127.0.0.1:9/v1", auth: "none" },
  },
};

test("ledger reconcile reads the empty days of OpenAI's costs, and compares them: nothing was to be paid", async (t) => {
  const reconcile = withLedger(t, [
    gpt("2026-11-19T10:00:00.000Z"),
    gpt("2026-11-20T10:00:00.000Z"),
    gpt("2026-11-21T10:00:00.000Z"),
  ]);
  const { code, stdout, stderr } = await reconcile(
    costs(
      costOn("2026-11-17", ""),
      costOn("2026-11-18", "0E-6176"),
      costOn("2026-11-19", "1.125000000000000000000000000000"),
      costOn("2026-11-20", ""),
      costOn("2026-11-21", "1.13"),
    ),
  );
  assert.equal(stderr, "");
  assert.equal(code, 1);
  assert.match(stdout, /^By day, 3 of 4 match\.$/m, "half a cent is rounding, and the 17th has no usage");
  assert.match(stdout, /^2026-11-20 +all +cost +\$0\.00 +\$1\.12 +-\$1\.12$/m);
  const none = await reconcile(costs(costOn("2026-11-20", "")));
  assert.equal(none.code, 1, "a whole export of nothing differs from a ledger with something");
  assert.match(none.stdout, /^2026-11-20 .* cost +\$0\.00 +\$1\.12 +-\$1\.12$/m);
  assert.equal((await reconcile(costs(costOn("2026-11-17", "")))).code, 0);
  const euros = await reconcile(costs(costOn("2026-11-19", "1.125").replace("usd", "eur")));
  assert.match(euros.stderr, /^error: the amounts of the export are in eur, /);
});

test("ledger reconcile compares the costs of one service with the requests that this service bills", async (t) => {
  const day = "2026-11-20T10:00:00.000Z";
  const reconcile = withLedger(
    t,
    [
      gpt(day),
      claude(day),
      claude(day, { upstream: "openrouter", model: "anthropic/claude-sonnet-4.5" }),
      gpt(day, { upstream: "openrouter", model: "openai/gpt-5" }),
    ],
    SERVICES,
  );
  const openai = await reconcile([COSTS, costOn("2026-11-20", "1.125")].join("\n"));
  assert.equal(openai.code, 0, openai.stdout);
  assert.match(openai.stdout, /^Compared with: openai$/m);
  const anthropic = await reconcile(
    "usage_date_utc,model,api_key,token_type,cost_usd\n2026-11-20,Claude Sonnet 4.5,laptop,output,1.80\n",
  );
  assert.equal(anthropic.code, 0, anthropic.stdout);
  assert.match(anthropic.stdout, /^Compared with: anthropic$/m);
});

test("ledger reconcile leaves out what plans paid, and their extra use: no export of a key has it", async (t) => {
  const day = "2026-11-20T10:00:00.000Z";
  const reconcile = withLedger(
    t,
    [
      claude(day),
      claude(day, { upstream: "plan:claude", key: "plan:claude/3f2a91c0" }),
      claude(day, { upstream: "extra:claude", key: "extra:claude/3f2a91c0" }),
    ],
    SERVICES,
  );
  for (const exported of [
    "usage_date_utc,model,api_key,token_type,cost_usd\n2026-11-20,Claude Sonnet 4.5,laptop,output,1.80\n",
    csv("2026-11-20,claude-sonnet-4-5,laptop,100000,0,100000"),
  ]) {
    const { code, stdout } = await reconcile(exported);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^Compared with: anthropic$/m);
  }
});

test("ledger reconcile compares what a gateway, or an upstream of earlier, served with the maker of the model", async (t) => {
  const day = "2026-11-20T10:00:00.000Z";
  const reconcile = withLedger(
    t,
    [
      gpt(day, { upstream: "gateway" }),
      claude(day, { upstream: "gateway" }),
      gpt(day, { upstream: "removed" }),
      claude(day, { upstream: "removed" }),
    ],
    SERVICES,
  );
  const openai = await reconcile([COSTS, costOn("2026-11-20", "2.25")].join("\n"));
  assert.equal(openai.code, 0, openai.stdout);
  assert.match(openai.stdout, /^Compared with: gateway, removed$/m);
});

test("ledger reconcile names the upstream without a key whose requests may be in the export, and compares with it when told", async (t) => {
  const { reconcile, type } = homeToReconcile(
    t,
    [at("2026-11-20T10:00:00.000Z", { upstream: "local", tokens: tokens({ input_uncached: 7, output: 2 }) })],
    SERVICES,
  );
  const { code, stdout } = await reconcile(csv("2026-11-20,claude-opus-5,laptop,7,0,2"));
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^- requests that may be in the export went to local, and it is not known who bills them: claude-opus-5 on 2026-11-20\. Type:\n {2}tollkeeper ledger reconcile \S+ --upstream local /m,
  );
  const told = type(stdout);
  assert.equal(told.status, 0, told.stdout);
});

test("ledger reconcile finds the one upstream whose usage the export is", async (t) => {
  const { reconcile, type } = homeToReconcile(t, [
    gpt("2026-11-20T10:00:00.000Z", { upstream: "work" }),
    gpt("2026-11-20T11:00:00.000Z", { upstream: "home" }),
    gpt("2026-11-20T12:00:00.000Z", { upstream: "home" }),
    gpt("2026-11-21T12:00:00.000Z", { upstream: "home" }),
  ]);
  const { stdout } = await reconcile(
    [COSTS, costOn("2026-11-20", "2.25"), costOn("2026-11-21", "1.125")].join("\n"),
  );
  assert.match(stdout, /it matches, or nearly so, with home alone\. Type:\n.* --upstream home /);
  const told = type(stdout);
  assert.equal(told.status, 0, told.stdout);
});

test("ledger reconcile leaves embeddings out where OpenAI's export does", async (t) => {
  const day = "2026-11-20T10:00:00.000Z";
  const reconcile = withLedger(t, [
    gpt(day, { tokens: tokens({ input_uncached: 7, output: 2 }) }),
    gpt(day, {
      route: "/embeddings",
      model: "text-embedding-3-small",
      tokens: tokens({ input_uncached: 9 }),
    }),
  ]);
  const text =
    "start_time,num_model_requests,model,input_tokens,output_tokens,input_cached_tokens\n1795132800,1,gpt-5,7,2,0\n";
  const { code, stdout } = await reconcile(text);
  assert.equal(code, 0, stdout);
});

test("ledger reconcile names the model without a price, and the command that says how to set one", async (t) => {
  const { reconcile, type } = homeToReconcile(t, [gpt("2026-11-20T10:00:00.000Z", { model: "gpt-99-new" })]);
  const { code, stdout } = await reconcile([COSTS, costOn("2026-11-20", "4.00")].join("\n"));
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^- requests of the ledger have no known price \(gpt-99-new\): 2026-11-20\. Type:\n {2}tollkeeper prices gpt-99-new /m,
  );
  assert.doesNotMatch(stdout, /other machines/, "one reason for one difference");
  assert.match(type(stdout).stdout, /gpt-99-new/);
});

test("ledger reconcile says of days whose records are deleted that only their sums are left, not that nothing was seen", async (t) => {
  const { reconcile, type, command } = homeToReconcile(t, [
    at("2026-11-20T09:00:00.000Z", { tokens: tokens({ input_uncached: 10, cache_read: 100, output: 5 }) }),
    at("2026-11-21T12:00:00.000Z", { tokens: tokens({ input_uncached: 7, output: 2 }) }),
  ]);
  assert.equal((await command("ledger", "prune", "--before", "2026-11-21", "--yes")).code, 0);
  const { stdout } = await reconcile(
    csv("2026-11-20,claude-opus-5,laptop,10,100,5", "2026-11-21,claude-opus-5,laptop,7,0,2"),
  );
  assert.match(
    stdout,
    /^- the records are deleted, and only the sums of whole days are left: claude-opus-5 on 2026-11-20\. Type:\n {2}tollkeeper usage --since 2026-11-20 --until 2026-11-20 --utc /m,
  );
  assert.doesNotMatch(stdout, /saw nothing/);
  assert.match(type(stdout).stdout, /110/);
});
