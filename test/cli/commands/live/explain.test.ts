// One request on one page: `tollkeeper explain`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { programName } from "../../../../src/adapters/program.ts";
import { examine } from "../../../../src/cli/commands/live/explain/examine.ts";
import { describeFlag } from "../../../../src/cli/commands/live/explain/flag-words.ts";
import { renderPage } from "../../../../src/cli/commands/live/explain/page.ts";
import { loadConfig } from "../../../../src/cli/load-config.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { parseJsonOutput } from "../../../helpers/daemon/json-output.ts";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { homeWithLedger } from "../../../helpers/ledger/home-with-ledger.ts";
import { priceBook, priceTable } from "../../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { widthOf } from "../../../../src/cli/terminal/width.ts";

const CONFIG = {
  upstreams: {
    openai: { baseUrl: "https://api.openai.com/v1", key: "team", models: ["gpt*"] },
    anthropic: { baseUrl: "https://api.anthropic.com/v1", discount: 10, fallback: ["spare"] },
    spare: { baseUrl: "https://spare.example/v1" },
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none", models: ["qwen*"] },
  },
};

const ID = "8a1f0c52-6e0b-4f43-9d27-51c3e7a0b9d4";
const SHOP = "/home/ada/shop";

/** The request of the page below, and its usual ones: eight of its session, which read from the cache, and four others. */
function shopRecords(): UsageRecord[] {
  const cached = tokens({ input_uncached: 400, cache_read: 9600, output: 500 });
  const session = { upstream: "openai", key: "team", project: SHOP };
  const before = Array.from({ length: 12 }, (_, at) =>
    usageRecord({
      ...session,
      ts: `2026-11-21T11:${10 + at}:00.000Z`,
      session: at < 4 ? "session-0" : "session-1",
      tokens: cached,
    }),
  );
  const one = usageRecord({
    ...session,
    id: ID,
    tool_by: "process",
    process: { pid: 4242, executable: "/usr/bin/codex", parents: ["zsh", "tmux"] },
    branch: "main",
    agent_kind: "main",
    stop: "end_turn",
    upstream_request_id: "req_7",
    tokens: tokens({ input_uncached: 10_000, output: 500, reasoning: 200 }),
    ttft_ms: 800,
    duration_ms: 14_200,
  });
  return [...before.map((record) => ({ ...record, agent_kind: "main" as const })), one];
}

function readPage(name: string): string {
  return readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8");
}

function prepare(t: TestContext, records: readonly UsageRecord[], config: object = CONFIG) {
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  return homeWithLedger(t, { "2026-11-21.ndjson": lines }, config);
}

async function explain(t: TestContext, records: readonly UsageRecord[], ...args: string[]) {
  return prepare(t, records).command("explain", ...(args.length === 0 ? ["last"] : args));
}

test("explain says who asked, where it went, what it used and cost, how it ended, and what is usual", async (t) => {
  const { code, stdout, stderr } = await explain(t, shopRecords(), ID);
  const [listed] = priceTable.sources;
  assert.equal(code, 0, stderr);
  assert.equal(
    // As it is while the request is among those that reports are of.
    stdout.replace(" --since 2026-11-21\n", "\n"),
    `codex asked for gpt-5 on 2026-11-21 at 12:00:00: it completed after 14.2 s and cost $0.0175 (2.6 times the usual).

status      200, stop reason end_turn
took        14.2 s, the first token after 800 ms, then 37.2 tokens per second
size        1 KB from the tool, 2 KB to it
id          ${ID}
            req_7 at the service, whose support asks for it

cost                   count              price   amount
            uncached  10,000  $1.25 per million  $0.0125
            output       500    $10 per million   $0.005
            total                                $0.0175
prices      list price of openai for gpt-5, as of ${listed?.asOf} (${listed?.name})

used        10,000 tokens in, none of them from a cache
            500 tokens out, 200 of them reasoning
certainty   The tokens are the service's final counts.
cache       the 8 requests before it in this session read 96% of their input from the cache, this one 0%

where       openai (https://api.openai.com/v1), with the key "team"
request     POST /responses, as a stream
why         openai is the first that fits by the present configuration

who         codex, recognized by its process
process     /usr/bin/codex (process 4242), started by zsh < tmux
client      codex_cli_rs/0.151.0
session     session-1, the main agent
project     /home/ada/shop, branch main

compared    with the median of 12 requests of codex with gpt-5 in /home/ada/shop in the 7 days before
                        this one     usual
            cost         $0.0175  $0.00670  2.6 times the usual
            tokens in     10,000    10,000  as usual
            from cache        0%       96%
            tokens out       500       500  as usual
            duration      14.2 s    900 ms  16 times the usual

more        to see the whole session, type: tollkeeper usage session session-1
            to see what decides where it goes, type: tollkeeper route --explain ${ID.slice(0, 13)}
`,
  );
});

