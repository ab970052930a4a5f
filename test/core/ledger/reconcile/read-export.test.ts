import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../../src/core/failure.ts";
import { readExport } from "../../../../src/core/ledger/reconcile/read-export.ts";
import { formatMoney } from "../../../../src/core/price/money.ts";

/** Reads an export. Returns its form, and each row as `when model input/read/write/output cost`. */
function read(text: string, reading: Partial<Parameters<typeof readExport>[1]> = {}) {
  const { form, rows, keys } = readExport(text, { map: null, only: null, ...reading });
  const shown = rows.map(({ when, model, tokens, cost }) => {
    const time = "day" in when ? when.day : new Date(when.at).toISOString();
    const { input, cache_read, cache_write, output } = tokens ?? {};
    const counts = tokens === null ? "-" : [input, cache_read, cache_write, output].join("/");
    return `${time} ${model} ${counts} ${cost === null ? "-" : formatMoney(cost)}`;
  });
  return { form, shown, keys: [...keys] };
}

test("reads the usage export of Anthropic's console, by day and by hour, quoted and with a byte order mark", () => {
  const header =
    "usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count,inference_geo,speed";
  const rows = [
    "2026-11-20,claude-opus-5,laptop,Default,standard,≤ 200k,100,20,3,4000,50,0,global,",
    '2026-11-20 13:00,claude-opus-5,"ci, nightly",Default,standard,≤ 200k,"1,000",0,0,0,5,10,not_available,',
  ];
  assert.deepEqual(read(`\uFEFF${[header, ...rows].join("\r\n")}\r\n`), {
    form: "Anthropic's usage (CSV of the console)",
    shown: [
      "2026-11-20 claude-opus-5 4123/4000/23/50 -",
      "2026-11-20T13:00:00.000Z claude-opus-5 1000/0/0/5 -",
    ],
    keys: [
      ["laptop", 1],
      ["ci, nightly", 1],
    ],
  });
});

test("reads the cost export of Anthropic's console", () => {
  const text = [
    "usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,list_price_usd,cost_type",
    "2026-11-20,Claude Sonnet 4.5,Default,laptop,message,≤ 200k,input_no_cache,0.05,0.05,token",
    "2026-11-20,Claude Sonnet 4.5,Default,laptop,message,≤ 200k,output,1.20,1.20,token",
  ].join("\n");
  const { form, shown } = read(text);
  assert.equal(form, "Anthropic's costs (CSV of the console)");
  assert.deepEqual(shown, ["2026-11-20 Claude Sonnet 4.5 - 0.05", "2026-11-20 Claude Sonnet 4.5 - 1.2"]);
});

test("reads the reports of Anthropic's Admin API, one page or several", () => {
  const page = {
    data: [
      {
        starting_at: "2026-11-20T00:00:00Z",
        ending_at: "2026-11-21T00:00:00Z",
        results: [
          {
            uncached_input_tokens: 100,
            cache_creation: { ephemeral_1h_input_tokens: 3, ephemeral_5m_input_tokens: 20 },
            cache_read_input_tokens: 4000,
            output_tokens: 50,
            model: "claude-opus-5",
            api_key_id: null,
          },
        ],
      },
      { starting_at: "2026-11-21T00:00:00Z", ending_at: "2026-11-22T00:00:00Z", results: [] },
    ],
    has_more: false,
  };
  const expected = "2026-11-20 claude-opus-5 4123/4000/23/50 -";
  assert.deepEqual(read(JSON.stringify(page)).shown, [expected]);
  assert.deepEqual(read(JSON.stringify([page, page])).shown, [expected, expected]);
  const cost = {
    data: [
      {
        starting_at: "2026-11-20T00:00:00Z",
        ending_at: "2026-11-21T00:00:00Z",
        results: [{ amount: "123.456", currency: "USD", model: "claude-opus-5", cost_type: "tokens" }],
      },
    ],
  };
  const { form, shown } = read(JSON.stringify(cost));
  assert.equal(form, "Anthropic's costs (report of the Admin API)");
  assert.deepEqual(shown, ["2026-11-20 claude-opus-5 - 1.23456"], "amounts are in cents");
});

test("reads OpenAI's usage, from the API with seconds and from the console, and its costs", () => {
  const start = Date.UTC(2026, 10, 20) / 1000;
  const result = {
    input_tokens: 1000,
    output_tokens: 500,
    input_cached_tokens: 800,
    num_model_requests: 5,
    model: "gpt-5.5",
  };
  const bucket = { object: "bucket", start_time: start, end_time: start + 86_400, results: [result] };
  const { form, shown } = read(JSON.stringify({ object: "page", data: [bucket] }));
  assert.equal(form, "OpenAI's usage of completions and responses");
  assert.deepEqual(shown, ["2026-11-20 gpt-5.5 1000/800//500 -"], "what it does not say is not 0");
  const hour = { ...bucket, end_time: start + 3600, results: [{ ...result, input_cache_write_tokens: 7 }] };
  assert.deepEqual(read(JSON.stringify({ data: [hour] })).shown, [
    "2026-11-20T00:00:00.000Z gpt-5.5 1000/800/7/500 -",
  ]);
  const csv = `start_time,end_time,num_model_requests,model,input_tokens,output_tokens,input_cached_tokens\n${start},${start + 86_400},5,gpt-5.5,1000,500,800\n`;
  assert.deepEqual(read(csv).shown, shown);
  const costs = {
    data: [{ ...bucket, results: [{ amount: { value: 0.06, currency: "usd" }, line_item: null }] }],
  };
  assert.deepEqual(read(JSON.stringify(costs)).shown, ["2026-11-20 null - 0.06"]);
});

