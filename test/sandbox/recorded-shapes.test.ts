import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import type { JsonObject } from "../../src/sandbox/json.ts";
import { eventOrder, messageRequest, openSandbox, post, readEvents, responsesRequest } from "./support.ts";

const CORPUS = new URL("../../../shared/corpus/", import.meta.url);

const FUNCTION = { type: "function", name: "get_capital", parameters: { type: "object" } };

/** Recordings of the real services beside requests that the sandbox answers in the same way. */
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

/** Fields of some recordings that belong to features the sandbox does not have. */
const LEFT_OUT = new Set(["conversation", "obfuscation"]);
/** Fields that came after the recordings were made, and stand in newer ones. */
const NEWER = new Set(["stop_details"]);

function recorded(t: TestContext, file: string): string | null {
  const url = new URL(file, CORPUS);
  if (existsSync(url)) return readFileSync(url, "utf8");
  t.diagnostic(`no recording at ${url.pathname}`);
  t.skip("the recorded streams are not here");
  return null;
}

/** The names of an object's fields, nested objects' too, in order. Lists are left alone. */
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
  test(`the sandbox streams the events of ${file} in the recorded order`, async (t) => {
    const recording = recorded(t, file);
    if (recording === null) return;
    const sandbox = await openSandbox(t);
    const answer = await post(sandbox, path, { ...request, stream: true });
    assert.deepEqual(eventOrder(readEvents(await answer.text())), eventOrder(readEvents(recording)));
  });
}

for (const { file, path, request } of CASES.filter((recording) => recording.file.includes("-sse-text"))) {
  test(`each event has the fields that it has in ${file}, in their order`, async (t) => {
    const recording = recorded(t, file);
    if (recording === null) return;
    const sandbox = await openSandbox(t);
    const answer = await post(sandbox, path, { ...request, stream: true });
    const events = readEvents(await answer.text());
    for (const { name, data } of readEvents(recording)) {
      const own = events.find((event) => event.name === name)?.data ?? {};
      assert.deepEqual(fieldNames(own, NEWER), fieldNames(data, LEFT_OUT), name);
    }
  });
}