test("explain takes the beginning of an id that one record has, and lists those of several", async (t) => {
  const records = ["aaaa1111-x", "aaaa2222-x", "bbbb3333-x"].map((id) => usageRecord({ id }));
  assert.equal((await explain(t, records, "bbbb")).code, 0);
  assert.match((await explain(t, records, "aaaa1")).stdout, /route --explain aaaa1111-x/);
  const several = await explain(t, records, "aaaa");
  assert.equal(several.code, 1);
  assert.match(
    several.stderr,
    /^error: 2 records begin with aaaa\nhint: type more of one of these: aaaa1111-x, aaaa2222-x\n/,
  );
  assert.match((await explain(t, records, "bbb")).stderr, /no record with this id/);
});

test("explain names the day of a session that is older than what reports are of", async (t) => {
  const old = usageRecord({ id: "old", ts: "2026-01-05T12:00:00.000Z", session: "of-winter" });
  const recent = usageRecord({ id: "recent", ts: new Date().toISOString(), session: "of-today" });
  assert.match((await explain(t, [old], "old")).stdout, /usage session of-winter --since 2026-01-05\n/);
  assert.match((await explain(t, [recent], "recent")).stdout, /usage session of-today\n/);
});

test("explain says why a request missed the cache, who says so, what that cost over a hit, and how to avoid it", async (t) => {
  const records = shopRecords();
  const said = { miss: "tools_changed", miss_by: "said", miss_tokens: 9_600 } as const;
  const one = { ...(records.pop() ?? usageRecord()), ...said };
  const { stdout } = await explain(t, [...records, one], ID);
  // 9,600 tokens at $1.25 a million, which cost $0.125 when they are read from the cache.
  assert.match(
    stdout.replaceAll(/\s+/g, " "),
    / missed the tools changed \(the service says so\): 9,600 tokens of it could have been read from the cache, for \$0\.0108 less Connect MCP servers/,
  );
  const inferred = {
    ...one,
    ts: "2026-11-21T11:40:00.000Z",
    miss: "idle_5m",
    miss_by: "inferred",
  } as const;
  const idle = (await explain(t, [...records, inferred], ID)).stdout.replaceAll(/\s+/g, " ");
  assert.match(
    idle,
    /5 minutes; it was idle for 18 minutes \(inferred from the requests of its conversation\)/,
  );
  const document = JSON.parse((await explain(t, [...records, one], ID, "--json")).stdout) as Record<
    string,
    unknown
  >;
  assert.deepEqual(document["miss"], {
    reason: "tools_changed",
    by: "said",
    tokens: 9_600,
    meaning: "the tools changed",
    cost_usd: "0.0108",
    plan_worth_usd: null,
    is_exact: true,
    habit: "Connect MCP servers and choose tools before a session starts, and then leave them as they are.",
  });
});

function withoutVersion(page: string): string {
  return page.replaceAll(/^prices .*$/gm, "prices");
}

test("docs/watching.md shows the page as it is, but for the version of the prices", async (t) => {
  const { stdout } = await explain(t, shopRecords(), ID);
  const [page = ""] = withoutVersion(stdout).split("\n\nmore ");
  assert.ok(withoutVersion(readPage("watching.md")).includes(page));
});

