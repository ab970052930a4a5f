// What the official SDK makes of the sandbox's responses, in every profile that speaks its APIs.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import OpenAI, { AuthenticationError, NotFoundError, RateLimitError } from "openai";
import { openSandbox } from "./sandbox-client.ts";
import type { SandboxOptions } from "../../src/sandbox/server.ts";

const MESSAGES = [{ role: "user" as const, content: "good morning" }];
const ECHO = "[sandbox] You said: good morning";

async function openClient(t: TestContext, options?: SandboxOptions, xSandbox?: string): Promise<OpenAI> {
  const { baseUrl, keys } = await openSandbox(t, options);
  return new OpenAI({
    baseURL: baseUrl,
    apiKey: keys[0]?.secret ?? "unneeded",
    maxRetries: 0,
    ...(xSandbox !== undefined && { defaultHeaders: { "x-sandbox": xSandbox } }),
  });
}

/** Collects a stream: its text, and each usage that the SDK sees. */
async function collect(stream: AsyncIterable<OpenAI.Chat.Completions.ChatCompletionChunk>) {
  let text = "";
  const totals: number[] = [];
  for await (const { choices, usage } of stream) {
    text += choices?.[0]?.delta.content ?? "";
    if (usage) totals.push(usage.total_tokens);
  }
  return { text, totals };
}

for (const [profile, model] of [
  [undefined, "gpt-5"],
  ["openai", "gpt-5"],
  ["openrouter", "openai/gpt-5"],
  ["ollama", "qwen3:8b"],
] as const) {
  test(`the SDK reads models, chat, completions and embeddings of ${profile ?? "the general sandbox"}`, async (t) => {
    const client = await openClient(t, profile === undefined ? {} : { profile });
    const models = (await client.models.list()).data.map(({ id }) => id);
    assert.ok(models.includes(model));

    const chat = await client.chat.completions.create({ model, messages: MESSAGES });
    assert.equal(chat.choices[0]?.message.content, ECHO);
    assert.equal(chat.usage?.total_tokens, 11);

    const stream_options = { include_usage: true };
    const stream = await client.chat.completions.create({
      model,
      messages: MESSAGES,
      stream: true,
      stream_options,
    });
    assert.deepEqual(await collect(stream), { text: ECHO, totals: [11] });

    const completion = await client.completions.create({ model, prompt: "good morning" });
    assert.equal(completion.choices[0]?.text, ECHO);
    let text = "";
    for await (const chunk of await client.completions.create({
      model,
      prompt: "good morning",
      stream: true,
    }))
      text += chunk.choices[0]?.text ?? "";
    assert.equal(text, ECHO);

    const embedder = models.find((name) => name.includes("embed")) ?? "";
    const vectors = await client.embeddings.create({ model: embedder, input: ["a", "b"], dimensions: 16 });
    assert.deepEqual(
      vectors.data.map(({ embedding }) => embedding.length),
      [16, 16],
    );
    assert.equal(vectors.usage.prompt_tokens, 2);
  });
}

test("the SDK runs a tool and receives a structured text, in a stream", async (t) => {
  const client = await openClient(t);
  const calls: unknown[] = [];
  const runner = client.chat.completions.runTools({
    model: "gpt-5",
    stream: true,
    messages: [{ role: "user", content: "use the tool weather" }],
    tools: [
      {
        type: "function",
        function: {
          name: "weather",
          description: "",
          parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
          parse: JSON.parse,
          function: (input: unknown) => {
            calls.push(input);
            return "rain";
          },
        },
      },
    ],
  });
  assert.equal(await runner.finalContent(), "[sandbox] The tool returned: rain");
  assert.deepEqual(calls, [{ city: "sandbox" }]);
});

test("the SDK accumulates n choices, a refusal and reasoning tokens", async (t) => {
  const client = await openClient(t);
  const request = { model: "gpt-5", messages: MESSAGES };
  const stream = client.chat.completions.stream({
    ...request,
    n: 2,
    reasoning_effort: "low",
    stream_options: { include_usage: true },
  });
  const whole = await stream.finalChatCompletion();
  assert.deepEqual(
    whole.choices.map(({ message, finish_reason }) => [message.content, finish_reason]),
    [
      [ECHO, "stop"],
      [ECHO, "stop"],
    ],
  );
  assert.ok((whole.usage?.completion_tokens_details?.reasoning_tokens ?? 0) > 0);

  const refusing = await openClient(t, {}, "refuse");
  const refused = await refusing.chat.completions.stream(request).finalChatCompletion();
  assert.equal(refused.choices[0]?.message.refusal, "No.");
});

for (const place of [
  "unasked",
  "finish",
  "every",
  "zeros",
  "x-groq-too",
  "extra-choice",
  "then-null",
  "after-done",
]) {
  test(`the SDK reads a stream with usage=${place}, comments, CR LF and without [DONE]`, async (t) => {
    for (const more of ["", ", comments, crlf", ", no-done"]) {
      const client = await openClient(t, {}, `usage=${place}${more}`);
      const stream = await client.chat.completions.create({
        model: "gpt-5",
        messages: MESSAGES,
        stream: true,
      });
      const { text, totals } = await collect(stream);
      assert.equal(text, ECHO);
      // The SDK stops reading at [DONE].
      const expected = place === "after-done" && more !== ", no-done" ? undefined : 11;
      assert.equal(totals.at(-1), expected);
    }
  });
}

test("the SDK throws its own classes for wrong keys, unknown models, rate limits and error chunks", async (t) => {
  const request = { model: "gpt-5", messages: MESSAGES };
  const { baseUrl } = await openSandbox(t, { profile: "openai" });
  const stranger = new OpenAI({ baseURL: baseUrl, apiKey: "sk-wrong", maxRetries: 0 });
  await assert.rejects(stranger.chat.completions.create(request), AuthenticationError);
  const client = await openClient(t);
  await assert.rejects(client.chat.completions.create({ ...request, model: "nobody" }), NotFoundError);
  const limited = await openClient(t, {}, "error=429");
  await assert.rejects(limited.chat.completions.create(request), RateLimitError);
  const failing = await openClient(t, {}, "error-event");
  const stream = await failing.chat.completions.create({ ...request, stream: true });
  await assert.rejects(collect(stream), /The server had an error/);
});
