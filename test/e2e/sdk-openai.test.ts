import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import {
  assertRecordHas,
  assertLedgerMatchesBilling,
  ledgerTokens,
  startGateWithSandbox,
} from "../helpers/ledger/sandbox-billing.ts";

type Request = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "stream">;
type Response = OpenAI.Responses.Response;

const MODES = {
  complete: (client: OpenAI, request: Request): Promise<Response> => client.responses.create(request),
  streamed: (client: OpenAI, request: Request): Promise<Response> =>
    client.responses.stream(request).finalResponse(),
};

const HELLO: Request = { model: "gpt-5", input: "hello" };

const WEATHER: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "get_weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: false,
};

/** Long enough to be cached. */
const INSTRUCTIONS = "Be brief. ".repeat(1000);

interface Case {
  name: string;
  request: Partial<Request>;
  /** True when the response shows what the case is about. */
  isShown(response: Response): boolean;
}

/** In this order, because a case reads from the cache what the previous one has written. */
const CASES: Case[] = [
  { name: "text", request: {}, isShown: ({ output_text }) => output_text.includes("hello") },
  {
    name: "reasoning",
    request: { reasoning: { effort: "low", summary: "auto" } },
    isShown: ({ usage }) => (usage?.output_tokens_details.reasoning_tokens ?? 0) > 0,
  },
  {
    name: "tool use",
    request: { tools: [WEATHER], input: "use the tool get_weather" },
    isShown: ({ output }) => output.some(({ type }) => type === "function_call"),
  },
  {
    name: "cache, first time",
    request: { instructions: INSTRUCTIONS },
    isShown: ({ usage }) => usage?.input_tokens_details.cached_tokens === 0,
  },
  {
    name: "cache read",
    request: { instructions: INSTRUCTIONS },
    isShown: ({ usage }) => (usage?.input_tokens_details.cached_tokens ?? 0) > 0,
  },
  {
    name: "max_output_tokens",
    request: { max_output_tokens: 3 },
    isShown: ({ status, usage }) => status === "incomplete" && usage?.output_tokens === 3,
  },
];

/** The expected record of a response, from what the SDK returns. */
function expectRecord(response: Response): Partial<UsageRecord> {
  const { usage } = response;
  assert.ok(usage);
  const cached = usage.input_tokens_details.cached_tokens;
  const tokens = ledgerTokens({
    uncached: usage.input_tokens - cached,
    read: cached,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details.reasoning_tokens,
  });
  assert.equal(tokens.total, usage.total_tokens);
  return {
    usage: "final",
    spend: "count",
    status: 200,
    outcome: response.status === "incomplete" ? "incomplete" : "completed",
    stop: response.incomplete_details?.reason ?? null,
    response_id: response.id,
    model: response.model,
    service_tier: response.service_tier ?? null,
    tokens,
    raw_usage: { ...usage },
    flags: [],
  };
}

for (const [mode, ask] of Object.entries(MODES)) {
  test(`each record of openai (${mode}) equals the usage that the SDK reports`, async (t) => {
    const { gate, sandbox } = await startGateWithSandbox(t);
    const client = new OpenAI({ baseURL: `${gate.url}/v1`, apiKey: "placeholder" });
    for (const { name, request, isShown } of CASES) {
      const response = await ask(client, { ...HELLO, ...request });
      const record = gate.ledger.records.at(-1);
      assert.ok(isShown(response), name);
      assertRecordHas(record, { ...expectRecord(response), stream: mode === "streamed" }, name);
    }
    assert.equal(gate.ledger.records.length, CASES.length);
    assertLedgerMatchesBilling(gate.ledger.records, sandbox);
  });
}

test("listing models with openai is recorded without usage", async (t) => {
  const { gate, sandbox } = await startGateWithSandbox(t);
  const models = await new OpenAI({ baseURL: `${gate.url}/v1`, apiKey: "placeholder" }).models.list();
  assert.ok(models.data.some(({ id }) => id === HELLO.model));
  const none = { usage: "none", spend: "never", tokens: null, outcome: "completed", status: 200 } as const;
  assertRecordHas(gate.ledger.records[0], { ...none, route: "/models" }, "models");
  assertLedgerMatchesBilling(gate.ledger.records, sandbox);
});

test("openai works with any placeholder, and tk-NAME names the tool", async (t) => {
  const { gate } = await startGateWithSandbox(t);
  for (const apiKey of ["x", "sk-proj-not-a-real-one", "tk-my-script"]) {
    await new OpenAI({ baseURL: `${gate.url}/v1`, apiKey }).responses.create(HELLO);
  }
  assert.deepEqual(
    gate.ledger.records.map(({ tool, tool_by }) => `${tool} by ${tool_by}`),
    ["openai-sdk by library", "openai-sdk by library", "my-script by token"],
  );
});
