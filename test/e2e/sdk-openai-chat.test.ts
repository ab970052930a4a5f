import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { StreamsWithoutUsage } from "../../src/core/ledger/streams-without-usage.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import {
  assertRecordHas,
  assertLedgerMatchesBilling,
  ledgerTokens,
  startGateWithSandbox,
} from "../helpers/ledger/sandbox-billing.ts";

type Request = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "stream">;
type Completion = OpenAI.ChatCompletion;

const MODES = {
  complete: (client: OpenAI, request: Request): Promise<Completion> =>
    client.chat.completions.create(request),
  streamed: (client: OpenAI, request: Request): Promise<Completion> =>
    client.chat.completions
      .stream({ ...request, stream_options: { include_usage: true } })
      .finalChatCompletion(),
};

const hello = (content: string): OpenAI.ChatCompletionMessageParam => ({ role: "user", content });

const HELLO: Request = { model: "gpt-5", messages: [hello("hello")] };

const WEATHER: OpenAI.ChatCompletionTool = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

/** Long enough to be cached. */
const LONG = [hello("Be brief. ".repeat(1000)), hello("hello")];

interface Case {
  name: string;
  request: Partial<Request>;
  /** True when the response shows what the case is about. */
  isShown(response: Completion): boolean;
}

/** In this order, because a case reads from the cache what the previous one has written. */
const CASES: Case[] = [
  {
    name: "text",
    request: {},
    isShown: ({ choices }) => choices[0]?.message.content?.includes("hello") === true,
  },
  {
    name: "tool use",
    request: { tools: [WEATHER], messages: [hello("use the tool get_weather")] },
    isShown: ({ choices }) => choices[0]?.finish_reason === "tool_calls",
  },
  {
    name: "several choices",
    request: { n: 2 },
    isShown: ({ choices }) => choices.length === 2,
  },
  {
    name: "cache, first time",
    request: { messages: LONG },
    isShown: ({ usage }) => usage?.prompt_tokens_details?.cached_tokens === 0,
  },
  {
    name: "cache read",
    request: { messages: LONG },
    isShown: ({ usage }) => (usage?.prompt_tokens_details?.cached_tokens ?? 0) > 0,
  },
  {
    name: "max_completion_tokens",
    request: { max_completion_tokens: 3 },
    isShown: ({ choices, usage }) => choices[0]?.finish_reason === "length" && usage?.completion_tokens === 3,
  },
];

/** The expected record of a response, from what the SDK returns. */
function expectRecord({ id, model, choices, usage }: Completion): Partial<UsageRecord> {
  assert.ok(usage);
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const tokens = ledgerTokens({
    uncached: usage.prompt_tokens - cached,
    read: cached,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? null,
  });
  assert.equal(tokens.total, usage.total_tokens);
  const stop = choices[0]?.finish_reason ?? null;
  return {
    tool: "openai-sdk",
    route: "/chat/completions",
    usage: "final",
    spend: "count",
    status: 200,
    outcome: stop === "length" ? "incomplete" : "completed",
    stop,
    response_id: id,
    model,
    tokens,
    flags: [],
  };
}

for (const [mode, ask] of Object.entries(MODES)) {
  test(`each record of openai on /chat/completions (${mode}) equals the usage that the SDK reports`, async (t) => {
    const { gate, sandbox } = await startGateWithSandbox(t);
    const client = new OpenAI({ baseURL: `${gate.url}/v1`, apiKey: "placeholder" });
    for (const { name, request, isShown } of CASES) {
      const response = await ask(client, { ...HELLO, ...request });
      assert.ok(isShown(response), name);
      const expected = { ...expectRecord(response), stream: mode === "streamed" };
      assertRecordHas(gate.ledger.records.at(-1), expected, name);
    }
    assert.equal(gate.ledger.records.length, CASES.length);
    assertLedgerMatchesBilling(gate.ledger.records, sandbox);
  });
}

test("a stream of openai reports no usage by default, its usage is absent, and its program is named for it", async (t) => {
  const { gate } = await startGateWithSandbox(t);
  const client = new OpenAI({ baseURL: `${gate.url}/v1`, apiKey: "placeholder" });
  for await (const chunk of await client.chat.completions.create({ ...HELLO, stream: true })) {
    assert.equal(chunk.usage ?? null, null);
  }
  const [record] = gate.ledger.records;
  const expected = { usage: "absent", outcome: "completed", stream: true, tokens: null } as const;
  assertRecordHas(record, expected, "without usage");
  const streams = new StreamsWithoutUsage();
  for (const one of gate.ledger.records) streams.add(one);
  assert.deepEqual(
    streams.tools().map(({ tool }) => tool),
    ["openai-sdk"],
  );
});

test("completions and embeddings of openai are recorded with the usage that the SDK reports", async (t) => {
  const { gate, sandbox } = await startGateWithSandbox(t);
  const client = new OpenAI({ baseURL: `${gate.url}/v1`, apiKey: "placeholder" });
  const { usage } = await client.completions.create({ model: "gpt-5", prompt: "hello" });
  const totals = [usage?.total_tokens];
  const embeddings = await client.embeddings.create({ model: "text-embedding-3-small", input: "hello" });
  totals.push(embeddings.usage.total_tokens);
  assert.deepEqual(
    gate.ledger.records.map(({ route, usage: state }) => `${route} ${state}`),
    ["/completions final", "/embeddings final"],
  );
  assert.deepEqual(
    gate.ledger.records.map(({ tokens }) => tokens?.total),
    totals,
  );
  assertLedgerMatchesBilling(gate.ledger.records, sandbox);
});
