// Google's API in the sandbox, and through a gate in front of it: every form has the same counts in the record and in the sandbox's books.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openSandbox } from "./sandbox-client.ts";
import { post, startGate } from "../helpers/gate/gate.ts";

const FLASH = "/v1beta/models/gemini-2.5-flash";
const BODY = {
  contents: [{ role: "user", parts: [{ text: "good morning" }] }],
  generationConfig: { thinkingConfig: {} },
};

test("content as a document, a list and a stream has the same text and usage, and its record what was billed", async (t) => {
  const sandbox = await openSandbox(t);
  const gate = await startGate(t, sandbox.baseUrl, { upstream: { apis: ["gemini"] } });
  gate.keys.set({ name: gate.upstream.key, origin: gate.upstream.origin }, sandbox.keys[0]?.secret ?? "");
  const whole = (await (await post(gate, `${FLASH}:generateContent`, BODY)).json()) as Record<
    string,
    unknown
  >;
  const list = (await (await post(gate, `${FLASH}:streamGenerateContent`, BODY)).json()) as (typeof whole)[];
  const events = await (await post(gate, `${FLASH}:streamGenerateContent?alt=sse`, BODY)).text();
  const last = JSON.parse(
    events.trim().split("\r\n\r\n").at(-1)?.slice("data: ".length) ?? "",
  ) as typeof whole;
  assert.match(JSON.stringify(whole), /You said: good morning/);
  assert.deepEqual(list.at(-1)?.["usageMetadata"], whole["usageMetadata"]);
  assert.deepEqual(last["usageMetadata"], whole["usageMetadata"]);
  const sum = (name: "input_uncached" | "output" | "reasoning") =>
    gate.ledger.records.reduce((total, { tokens }) => total + (tokens?.[name] ?? 0), 0);
  const rows = sandbox.counts();
  for (const name of ["input_uncached", "output", "reasoning"] as const)
    assert.equal(
      sum(name),
      rows.reduce((total, { count }) => total + count[name], 0),
      name,
    );
  assert.ok(sum("reasoning") > 0);
});

test("a call of a tool, its result, tokens, embeddings, models and a wrong key", async (t) => {
  const sandbox = await openSandbox(t);
  const origin = new URL(sandbox.baseUrl).origin;
  const ask = async (path: string, body: unknown, key = sandbox.keys[0]?.secret ?? "") => {
    const headers = { "x-goog-api-key": key, "content-type": "application/json" };
    const init = body === null ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(origin + path, init);
    return { status: response.status, text: await response.text() };
  };
  const tools = [
    {
      functionDeclarations: [
        {
          name: "look",
          parameters: { type: "OBJECT", properties: { where: { type: "STRING" } }, required: ["where"] },
        },
      ],
    },
  ];
  const call = await ask(`${FLASH}:generateContent`, {
    contents: [{ role: "user", parts: [{ text: "use the tool look" }] }],
    tools,
  });
  assert.match(call.text, /"functionCall":\{"name":"look","args":\{"where":"/);
  const result = { role: "user", parts: [{ functionResponse: { name: "look", response: { found: 3 } } }] };
  assert.match(
    (await ask(`${FLASH}:generateContent`, { contents: [result], tools })).text,
    /The tool returned/,
  );
  assert.match((await ask(`${FLASH}:countTokens`, { contents: BODY.contents })).text, /"totalTokens":\d+/);
  assert.match(
    (await ask("/v1beta/models/gemini-embedding-2:embedContent", { content: {} })).text,
    /"values"/,
  );
  assert.match((await ask("/v1beta/models", null)).text, /"models\/gemini-2\.5-flash"/);
  assert.equal((await ask("/v1beta/models/gemini-2.5-pro", null)).status, 200);
  assert.equal((await ask("/v1beta/models/unknown:generateContent", BODY)).status, 404);
  const wrong = await ask(`${FLASH}:generateContent`, BODY, "wrong");
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /"status":"INVALID_ARGUMENT".*API_KEY_INVALID/);
});
