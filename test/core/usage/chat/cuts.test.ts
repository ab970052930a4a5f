import assert from "node:assert/strict";
import { test } from "node:test";
import { CORPUS_MISSING, listCorpus, meterChunks, readBody, setupOf, type CorpusFile } from "../corpus.ts";
import { assertInvariants } from "../invariants.ts";

interface Chunk {
  choices?: { index?: number; finish_reason?: string | null; usage?: object }[] | null;
  usage?: object | null;
  x_groq?: { usage?: object };
  timings?: object;
  error?: object;
}

/** What JSON.parse and the rules of docs/wire.md section 7 make of the part of a stream that arrived before it broke. */
function usageStateOf(part: string): "final" | "partial" | "absent" {
  let [state, isDone, hasFailed] = ["absent", false, false] as [
    "final" | "partial" | "absent",
    boolean,
    boolean,
  ];
  const [begun, finished] = [new Set<number>(), new Set<number>()];
  for (const line of part.split(/\r\n|\n|\r/)) {
    const data = /^data: ?(.*)$/.exec(line)?.[1];
    if (data === "[DONE]") isDone = true;
    const parsed = data === undefined ? null : parse(data);
    if (parsed === null) continue;
    hasFailed ||= parsed.error !== undefined;
    const choices = parsed.choices ?? [];
    for (const { index = 0, finish_reason } of choices) {
      begun.add(index);
      if (finish_reason) finished.add(index);
    }
    const usage =
      parsed.usage ?? parsed.x_groq?.usage ?? choices.find((choice) => choice.usage)?.usage ?? parsed.timings;
    if (usage) state = choices.length === 0 || begun.size === finished.size ? "final" : "partial";
  }
  return state === "partial" && isDone && !hasFailed ? "final" : state;
}

function parse(data: string): Chunk | null {
  try {
    return JSON.parse(data) as Chunk;
  } catch {
    return null;
  }
}

/** Every position of a small body, and some hundred of a large one. */
function* cutsOf({ length }: Buffer): Generator<number> {
  const step = length > 6_000 ? 37 : 1;
  for (let at = 0; at < length; at += step) yield at;
}

function isChatStream({ api, content_type }: CorpusFile): boolean {
  return api === "chat" && content_type.startsWith("text/event-stream");
}

test("a recorded chat stream that is cut anywhere has final usage only once that has arrived", async (t) => {
  if (CORPUS_MISSING !== null) {
    t.diagnostic(CORPUS_MISSING);
    return t.skip(CORPUS_MISSING);
  }
  for (const file of listCorpus().filter(isChatStream)) {
    await t.test(file.file, () => {
      const body = readBody(file);
      const whole = meterChunks(setupOf(file), [body]);
      for (const at of cutsOf(body)) {
        const part = body.subarray(0, at);
        const reading = meterChunks(setupOf(file), [part], false);
        assertInvariants(reading);
        assert.equal(reading.usage, usageStateOf(part.toString()), `cut at ${at}`);
        if (reading.usage === "final") assert.deepEqual(reading.tokens, whole.tokens, `cut at ${at}`);
      }
    });
  }
});

test("a chat completion that is cut anywhere has no usage", (t) => {
  if (CORPUS_MISSING !== null) return t.skip(CORPUS_MISSING);
  for (const file of listCorpus().filter((one) => one.api === "chat" && !isChatStream(one))) {
    const body = readBody(file);
    const end = body.lastIndexOf("}");
    for (let at = 0; at <= end; at++) {
      const reading = meterChunks(setupOf(file), [body.subarray(0, at)], false);
      assert.deepEqual([reading.usage, reading.tokens], ["absent", null], `${file.file} cut at ${at}`);
    }
  }
});
