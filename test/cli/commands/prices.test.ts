import { usualConfigFile } from "../../helpers/config/config-file.ts";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { priceTable } from "../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const CONFIG = {
  upstreams: {
    anthropic: { baseUrl: "https://api.anthropic.com/v1", apis: ["messages"], discount: 12.5 },
    europe: { baseUrl: "https://eu.api.openai.com/v1", models: ["gpt*"] },
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none", models: ["qwen*"] },
    gateway: { baseUrl: "https://gateway.example/v1", models: ["my-*"], prices: { "my-*": { input: 3 } } },
  },
  prices: { "house-*": { from: "2026-11-01", input: 0.1 } },
};

function prepare(t: TestContext, config: object = CONFIG) {
  const home = scratchDirectory(t);
  const file = usualConfigFile(home);
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_RUNTIME_DIR: home };
  return (...args: string[]) => runProgram(["prices", ...args, "--config", file], { env });
}

function prepareWithRecords(t: TestContext, records: readonly UsageRecord[]) {
  const directory = scratchDirectory(t);
  writeFileSync(
    join(directory, "2026-11-20.ndjson"),
    records.map((record) => `${JSON.stringify(record)}\n`).join(""),
    { mode: 0o600 },
  );
  return prepare(t, { ...CONFIG, ledger: { directory } });
}