test("docs/ledger.md has the words for each flag", () => {
  const [, section = ""] = /^### Flags\n([^]*?)\n### /m.exec(readPage("ledger.md")) ?? [];
  const rows = [...section.matchAll(/^\| `(\w+)`[ *]+\| (.+?) +\|$/gm)];
  assert.ok(rows.length > 30);
  for (const [, flag = "", words = ""] of rows) {
    const plain = words.replaceAll(/\[([^\]]+)\]\([^)]+\)|`/g, "$1");
    assert.ok(plain.endsWith(describeFlag(flag)), flag);
  }
});

test("explain finds a request by the upstream's id, and the newest one of all and of a tool", async (t) => {
  const records = [
    usageRecord({ id: "first", tool: "zed", upstream_request_id: "req_1" }),
    usageRecord({ id: "second" }),
  ];
  const { command } = prepare(t, records);
  const idOf = async (...args: string[]) =>
    (parseJsonOutput((await command("explain", ...args, "--json")).stdout) as { record: UsageRecord }).record
      .id;
  assert.equal(await idOf("req_1"), "first");
  assert.equal(await idOf("last"), "second");
  assert.equal(await idOf("last", "--tool", "z*"), "first");
});

test("what explain cannot find is an error with the next command, and wrong usage is code 2", async (t) => {
  const { command } = prepare(t, [usageRecord()]);
  const unknown = await command("explain", ID);
  assert.equal(unknown.code, 1);
  assert.match(
    unknown.stderr,
    /no record with this id\nhint: .*tollkeeper tail --json\n +.*tollkeeper explain last\n/,
  );
  const mistyped = await command("explain", "last", "--tool", "codx");
  assert.equal(mistyped.code, 1);
  assert.match(
    mistyped.stderr,
    /no request of codx .*\nhint: did you mean codex\? .*explain last --tool codex\n/,
  );
  const other = await command("explain", "last", "--tool", "nightly");
  assert.match(other.stderr, /type: tollkeeper usage\n/);
  const both = await command("explain", ID, "--tool", "codex");
  assert.equal(both.code, 2);
  assert.match(both.stderr, /type: tollkeeper explain last --tool codex\n/);
  const none = await command("explain");
  assert.equal(none.code, 2);
  assert.match(none.stderr, /"explain" needs the id of a record, or the word last\n/);
  const mistypedOption = await command("explain", ID, "--jsn");
  assert.match(mistypedOption.stderr, /did you mean "--json"/);
  const empty = await homeWithLedger(t, {}, CONFIG).command("explain", "last");
  assert.equal(empty.code, 1);
  assert.match(empty.stderr, /no request is recorded yet\nhint: .*tollkeeper connect --list\n/);
});

test("a request that tollkeeper refused went nowhere, and the page says why and what to type", async (t) => {
  const daemon = await startDaemon(t, {
    config: {
      tools: { codex: { group: "small" } },
      groups: { small: { models: ["gpt-5-mini"] } },
    },
  });
  const response = await post(daemon, "/t/codex/v1/responses", { model: "gpt-5", input: "hi" });
  await response.text();
  const { code, stdout } = await daemon.command("explain", "last");
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^codex asked for gpt-5 on .*: tollkeeper refused it, because the tool's group did not allow the model\.\n/,
  );
  assert.match(stdout, /\nwhere +nowhere, because tollkeeper refused it \(model_not_allowed\)\n/);
  assert.match(stdout, /\nnext +type: .*route gpt-5 --tool codex\n/);
  assert.match(stdout, /\nused +nothing: it counts as failed, without a cost\n/);
  assert.doesNotMatch(stdout, /\ncost |\ncompared /);
  const allowed = await post(daemon, "/t/codex/v1/responses", { model: "gpt-5-mini", input: "hi" });
  await allowed.text();
  const { stdout: sandbox } = await daemon.command("explain", "last");
  assert.match(sandbox, /\nwhere +the built-in sandbox, .*nothing left this machine\n/);
  assert.match(sandbox, /\ncost +free: the sandbox made up its tokens\n/);
});

/** Returns the page of the last of some records. */
async function pageOf(t: TestContext, records: readonly UsageRecord[], width = Infinity): Promise<string> {
  const last = records.at(-1) ?? assert.fail();
  const { configFile, directory } = prepare(t, records);
  const config = await loadConfig(configFile);
  const prices = priceBook(CONFIG.upstreams);
  const page = renderPage(await examine(last, { config, directory, prices }), { width, isColoured: false });
  return page.replaceAll(programName(), "tollkeeper");
}

const claude = (changes: Partial<UsageRecord> = {}) =>
  usageRecord({
    upstream: "anthropic",
    route: "/messages",
    model: "claude-sonnet-5",
    model_requested: "claude-sonnet-5",
    ...changes,
  });

test("the cost names each factor of a price, the long-context price, and what has no price", async (t) => {
  const set = tokens({ input_uncached: 300_000, cache_write: 1000, output: 10 });
  const changes = { model: "claude-sonnet-4-5", service_tier: "batch", tokens: set };
  const page = await pageOf(t, [claude(changes)]);
  assert.match(
    page,
    /uncached +300,000 +\$6 per million \(long context\) +0\.5 \(tier batch\), 0\.9 \(discount\) +\$0\.81\n/,
  );
  assert.match(page, /to cache \(5 min\) +1,000 /);
  // The usage of a request that has searched is that of several prompts, whose sizes are not known.
  const searched = await pageOf(t, [claude({ ...changes, server_tools: { web_search: 2 } })]);
  assert.match(searched, /web searches +2 +\$10 per thousand +0\.9 \(discount\) +\$0\.018\n +at least /);
  assert.match(searched, /uncached +300,000 +\$3 per million +0\.5/);
  assert.match(searched, /\nunpriced +long context of claude-sonnet-4-5\n/);
  const unpriced = await pageOf(t, [claude({ model: "no such model", model_requested: null })]);
  assert.match(unpriced, /: it completed after 900 ms and cost an unknown amount\.\n/);
  assert.match(unpriced, /\ncost +an unknown amount\nunpriced /);
  assert.match(
    unpriced,
    /\nunpriced +no such model\n +to set a price, type: tollkeeper prices 'no such model'\n/,
  );
});

test("what a plan paid costs nothing more, and has a worth; what the service billed or a local server served is said to be that", async (t) => {
  const plan = await pageOf(t, [
    claude({ upstream: "plan:claude", key: "plan:claude", tokens: tokens({ output: 1000 }) }),
  ]);
  assert.match(plan, /^codex asked for claude-sonnet-5 .* and a plan paid it, which was worth \$0\.0100\.\n/);
  assert.match(plan, /\nwhere +the service of the plan plan:claude, with the tool's own login\n/);
  assert.match(
    plan,
    /\ncost +nothing more than the plan\. With a key it would have cost \$0\.0100\n +count[^\n]*\n +output +1,000 /,
  );
  const billed = await pageOf(t, [claude({ billed_usd: "0.25" })]);
  assert.match(billed, /\ncost +\$0\.250, which the service says that it charged\n\n/);
  const local = await pageOf(t, [claude({ upstream: "local", model: "qwen3", model_requested: "qwen3" })]);
  assert.match(local, /\nwhere +local \(http:\/\/127\.0\.0\.1:11434\/v1\), which takes no key\n/);
  assert.match(local, /\ncost +free: local takes no key\n/);
});

test("usage that is not exact is said to be so, with what stands in for it", async (t) => {
  const cut = await pageOf(t, [
    claude({
      outcome: "cut",
      cut_by: "client",
      usage: "partial",
      output_estimate: 320,
      reserved_input: 10,
      reserved_output: 4000,
    }),
  ]);
  assert.match(cut, /: the tool cut the response off after 900 ms and cost at least \$/);
  assert.match(
    cut,
    /\ncertainty +The response was cut off: the tokens are a lower bound\.\n +its text is about 320 tokens, by an estimate that is in no sum\n +budgets count what they had reserved: 10 in, 4,000 out\n/,
  );
  const absent = await pageOf(t, [claude({ usage: "absent", tokens: null })]);
  assert.match(absent, /\nused +The service reported no usage: the tokens are unknown, and not 0\.\n/);
  assert.match(absent, /\ncost +an unknown amount: the service reported no usage\n/);
  const limited = claude({ outcome: "error", status: 429, error_type: "rate_limit_error" });
  const error = await pageOf(t, [{ ...limited, tokens: null, usage: "absent" }]);
  assert.match(error, /: the service responded with an error \(rate_limit_error\) after 900 ms\.\n/);
  const odd = await pageOf(t, [claude({ usage: "partial", flags: ["undecided"] })]);
  assert.match(
    odd,
    /\ncertainty +The service contradicts itself: the tokens are a lower bound\.\nunusual +nothing says which of the figures that contradict each other is right\n/,
  );
  const later = await pageOf(t, [claude({ flags: ["openai_names", "of_a_later_version" as "summed"] })]);
  assert.match(later, /\nunusual +another API's names for the counts\n +of_a_later_version\n/);
});

test("the attempts of a fallback are listed, and a background response says for which request it counts", async (t) => {
  const first = claude({
    id: "first",
    outcome: "rejected",
    error_type: "upstream_unreachable",
    status: null,
    tokens: null,
    usage: "absent",
  });
  const second = claude({
    id: "second",
    upstream: "spare",
    attempt_of: "first",
    alias: "claude-opus-5",
    model: "claude-opus-5-20260901",
  });
  const page = await pageOf(t, [first, second]);
  assert.match(
    page,
    /\nattempts +1\. anthropic: no status, upstream_unreachable, 900 ms; for more, type: tollkeeper explain first\n +2\. spare: 200, completed, 900 ms; this one\n/,
  );
  assert.match(
    page,
    /\nmodel +claude-sonnet-5, an alias: claude-opus-5 was asked for; claude-opus-5-20260901 served\n/,
  );
  const failed = await pageOf(t, [second, first]);
  assert.match(failed, /: no response came, because no connection to it could be made\.\n/);
  assert.match(failed, /\nwhere +anthropic \(.*\), which gave no response \(upstream_unreachable\)\n/);
  const about = { response_id: "resp_1", spend: "attach_by_response_id" } as const;
  const created = usageRecord({ ...about, id: "created", outcome: "queued", usage: "pending", tokens: null });
  const fetched = usageRecord({ ...about, id: "fetched", method: "GET", route: "/responses/{id}" });
  assert.match(
    await pageOf(t, [created, fetched]),
    /\nused +the response counts for the request that created it: tollkeeper explain created\n/,
  );
  assert.match(
    await pageOf(t, [fetched, created]),
    /\n +a later fetch brought the usage: tollkeeper explain fetched\n/,
  );
});

test("no line of the page is wider than the terminal, but for commands and ids, and others' words cannot act on it", async (t) => {
  const records = shopRecords();
  const last = records.at(-1) ?? assert.fail();
  const hostile = {
    ...last,
    model_requested: "a\nwho  me",
    stop: "\u001b[2J",
    user_agent: "客户端 ".repeat(60),
  };
  for (const shown of [records, [...records.slice(0, -1), hostile]])
    for (const width of [60, 72, 80, 100, 120, 240]) {
      const page = await pageOf(t, shown, width);
      assert.ok(!page.includes("\u001b"));
      assert.doesNotMatch(page, /^who {2}me/m);
      const wide = page.split("\n").filter((line) => widthOf(line) > width && !/^ +tollkeeper /.test(line));
      assert.deepEqual(wide, [], `${width}`);
    }
});

test("docs/json.md describes every field of the document, which has no less for a request that failed", async (t) => {
  const [, section = ""] = /^## `explain`\n([^]*?)\n## /m.exec(readPage("json.md")) ?? [];
  const document = JSON.parse((await explain(t, shopRecords(), ID, "--json")).stdout) as Record<
    string,
    unknown
  >;
  const failed = JSON.parse(
    (
      await explain(
        t,
        [claude({ outcome: "rejected", error_type: "paused", tokens: null, usage: "absent" })],
        "last",
        "--json",
      )
    ).stdout,
  ) as Record<string, unknown>;
  assert.deepEqual(Object.keys(failed), Object.keys(document));
  assert.deepEqual(failed["refused"], {
    code: "paused",
    reason: "a person had paused the tool, its group or everything",
    command: "tollkeeper status",
  });
  for (const name of Object.keys(document)) assert.ok(section.includes(`\`${name}\``), name);
  assert.deepEqual(document["record"], { ...shopRecords().at(-1), ...(document["record"] as object) });
  assert.deepEqual((document["usual"] as Record<string, unknown>)["cost_usd"], {
    own: "0.0175",
    median: "0.0067",
    times: 0.0175 / 0.0067,
  });
  assert.deepEqual(document["cache"], { share: 0, before: { requests: 8, share: 0.96 } });
});
