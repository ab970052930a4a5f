// Google's Live API, as the sandbox has it, and through a daemon: what a user without a key can try.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { refusedSocket } from "../helpers/client/websocket.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import {
  isSetUp,
  isTurnComplete,
  openLive,
  SAY,
  SETUP,
  SOUND,
  type LiveClient,
} from "../helpers/gate/gate-with-live.ts";
import { LIVE_PATH } from "../helpers/upstream/live-upstream.ts";
import { openSandbox } from "./sandbox-client.ts";

const LIMIT = { timeout: 300_000 };
const TEXT = { generationConfig: { responseModalities: ["TEXT"] } };
const SOUND_END = { realtimeInput: { audioStreamEnd: true } };
const ROUTE = "/v1beta/models/{id}:bidiGenerateContent";

interface Usage {
  promptTokenCount: number;
  responseTokenCount: number;
  thoughtsTokenCount?: number;
  totalTokenCount: number;
  promptTokensDetails: object[];
  responseTokensDetails: object[];
}

const isToolCall = ({ toolCall }: { toolCall?: object }) => toolCall !== undefined;
const say = (text: string) => ({
  clientContent: { turns: [{ role: "user", parts: [{ text }] }], turnComplete: true },
});

async function setUp(client: LiveClient, more: object = TEXT): Promise<void> {
  client.send({ setup: { ...SETUP.setup, ...more } });
  await client.until(isSetUp);
}

async function ask(client: LiveClient, message: object): Promise<Usage> {
  client.send(message);
  return (await client.until(isTurnComplete)).usageMetadata as Usage;
}

async function open(t: TestContext, headers: Record<string, string> = {}) {
  const sandbox = await openSandbox(t);
  const port = Number(new URL(sandbox.baseUrl).port);
  const key = { "x-goog-api-key": sandbox.keys[0]?.secret ?? "" };
  const client = await openLive(t, { port }, { path: LIVE_PATH, headers: { ...key, ...headers } });
  return { sandbox, port, client, key };
}

/** The members of what the service said, in order, without repetitions, and its text. */
function seenIn({ frames }: LiveClient): { order: string[]; text: string } {
  const contents = frames
    .map(({ data }) => JSON.parse(data.toString()) as { serverContent?: Record<string, unknown> })
    .flatMap(({ serverContent }) => (serverContent === undefined ? [] : [serverContent]));
  const parts = contents.flatMap(
    ({ modelTurn }) => (modelTurn as { parts: { text?: string }[] } | undefined)?.parts ?? [],
  );
  const names = contents.flatMap((content) => Object.keys(content));
  return {
    order: names.filter((name, at) => name !== names[at - 1]),
    text: parts.map(({ text = "" }) => text).join(""),
  };
}

test(
  "through a daemon with the built-in sandbox, each turn has one record, equal to what the sandbox said",
  LIMIT,
  async (t) => {
    const daemon = await startDaemon(t);
    const path = LIVE_PATH.replace("v1beta", "v1alpha");
    const client = await openLive(t, daemon, { path: `/t/voice${path}?key=key-of-the-tool` });
    await setUp(client, { ...TEXT, tools: [{ functionDeclarations: [{ name: "read" }] }] });
    const said = [await ask(client, SAY), await ask(client, { realtimeInput: { text: "and text" } })];
    client.send(say("use the tool read"));
    await client.until(isToolCall);
    const result = { id: "1", name: "read", response: { output: "5" } };
    said.push(await ask(client, { toolResponse: { functionResponses: [result] } }));
    for (let piece = 0; piece < 50; piece += 1) client.send(SOUND);
    said.push(await ask(client, SOUND_END));
    client.send(SOUND);
    said.push(await ask(client, { realtimeInput: { activityEnd: {} } }));
    client.socket.close();
    await client.closed;
    const records = await waitUntil("each turn is recorded", async () => {
      const all = await daemon.ledger();
      return all.length >= said.length ? all : null;
    });
    assert.deepEqual(
      records.map(({ tool, route, model_requested: model, outcome, usage, tokens, flags }) => [
        [tool, route, model, outcome, usage, flags],
        [tokens?.input_total, tokens?.output],
      ]),
      said.map(({ promptTokenCount, responseTokenCount }) => [
        ["voice", ROUTE, "gemini-3.8-live", "completed", "final", []],
        [promptTokenCount, responseTokenCount],
      ]),
    );
    assert.deepEqual(said.at(-1)?.promptTokensDetails[1], { modality: "AUDIO", tokenCount: 51 });
  },
);