test("prices says where prices come from, at each upstream", async (t) => {
  const { code, stdout } = await prepare(t)();
  assert.equal(code, 0);
  assert.match(
    stdout,
    new RegExp(`^table +${priceTable.source}, as of ${priceTable.asOf}, [\\d,]+ days? ago\n`),
  );
  assert.match(stdout, /\nconfigured +house-\*\n/);
  assert.match(stdout, /\nanthropic +anthropic in the table, \d+ models; 12\.5 % off\n/);
  assert.match(stdout, /\neurope +openai in the table, \d+ models\n/);
  assert.match(stdout, /\nlocal +free, because it takes no key\n/);
  assert.match(stdout, /\ngateway +its own for my-\*; makers' prices, not in the table\n/);
  assert.match(stdout, /type: tollkeeper prices MODEL\n/);
});

test("a price table that is older than 60 days is said to be old", async (t) => {
  const { stdout } = await prepare(t)();
  const days = Math.floor((Date.now() - Date.parse(priceTable.asOf)) / 86_400_000);
  const isSaid = stdout.includes(
    `The price table is ${days} days old: newer models and price changes are missing`,
  );
  assert.equal(isSaid, days > 60);
});

test("prices of a model are those of the upstream that serves it, with an example line by line", async (t) => {
  const { code, stdout } = await prepare(t)("claude-sonnet-4-5");
  assert.equal(code, 0);
  assert.match(stdout, /^model +claude-sonnet-4-5\nupstream +anthropic\n/);
  assert.match(stdout, /\nprices +anthropic\/claude-sonnet-4-5 in @pydantic\/genai-prices /);
  assert.match(stdout, /\ncontext +200,000 tokens\ndiscount +87\.5 % of each price remains\n/);
  assert.match(
    stdout,
    /\ncache read +0\.3 +1M tokens\n +0\.6 +1M tokens, if the whole input is above 200,000\n/,
  );
  // 40 000 * 0.3 * 0.875 = 10 500 millionths
  assert.match(stdout, /\ncache read +40,000 +0\.3 +1,000,000 +0\.875 \(discount\) +\$0\.0105\n/);
  // (1000 * 3 + 40 000 * 0.3 + 3000 * 3.75 + 2000 * 6 + 800 * 15) / 10^6 + 2 * 10 / 1000 = 0.07025; * 0.875
  assert.match(stdout, /\ntotal +\$0\.06146875\n/);
});

test("prices of a model count a region, and the day of the request", async (t) => {
  const prices = prepare(t);
  const { stdout } = await prices("gpt-5.6-sol", "--on", "2026-08-20", "--json");
  const { table, example, ...rest } = parseJsonOutput(stdout) as {
    table: unknown;
    example: { lines: { class: string; factors: unknown; amountUsd: string }[] };
  };
  assert.deepEqual(Object.keys(table as object), ["source", "asOf", "ageDays", "sources", "imported"]);
  const output = { class: "output", usd: "30", per: 1_000_000, tiers: [{ above: 271_999, usd: "45" }] };
  assert.deepEqual(rest, {
    model: "gpt-5.6-sol",
    upstream: "europe",
    contextWindow: 1_050_000,
    assumed: [],
    source: { name: "@pydantic/genai-prices 0.1.8", asOf: "2026-09-23" },
    from: "table",
    provider: "openai",
    listedAs: "gpt-5.6-sol",
    region: "eu",
    discountFactor: null,
    others: [],
    prices: [
      { class: "input", usd: "5", per: 1_000_000, tiers: [{ above: 271_999, usd: "10" }] },
      { class: "cacheRead", usd: "0.5", per: 1_000_000, tiers: [{ above: 271_999, usd: "1" }] },
      { class: "cacheWrite", usd: "6.25", per: 1_000_000, tiers: [{ above: 271_999, usd: "12.5" }] },
      output,
      { class: "webSearch", usd: "10", per: 1000, tiers: [] },
    ],
  });
  // 1000 * 5 * 1.1
  assert.deepEqual(example.lines[0], {
    class: "input_uncached",
    model: "gpt-5.6-sol",
    source: "openai",
    count: 1000,
    usd: "5",
    per: 1_000_000,
    factors: [{ what: "region eu", value: "1.1" }],
    amountUsd: "0.0055",
  });
});

test("prices says what is free, what the configuration prices, and what has no price", async (t) => {
  const prices = prepare(t);
  const free = await prices("qwen3", "--upstream", "local");
  assert.deepEqual([free.code, /\nprices +free: the upstream takes no key/.test(free.stdout)], [0, true]);
  const own = await prices("my-1", "--upstream", "gateway");
  assert.match(own.stdout, /\nprices +the configuration\n\n +USD +for\nuncached input +3 +1M tokens\n/);
  const early = await prices("house-1", "--on", "2026-10-31");
  assert.equal(early.code, 1);
  assert.match(early.stdout, /\nprices +unpriced: .*\n[^]*\n {2}tollkeeper config set prices.house-1 /);
  assert.equal((await prices("house-1", "--on", "2026-11-01")).code, 0);
});

test("prices of a model that no upstream serves names the next command", async (t) => {
  const { upstreams } = CONFIG;
  const prices = prepare(t, { upstreams: { local: upstreams.local } });
  const nobody = await prices("gpt-5");
  assert.deepEqual([nobody.code, nobody.stdout], [1, ""]);
  assert.match(nobody.stderr, /^error: no upstream serves gpt-5\nhint: .*tollkeeper route gpt-5\n$/);
  const unknown = await prices("gpt-5", "--upstream", "remote");
  assert.match(unknown.stderr, /^error: no upstream is called "remote"\nhint: name one of: local\n$/);
});

test("prices without a model takes no option that needs one, and --on takes a day", async (t) => {
  const prices = prepare(t);
  assert.equal((await prices("--upstream", "local")).code, 2);
  assert.equal((await prices("gpt-5", "--on", "yesterday")).code, 2);
  assert.equal((await prices("gpt-5", "--on", "2026-02-30")).code, 2);
});

test("in the sandbox everything is free", async (t) => {
  const { stdout } = await prepare(t, {})("claude-sonnet-5");
  assert.match(stdout, /^model +claude-sonnet-5\nupstream +sandbox\nprices +free/);
});

/** A request to `anthropic`, whose prices have a discount of an eighth. */
const RECORD = usageRecord({
  id: "00000000-0000-4000-8000-000000000001",
  ts: "2026-11-20T10:00:00.000Z",
  upstream: "anthropic",
  model: "claude-sonnet-4-5",
  tokens: tokens({ input_uncached: 1_000, cache_read: 40_000, output: 800 }),
});

test("prices of a record say what that request cost, line by line", async (t) => {
  const prices = prepareWithRecords(t, [
    RECORD,
    { ...RECORD, id: "of-no-model", model: "house-0" },
    { ...RECORD, id: "of-no-price", model: "unlisted-1" },
  ]);
  const { code, stdout } = await prices("--record", RECORD.id);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^request +2026-11-20 \d\d:00:00, codex\nmodel +claude-sonnet-4-5\nupstream +anthropic\n/,
  );
  assert.match(stdout, /\ncache read +40,000 +0\.3 +1,000,000 +0\.875 \(discount\) +\$0\.0105\n/);
  // (1000 * 3 + 40 000 * 0.3 + 800 * 15) / 10^6 * 0.875
  assert.match(stdout, /\ntotal +\$0\.023625\n/);
  const { cost } = parseJsonOutput((await prices("--record", RECORD.id, "--json")).stdout) as {
    cost: object;
  };
  const { lines, ...sums } = cost as { lines: { amountUsd: string }[] };
  assert.deepEqual(sums, {
    amountUsd: "0.023625",
    isComplete: true,
    isLowerBound: false,
    from: "table",
    missing: [],
  });
  assert.deepEqual(
    lines.map(({ amountUsd }) => amountUsd),
    ["0.002625", "0.0105", "0.0105"],
  );
  assert.match(
    (await prices("--record", "of-no-model")).stdout,
    /\nat least +unpriced: cache_read, output +\$0\.0000875\n/,
  );
  const nothing = await prices("--record", "of-no-price");
  assert.match(
    nothing.stdout,
    /\ncost +unpriced: unlisted-1 has no price\. Used: 1,000 uncached input, 40,000 cache read, 0 cache write, 800 output\. To set one, type: tollkeeper prices unlisted-1\n$/,
  );
  const missing = await prices("--record", "no-such-id");
  assert.deepEqual([missing.code, missing.stderr.includes("tollkeeper tail --json")], [1, true]);
  assert.equal((await prices("--record", RECORD.id, "claude-sonnet-4-5")).code, 2);
});

