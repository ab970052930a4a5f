import assert from "node:assert/strict";
import { test } from "node:test";
import type Anthropic from "@anthropic-ai/sdk";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import {
  assertRecordHas,
  assertLedgerMatchesBilling,
  ledgerTokens,
  startGateWithSandbox,
} from "../helpers/ledger/sandbox-billing.ts";
import { ANTHROPIC_SDKS } from "../helpers/client/sdks.ts";

type Request = Anthropic.MessageCreateParamsNonStreaming;
type Message = Anthropic.Message;

const MODES = {
  complete: (client: Anthropic, request: Request): Promise<Message> => client.messages.create(request),
  streamed: (client: Anthropic, request: Request): Promise<Message> =>
    client.messages.stream(request).finalMessage(),
};

const HELLO: Request = {
  model: "claude-sonnet-5",
  max_tokens: 300,
  messages: [{ role: "user", content: "hello" }],
};

const WEATHER: Anthropic.Tool = {
  name: "get_weather",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

const system = (cache_control: Anthropic.CacheControlEphemeral): Anthropic.TextBlockParam[] => [
  { type: "text", text: `Be brief, for ${cache_control.ttl}. `.repeat(50), cache_control },
];

interface Case {
  name: string;
  request: Partial<Request>;
  /** True when the response shows what the case is about. */
  isShown(message: Message): boolean;
}

/** In this order, because a case reads from the cache what the previous one has written. */
const CASES: Case[] = [
  { name: "text", request: {}, isShown: ({ stop_reason }) => stop_reason === "end_turn" },
  {
    name: "thinking",
    request: { thinking: { type: "adaptive" } },
    isShown: ({ usage }) => (usage.output_tokens_details?.thinking_tokens ?? 0) > 0,
  },
  {
    name: "tool use",
    request: { tools: [WEATHER], messages: [{ role: "user", content: "use the tool get_weather" }] },
    isShown: ({ stop_reason }) => stop_reason === "tool_use",
  },
  {
    name: "cache write, 5 minutes",
    request: { system: system({ type: "ephemeral", ttl: "5m" }) },
    isShown: ({ usage }) => (usage.cache_creation?.ephemeral_5m_input_tokens ?? 0) > 0,
  },
  {
    name: "cache read",
    request: { system: system({ type: "ephemeral", ttl: "5m" }) },
    isShown: ({ usage }) => (usage.cache_read_input_tokens ?? 0) > 0,
  },
  {
    name: "cache write, 1 hour",
    request: { system: system({ type: "ephemeral", ttl: "1h" }) },
    isShown: ({ usage }) => (usage.cache_creation?.ephemeral_1h_input_tokens ?? 0) > 0,
  },
  {
    name: "max_tokens",
    request: { max_tokens: 3 },
    isShown: ({ stop_reason, usage }) => stop_reason === "max_tokens" && usage.output_tokens === 3,
  },
];

/** The expected record of a response, from what the SDK returns. */
function expectRecord(message: Message): Partial<UsageRecord> {
  const { usage } = message;
  return {
    usage: "final",
    spend: "count",
    status: 200,
    outcome: message.stop_reason === "max_tokens" ? "incomplete" : "completed",
    stop: message.stop_reason,
    response_id: message.id,
    model: message.model,
    service_tier: usage.service_tier,
    inference_geo: usage.inference_geo,
    tokens: ledgerTokens({
      uncached: usage.input_tokens,
      read: usage.cache_read_input_tokens ?? 0,
      write5m: usage.cache_creation?.ephemeral_5m_input_tokens,
      write1h: usage.cache_creation?.ephemeral_1h_input_tokens,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? null,
    }),
    raw_usage: { ...usage },
    flags: [],
  };
}

for (const { name: sdk, Client } of ANTHROPIC_SDKS) {
  for (const [mode, ask] of Object.entries(MODES)) {
    test(`each record of ${sdk} (${mode}) equals the usage that the SDK reports`, async (t) => {
      const { gate, sandbox } = await startGateWithSandbox(t);
      const client = new Client({ baseURL: gate.url, apiKey: "placeholder" });
      for (const { name, request, isShown } of CASES) {
        const message = await ask(client, { ...HELLO, ...request });
        const record = gate.ledger.records.at(-1);
        assert.ok(isShown(message), name);
        assertRecordHas(record, { ...expectRecord(message), stream: mode === "streamed" }, name);
      }
      assert.equal(gate.ledger.records.length, CASES.length);
      assertLedgerMatchesBilling(gate.ledger.records, sandbox);
    });
  }

  test(`counting tokens and listing models with ${sdk} is recorded without usage`, async (t) => {
    const { gate, sandbox } = await startGateWithSandbox(t);
    const client = new Client({ baseURL: gate.url, apiKey: "placeholder" });
    const { model, messages } = HELLO;
    const counted = await client.messages.countTokens({ model, messages });
    const models = await client.models.list();
    const none = { usage: "none", spend: "never", tokens: null, outcome: "completed", status: 200 } as const;
    assertRecordHas(gate.ledger.records[0], { ...none, route: "/messages/count_tokens" }, "count");
    assertRecordHas(gate.ledger.records[1], { ...none, route: "/models" }, "models");
    assertLedgerMatchesBilling(gate.ledger.records, sandbox);
    assert.ok(models.data.some(({ id }) => id === model));
    const { usage } = await client.messages.create(HELLO);
    assert.equal(counted.input_tokens, usage.input_tokens);
  });

  test(`${sdk} works with any placeholder, and tk-NAME names the tool`, async (t) => {
    const { gate } = await startGateWithSandbox(t);
    const credentials = [
      { apiKey: "x", authToken: null },
      { apiKey: null, authToken: "not a key" },
      { apiKey: "sk-ant-api03-not-a-real-one", authToken: null },
      { apiKey: "tk-my-script", authToken: null },
    ];
    for (const credential of credentials) {
      await new Client({ baseURL: gate.url, ...credential }).messages.create(HELLO);
    }
    assert.deepEqual(
      gate.ledger.records.map(({ tool, tool_by }) => `${tool} by ${tool_by}`),
      [...Array<string>(3).fill("anthropic-sdk by library"), "my-script by token"],
    );
  });
}
