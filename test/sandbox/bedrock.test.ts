// Amazon Bedrock in the sandbox, and through a gate in front of it: every form has the same counts in the record and in the sandbox's books.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createUpstream, defaultConfig } from "../../src/core/config/config.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { chunkFrame, eventFrame, exceptionFrame } from "../../src/sandbox/bedrock/frames.ts";
import { fetchModels } from "../../src/proxy/upstream/fetch-models.ts";
import { post, startGate } from "../helpers/gate/gate.ts";
import { frame } from "../helpers/upstream/bedrock-frames.ts";
import { openSandbox } from "./sandbox-client.ts";

const CLAUDE = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "/model/us.amazon.nova-lite-v1:0";
const COUNTED = ["input_uncached", "cache_read", "cache_write", "output"] as const;

const CONVERSE = {
  system: [{ text: "You greet people. ".repeat(20) }, { cachePoint: { type: "default", ttl: "1h" } }],
  messages: [{ role: "user", content: [{ text: "good morning" }] }],
  inferenceConfig: { maxTokens: 200 },
  additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 1024 } },
};
const INVOKED = {
  anthropic_version: "bedrock-2023-05-31",
  max_tokens: 200,
  system: [{ type: "text", text: "You greet. ".repeat(20), cache_control: { type: "ephemeral" } }],
  messages: [{ role: "user", content: "good morning" }],
};

const user = (content: object[]) => ({ role: "user", content });

async function open(t: TestContext) {
  const sandbox = await openSandbox(t);
  const gate = await startGate(t, sandbox.baseUrl, { upstream: { apis: ["bedrock"] } });
  const secret = sandbox.keys[0]?.secret ?? "";
  gate.keys.set({ name: gate.upstream.key, origin: gate.upstream.origin }, secret);
  const ask = async (path: string, body: unknown, switches = "") => {
    const response = await post(gate, path, body, switches === "" ? {} : { "x-sandbox": switches });
    const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
    const record = gate.ledger.records.at(-1) ?? assert.fail("no record");
    return { status: response.status, text, headers: response.headers, record };
  };
  return { sandbox, gate, secret, ask };
}

test("each way of asking a model is counted as the sandbox has billed it, with thoughts and a prompt cache", async (t) => {
  const { sandbox, gate, ask } = await open(t);
  const ways = [
    [`${CLAUDE}/converse`, CONVERSE],
    [`${CLAUDE}/converse-stream`, CONVERSE],
    [`${NOVA}/converse-stream`, CONVERSE],
    [`${NOVA}/converse`, CONVERSE],
    [`${CLAUDE}/invoke`, INVOKED],
    [`${CLAUDE}/invoke-with-response-stream`, INVOKED],
    [`${NOVA}/invoke`, CONVERSE],
    [`${NOVA}/invoke-with-response-stream`, CONVERSE],
  ] as const;
  for (const [path, body] of ways) {
    const { status, record, text } = await ask(path, body);
    assert.equal(status, 200, text);
    assert.deepEqual([record.usage, record.outcome], ["final", "completed"], path);
  }
  const rows = sandbox.counts();
  assert.equal(rows.length, 4);
  for (const name of COUNTED) {
    const recorded = gate.ledger.records.reduce((total, { tokens }) => total + (tokens?.[name] ?? 0), 0);
    const billed = rows.reduce((total, { count }) => total + count[name], 0);
    assert.equal(recorded, billed, name);
    assert.ok(billed > 0, name);
  }
  const [first, second] = gate.ledger.records;
  assert.ok((first?.tokens?.cache_write ?? 0) > 0 && second?.tokens?.cache_write === 0);
  assert.equal(first?.tokens?.cache_write, second?.tokens?.cache_read);
});

