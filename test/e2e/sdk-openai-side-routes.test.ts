// The official SDK calls the routes beside those that start a model by a message. What it gets is what the sandbox sends, and the ledger has
// the tokens that are reported.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import OpenAI, { NotFoundError, toFile } from "openai";
import { openSandbox } from "../sandbox/sandbox-client.ts";
import { startGate, TEST_KEY } from "../helpers/gate/gate.ts";

async function start(t: TestContext) {
  const sandbox = await openSandbox(t, { keys: [{ name: "default", secret: TEST_KEY, group: "all" }] });
  const apis = ["responses", "chat", "images", "audio"] as const;
  const gate = await startGate(t, sandbox.baseUrl, { upstream: { apis: [...apis] } });
  const client = new OpenAI({ apiKey: "placeholder", baseURL: `${gate.url}/v1`, maxRetries: 0 });
  const rows = () =>
    gate.ledger.records.map(({ method, route, usage, tokens }) =>
      [method, route, usage, tokens?.total ?? "-"].join(" "),
    );
  return { client, rows };
}

test("openai: models, stored responses and token counts", async (t) => {
  const { client, rows } = await start(t);
  assert.equal((await client.models.retrieve("gpt-5.5")).id, "gpt-5.5");
  const queued = await client.responses.create({ model: "gpt-5", input: "hello", background: true });
  assert.equal((await client.responses.cancel(queued.id)).status, "cancelled");
  const { id } = await client.responses.create({ model: "gpt-5", input: "hello" });
  assert.equal((await client.responses.retrieve(id)).output_text, "[sandbox] You said: hello");
  const items = await client.responses.inputItems.list(id);
  assert.equal(items.data.length, 1);
  await client.responses.delete(id);
  await assert.rejects(client.responses.retrieve(id), NotFoundError);
  const counted = await client.responses.inputTokens.count({ model: "gpt-5", input: "hello" });
  assert.equal(counted.input_tokens, 2);
  assert.deepEqual(rows(), [
    "GET /models/{id} none -",
    "POST /responses pending -",
    "POST /responses/{id}/cancel absent -",
    "POST /responses final 9",
    "GET /responses/{id} final 9",
    "GET /responses/{id}/input_items none -",
    "DELETE /responses/{id} none -",
    "GET /responses/{id} absent -",
    "POST /responses/input_tokens none -",
  ]);
});

test("openai: images, speech, transcripts and moderation, with forms as the SDK writes them", async (t) => {
  const { client, rows } = await start(t);
  const picture = await toFile(Buffer.alloc(3_000, 1), "a.png", { type: "image/png" });
  const sound = await toFile(Buffer.alloc(40_000, 1), "a.wav", { type: "audio/wav" });
  const image = { model: "gpt-image-1", prompt: "a lighthouse" } as const;
  assert.equal((await client.images.generate(image)).usage?.total_tokens, 275);
  assert.equal((await client.images.edit({ ...image, image: picture })).usage?.total_tokens, 339);
  await client.images.createVariation({ model: "dall-e-2", image: picture });
  const speech = await client.audio.speech.create({
    model: "gpt-4o-mini-tts",
    voice: "alloy",
    input: "hello",
  });
  assert.equal(Buffer.from(await speech.arrayBuffer()).toString("latin1", 0, 4), "RIFF");
  const transcript = await client.audio.transcriptions.create({ model: "gpt-4o-transcribe", file: sound });
  assert.equal(transcript.text, "[sandbox] You said something.");
  await client.audio.translations.create({ model: "whisper-1", file: sound });
  assert.equal((await client.moderations.create({ input: "hello" })).results.length, 1);
  assert.deepEqual(rows(), [
    "POST /images/generations final 275",
    "POST /images/edits final 339",
    "POST /images/variations none -",
    "POST /audio/speech absent -",
    "POST /audio/transcriptions final 38",
    "POST /audio/translations absent -",
    "POST /moderations absent -",
  ]);
});