test("prices of a record that a plan paid say what it would have cost with a key", async (t) => {
  const byPlan = { ...RECORD, upstream: "plan:claude", key: "plan:claude" };
  const failed = {
    ...byPlan,
    id: "failed",
    outcome: "error",
    status: 529,
    usage: "none",
    tokens: null,
  } as const;
  const prices = prepareWithRecords(t, [byPlan, failed]);
  const { stdout } = await prices("--record", RECORD.id);
  assert.match(stdout, /^cost +plan: nothing is charged for it\./m);
  // (1000 * 3 + 40 000 * 0.3 + 800 * 15) / 10^6
  assert.match(stdout, /\ntotal +\$0\.027\n/);
  const read = async (id: string) =>
    parseJsonOutput((await prices("--record", id, "--json")).stdout) as Record<
      "cost" | "worth",
      { amountUsd: string; from: string; lines: object[] }
    >;
  const { cost, worth } = await read(RECORD.id);
  assert.deepEqual([cost.amountUsd, cost.from, cost.lines], ["0", "free", []]);
  assert.deepEqual([worth.amountUsd, worth.from, worth.lines.length], ["0.027", "table", 3]);
  assert.match((await prices("--record", "failed")).stdout, /^cost +free: /m);
  assert.equal((await read("failed")).worth.amountUsd, "0");
});

test("prices of pictures and of video are for one each, also in an example", async (t) => {
  const run = prepare(t, {
    ...CONFIG,
    prices: { "imagen-*": { picture: 0.04 }, "veo-*": { videoSecond: 0.4 } },
  });
  const imagen = await run("imagen-4.0-generate-001", "--upstream", "anthropic");
  assert.match(imagen.stdout, /\npictures +0\.04 +each\n/);
  assert.match(imagen.stdout, /\npictures +1 +0\.04 +1 +0\.875 \(discount\) +\$0\.035\n/);
  const veo = await run("veo-3.1-generate-001", "--upstream", "europe");
  assert.match(veo.stdout, /\nseconds of video +0\.4 +each\n/);
  const asked = await run("veo-3.1-generate-001", "--upstream", "europe", "--json");
  const { prices } = parseJsonOutput(asked.stdout) as { prices: object[] };
  assert.deepEqual(prices, [{ class: "videoSecond", usd: "0.4", per: 1, tiers: [] }]);
});

test("prices of a record of pictures has them line by line", async (t) => {
  const record = usageRecord({
    ts: "2026-11-20T12:00:00.000Z",
    upstream: "gateway",
    route: "/images/generations",
    model: null,
    model_requested: "house-draws",
    usage: "none",
    tokens: null,
    server_tools: { picture: 3 },
  });
  const directory = scratchDirectory(t);
  writeFileSync(join(directory, "2026-11-20.ndjson"), `${JSON.stringify(record)}\n`, { mode: 0o600 });
  const run = prepare(t, { ...CONFIG, ledger: { directory }, prices: { "house-*": { picture: 0.08 } } });
  const { stdout, code } = await run("--record", record.id);
  assert.equal(code, 0);
  assert.match(stdout, /\npictures +3 +0\.08 +1 +\$0\.24\n/);
});