test("a turn has its pieces, then its end with usage, in the books as well", LIMIT, async (t) => {
  const { sandbox, client } = await open(t);
  await setUp(client, {
    generationConfig: { responseModalities: ["TEXT"], thinkingConfig: { includeThoughts: true } },
  });
  const usage = await ask(client, say("good morning"));
  const { order, text } = seenIn(client);
  assert.deepEqual(order, ["modelTurn", "generationComplete", "turnComplete"]);
  assert.match(text, /\[sandbox\] You said: good morning$/);
  assert.ok(client.frames.every(({ isBinary }) => isBinary));
  assert.equal(usage.totalTokenCount, usage.promptTokenCount + usage.responseTokenCount);
  const [row] = sandbox.counts();
  const { requests, input_uncached: input, output, reasoning } = row?.count ?? {};
  assert.deepEqual(
    [row?.route, requests, input, reasoning, output],
    [
      ROUTE,
      1,
      usage.promptTokenCount,
      usage.thoughtsTokenCount,
      usage.responseTokenCount + (usage.thoughtsTokenCount ?? 0),
    ],
  );
  assert.ok((await ask(client, SAY)).promptTokenCount > usage.promptTokenCount);
});

test(
  "where the setup does not ask for text, the model speaks, with a transcript if asked for",
  LIMIT,
  async (t) => {
    const { client } = await open(t);
    await setUp(client, { outputAudioTranscription: {} });
    const usage = await ask(client, SAY);
    const { order, text } = seenIn(client);
    assert.deepEqual([order[0], order[1], text], ["outputTranscription", "modelTurn", ""]);
    assert.deepEqual(usage.responseTokensDetails, [
      { modality: "AUDIO", tokenCount: usage.responseTokenCount },
    ]);
  },
);

test("the switches of the handshake hold for each turn", LIMIT, async (t) => {
  const refusing = await open(t, { "x-sandbox": "refuse, no-usage" });
  await setUp(refusing.client);
  refusing.client.send(SAY);
  assert.deepEqual(await refusing.client.until(isTurnComplete), {
    serverContent: { turnComplete: true, turnCompleteReason: "RESPONSE_REJECTED" },
  });
  const cut = await open(t, { "x-sandbox": "cut=1" });
  await setUp(cut.client);
  cut.client.send(SAY);
  assert.equal((await cut.client.closed).code, 1006);
  assert.deepEqual([cut.client.frames.length, cut.sandbox.counts()[0]?.count.requests], [2, 1]);
});

for (const [what, messages, code] of [
  ["a model that does not exist", [{ setup: { model: "models/no-such-model" } }], 1008],
  ["a model without the Live API", [{ setup: { model: "models/gemini-2.5-flash" } }], 1008],
  ["no setup first", [SAY], 1007],
  ["a second setup", [SETUP, SETUP], 1007],
  ["a message of another kind", [SETUP, { hello: {} }], 1007],
  ["a turn without content", [SETUP, { clientContent: { turnComplete: true } }], 1007],
] as const) {
  test(`${what} closes the WebSocket with ${code}`, LIMIT, async (t) => {
    const { client } = await open(t);
    for (const message of messages) client.send(message);
    assert.equal((await client.closed).code, code);
  });
}

test("a key that is unknown gets 400, Vertex's path 426, and a plain request 404", LIMIT, async (t) => {
  const { port, key } = await open(t);
  const headers = { "x-goog-api-key": "other" };
  assert.equal((await refusedSocket({ port }, { path: LIVE_PATH, headers })).status, 400);
  const vertex = "/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent";
  assert.equal((await refusedSocket({ port }, { path: vertex, headers: key })).status, 426);
  assert.equal((await fetch(`http://127.0.0.1:${port}${LIVE_PATH}`, { headers: key })).status, 404);
});
