import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import type { JsonObject } from "../../src/core/json.ts";
import {
  chatRequest,
  eventOrder,
  messageRequest,
  openSandbox,
  post,
  readChunks,
  readEvents,
  responsesRequest,
  valueAt,
  WITH_USAGE,
} from "./sandbox-client.ts";

const CORPUS = new URL("../../../shared/corpus/", import.meta.url);

const FUNCTION = { type: "function", name: "get_capital", parameters: { type: "object" } };

/** Recordings of the real services, with requests for which the sandbox sends the same events. */
const CASES: { file: string; path: string; request: JsonObject }[] = [
  { file: "anth-sse-text.sse", path: "/messages", request: messageRequest() },
  {
    file: "anth-sse-thinking.sse",
    path: "/messages",
    request: messageRequest({ thinking: { type: "enabled" } }),
  },
  { file: "oai-sse-text.sse", path: "/responses", request: responsesRequest() },
  {
    file: "oai-sse-function-tool.sse",
    path: "/responses",
    request: responsesRequest({ input: "use the tool get_capital", tools: [FUNCTION] }),
  },
];

/** Recorded fields of features that the sandbox does not have. */
const LEFT_OUT = new Set(["conversation", "obfuscation"]);
/** Fields that the services added after these recordings. */
const NEWER = new Set(["stop_details"]);

function recorded(t: TestContext, file: string): string | null {
  const url = new URL(file, CORPUS);
  if (existsSync(url)) return readFileSync(url, "utf8");
  t.diagnostic(`no recording at ${url.pathname}`);
  t.skip("the recorded streams are not here");
  return null;
}

/** Returns the field names of an object and of nested objects, in order. Does not descend into lists. */
function fieldNames(value: JsonObject, ignored: ReadonlySet<string>): unknown[] {
  return Object.entries(value)
    .filter(([name]) => !ignored.has(name))
    .map(([name, field]) =>
      typeof field === "object" && field !== null && !Array.isArray(field)
        ? [name, fieldNames(field as JsonObject, ignored)]
        : name,
    );
}

for (const { file, path, request } of CASES) {
  test(`the sandbox streams the same sequence of events as the recording ${file}`, async (t) => {
    const recording = recorded(t, file);
    if (recording === null) return;
    const sandbox = await openSandbox(t);
    const response = await post(sandbox, path, { ...request, stream: true });
    assert.deepEqual(eventOrder(readEvents(await response.text())), eventOrder(readEvents(recording)));
  });
}

for (const { file, path, request } of CASES.filter((recording) => recording.file.includes("-sse-text"))) {
  test(`each streamed event has the same fields in the same order as in the recording ${file}`, async (t) => {
    const recording = recorded(t, file);
    if (recording === null) return;
    const sandbox = await openSandbox(t);
    const response = await post(sandbox, path, { ...request, stream: true });
    const events = readEvents(await response.text());
    for (const { name, data } of readEvents(recording)) {
      const own = events.find((event) => event.name === name)?.data ?? {};
      assert.deepEqual(fieldNames(own, NEWER), fieldNames(data, LEFT_OUT), name);
    }
  });
}

const CHUNKS = "chat/bodies/openai-sse-chunk-after-usage.sse";
const COMPLETION = "chat/bodies/openai-json-length.json";

/** Returns what of each chunk its reader sees, the first of each kind: member names down to those of the delta. */
function chunkKinds(chunks: readonly (JsonObject | string)[]): unknown[] {
  const kinds = chunks.map((chunk) =>
    typeof chunk === "string"
      ? chunk
      : [
          fieldNames(chunk, LEFT_OUT),
          fieldNames((valueAt(chunk, "choices", 0) ?? {}) as JsonObject, LEFT_OUT),
        ],
  );
  const seen = kinds.map((kind) => JSON.stringify(kind));
  return kinds.filter((_, at) => seen.indexOf(seen[at] ?? "") === at);
}

test("each streamed chunk has the same fields in the same order as in a recorded stream of Chat Completions", async (t) => {
  const recording = recorded(t, CHUNKS);
  if (recording === null) return;
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/chat/completions", chatRequest(WITH_USAGE));
  // The recording has one chunk more, with the result of a moderation.
  const kinds = chunkKinds(
    readChunks(recording).filter((chunk) => valueAt(chunk, "moderation") === undefined),
  );
  assert.deepEqual(chunkKinds(readChunks(await response.text())), kinds);
});

const choiceOf = (body: JsonObject) => valueAt(body, "choices", 0) as JsonObject;

test("a chat completion has the same fields in the same order as a recorded one", async (t) => {
  const recording = recorded(t, COMPLETION);
  if (recording === null) return;
  const sandbox = await openSandbox(t);
  const completion = (await (await post(sandbox, "/chat/completions", chatRequest())).json()) as JsonObject;
  const expected = JSON.parse(recording) as JsonObject;
  assert.deepEqual(fieldNames(completion, LEFT_OUT), fieldNames(expected, LEFT_OUT));
  assert.deepEqual(fieldNames(choiceOf(completion), LEFT_OUT), fieldNames(choiceOf(expected), LEFT_OUT));
});