test("a call of a tool and its result are those of Converse, and tokens are counted", async (t) => {
  const { ask } = await open(t);
  const tools = [
    {
      toolSpec: {
        name: "look",
        inputSchema: { json: { properties: { where: { type: "string" } }, required: ["where"] } },
      },
    },
  ];
  const asked = { messages: [user([{ text: "use the tool look" }])], toolConfig: { tools } };
  const call = await ask(`${NOVA}/converse`, asked);
  assert.match(call.text, /"toolUse":\{"toolUseId":"[^"]+","name":"look","input":\{"where":"/);
  assert.match(call.text, /"stopReason":"tool_use"/);
  const stream = await ask(`${NOVA}/converse-stream`, asked);
  assert.match(stream.text, /contentBlockStart.*"toolUse":\{"toolUseId":"[^"]+","name":"look"\}/s);
  const toolResult = { toolUseId: "1", content: [{ json: { found: 3 } }] };
  const told = await ask(`${NOVA}/converse`, { messages: [user([{ toolResult }])], toolConfig: { tools } });
  assert.match(told.text, /The tool returned: .*found/);
  const body = Buffer.from(JSON.stringify(INVOKED)).toString("base64");
  for (const input of [{ converse: CONVERSE }, { invokeModel: { body } }]) {
    const counted = await ask(`${CLAUDE}/count-tokens`, { input });
    assert.match(counted.text, /^\{"inputTokens":\d\d+\}$/);
    assert.equal(counted.record.usage, "none");
  }
});

test("the switches change what Bedrock says as they do for the other APIs", async (t) => {
  const { ask } = await open(t);
  const stream = `${CLAUDE}/converse-stream`;
  for (const path of [stream, `${CLAUDE}/converse`, `${NOVA}/invoke`])
    assert.equal((await ask(path, CONVERSE, "no-usage")).record.usage, "absent", path);
  const failed = await ask(stream, CONVERSE, "error-event");
  assert.deepEqual([failed.record.outcome, failed.record.error_type], ["error", "modelStreamErrorException"]);
  assert.equal((await ask(stream, CONVERSE, "refuse")).record.outcome, "refused");
  assert.equal((await ask(`${CLAUDE}/converse`, CONVERSE, "gzip")).record.usage, "final");
  assert.equal((await ask(stream, CONVERSE, "gzip, comments, crlf")).record.usage, "final");
  const short = { ...CONVERSE, inferenceConfig: { maxTokens: 1 } };
  assert.equal((await ask(stream, short)).record.outcome, "incomplete");
  const error = await ask(stream, CONVERSE, "error=429");
  assert.deepEqual(
    [error.status, error.headers.get("x-amzn-errortype"), error.headers.get("retry-after")],
    [429, "ThrottlingException", "1"],
  );
  assert.equal(error.text, '{"message":"the sandbox was asked to fail"}');
});

test("unknown models, wrong bodies and keys get the errors of AWS, and a signature is not taken for a key", async (t) => {
  const { sandbox, secret, ask } = await open(t);
  const { origin } = new URL(sandbox.baseUrl);
  const unknown = await ask("/model/amazon.unknown-v1:0/converse", CONVERSE);
  assert.deepEqual(
    [unknown.status, unknown.headers.get("x-amzn-errortype"), unknown.text],
    [400, "ValidationException", '{"message":"The provided model identifier is invalid."}'],
  );
  for (const [path, body] of [
    [`${CLAUDE}/converse`, {}],
    [`${CLAUDE}/invoke`, { max_tokens: 1, messages: INVOKED.messages }],
    [`${CLAUDE}/count-tokens`, { input: { invokeModel: { body: "?" } } }],
  ] as const)
    assert.equal((await ask(path, body)).status, 400, path);
  const signature = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/us-east-1/bedrock/aws4_request";
  for (const authorization of ["Bearer wrong", signature]) {
    const init = { method: "POST", headers: { authorization }, body: JSON.stringify(CONVERSE) };
    const response = await fetch(`${origin}${NOVA}/converse`, init);
    assert.deepEqual(
      [response.status, response.headers.get("x-amzn-errortype")],
      [403, "AccessDeniedException"],
    );
  }
  const upstream = { ...createUpstream("default", sandbox.baseUrl), apis: ["bedrock" as const] };
  const check = (key: string) => fetchModels(upstream, new Secret(key), defaultConfig.outbound);
  assert.equal((await check(secret)).models, null);
  await assert.rejects(check("wrong-key-4711"), /the key was rejected/);
});

test("a frame is what another encoder makes of it", () => {
  const headers = {
    ":event-type": "metadata",
    ":message-type": "event",
    ":content-type": "application/json",
  };
  assert.deepEqual(
    eventFrame("metadata", { usage: { inputTokens: 1 } }),
    frame(headers, '{"usage":{"inputTokens":1}}'),
  );
  const bytes = Buffer.from('{"type":"ping"}').toString("base64");
  assert.deepEqual(chunkFrame({ type: "ping" }), eventFrame("chunk", { bytes, p: "abcdefgh" }));
  assert.match(exceptionFrame("a", "grüße").toString(), /:exception-type.*\{"message":"grüße"\}/s);
});