test("reads any other export by the columns that are mapped", () => {
  const text = "Day;Model;Prompt;Cached;Completion;Price\n20.11.2026;m;1;2;3;4\n";
  const map = {
    date: "Day",
    model: "Model",
    uncached: "Prompt",
    cache_read: "Cached",
    output: "Completion",
    cost: "Price",
  };
  assert.throws(
    () => read(text, { map }),
    /row 1 of the export cannot be read/,
    "the order of that date is anyone's guess",
  );
  assert.deepEqual(read(text.replace("20.11.2026", "2026/11/2"), { map }).shown, ["2026-11-02 m 3/2//3 4"]);
  const whole = { date: "Day", input: "Prompt", output: "Completion" };
  assert.deepEqual(read(text.replace("20.11.2026", "2026-11-20"), { map: whole }).shown, [
    "2026-11-20 null 1///3 -",
  ]);
});

test("reads only the rows that a column chooses", () => {
  const text = "date,key,in,out\n2026-11-20,a,1,2\n2026-11-20,b,3,4\n";
  const map = { date: "date", input: "in", output: "out" };
  const { shown } = read(text, { map, only: { column: "key", value: "b" } });
  assert.deepEqual(shown, ["2026-11-20 null 3///4 -"]);
  assert.throws(() => read(text, { map, only: { column: "user", value: "b" } }), /no column user/);
});

/** Returns message and hint of the failure to read an export. */
function failure(text: string, reading = {}): string {
  try {
    read(text, reading);
  } catch (error) {
    assert.ok(error instanceof Failure);
    return `${error.message}; ${error.hint}`;
  }
  return "";
}

test("refuses what it cannot read, and names the columns that there are", () => {
  assert.match(failure(""), /has no rows/);
  assert.match(failure('{"data":['), /not valid JSON/);
  assert.match(failure("day,tokens\n1,2\n"), /of no known kind; its columns are: day, tokens; .*--map/);
  assert.match(
    failure("day,tokens\n1,2\n", { map: { date: "date" } }),
    /--map names is not in the export; its columns are: day, tokens/,
  );
  assert.match(
    failure("usage_input_tokens_no_cache,usage_output_tokens,usage_date_utc\n1.5,2,2026-11-20\n"),
    /^row 1 /,
  );
});

/** A bucket of a report of Anthropic's Admin API. */
const adminBucket = (day: string, results: object[]) => ({
  starting_at: `${day}T00:00:00Z`,
  ending_at: new Date(Date.parse(day) + 86_400_000).toISOString(),
  results,
});

test("a bucket without usage is known to be empty, whatever its kind, and a report of nothing else is refused", () => {
  const cost = { amount: "100", currency: "USD", model: "claude-opus-5" };
  const page = { data: [adminBucket("2026-11-19", []), adminBucket("2026-11-20", [cost])] };
  const { rows, empty, nothing } = readExport(JSON.stringify(page), { map: null, only: null });
  assert.deepEqual([rows.length, empty], [1, [{ day: "2026-11-19" }]]);
  assert.deepEqual(nothing, { tokens: null, cost: 0n });
  assert.match(
    failure(JSON.stringify({ data: [adminBucket("2026-11-19", [])] })),
    /^the export has no usage; /,
  );
  const csv =
    "start_time,num_model_requests,model,input_tokens,output_tokens\n2026-11-19,,,,\n2026-11-20,1,m,2,3\n";
  assert.deepEqual(readExport(csv, { map: null, only: null }).empty, [{ day: "2026-11-19" }]);
  const mapped = { map: { date: "d", input: "i", output: "o" }, only: null };
  assert.deepEqual(readExport("d,i,o\n2026-11-19,,\n2026-11-20,1,2\n", mapped).empty, [
    { day: "2026-11-19" },
  ]);
});

test("a row that cannot be read has its number in the file, whichever rows are wanted", () => {
  const text = "date,key,in,out\n2026-11-20,a,1,2\n2026-11-20,b,x,4\n";
  const reading = {
    map: { date: "date", input: "in", output: "out" },
    only: { column: "key", value: "b" },
  };
  assert.match(failure(text, reading), /^row 2 of the export cannot be read/);
});

test("the columns of an unknown export are guessed, and the guess can be typed", () => {
  const text = "key,day,model_name,prompt_tokens,completion_tokens\nlaptop,2026-11-20,m,1,2\n";
  const [, columns = ""] = /--map (\S+)$/.exec(failure(text)) ?? [];
  assert.equal(columns, "date=day,model=model_name,input=prompt_tokens,output=completion_tokens");
  const map = Object.fromEntries(columns.split(",").map((pair) => pair.split("=")));
  assert.deepEqual(read(text, { map }).shown, ["2026-11-20 m 1///2 -"]);
});
