import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { chatRequest, openSandbox, post, readChunks, valueAt, WITH_USAGE } from "../sandbox-client.ts";

async function stream(t: TestContext, xSandbox: string, more: JsonObject = {}): Promise<string> {
  const sandbox = await openSandbox(t);
  const headers = { "x-sandbox": xSandbox };
  const response = await post(sandbox, "/chat/completions", chatRequest({ stream: true, ...more }), headers);
  assert.equal(response.status, 200);
  return response.text();
}

/**
 * Writes a stream as one word for each item: `text` for a chunk with content, `finish` for one with a finish reason, `idle`
 * for another one with a choice, `bare` for one without, `null` for one without a list of choices, `DONE`. What it says of
 * usage follows: `=null`, or `=` and its total tokens, after the name of the place where it is not the chunk itself.
 */
function describe(item: JsonObject | string): string {
  if (typeof item === "string") return "DONE";
  const kind = describeChoices(item["choices"]);
  const found = [
    ["", item],
    [".choice", valueAt(item, "choices", 0)],
    [".x_groq", item["x_groq"]],
  ] as const;
  const usages = found
    .map(([place, holder]) => [place, valueAt(holder, "usage")] as const)
    .filter(([, usage]) => usage !== undefined)
    .map(([place, usage]) => `${place}=${usage === null ? "null" : String(valueAt(usage, "total_tokens"))}`);
  return kind + usages.join("") + ("timings" in item ? ".timings" : "");
}

function describeChoices(choices: unknown): string {
  if (!Array.isArray(choices)) return "null";
  const [choice] = choices as JsonObject[];
  if (choice === undefined) return "bare";
  if (choice["finish_reason"] !== null) return "finish";
  const delta = valueAt(choice, "delta");
  return valueAt(delta, "content") === undefined ? "idle" : "text";
}

const PLAIN = "text text text finish DONE";
const CLOSED = "text=null text=null text=null finish=null bare=11";

/** The streams by switch: without being asked for usage, and with. One that is the same either way stands once. */
const STREAMS: Record<string, string | [unasked: string, asked: string]> = {
  "usage=asked": [PLAIN, `${CLOSED} DONE`],
  "usage=bare": [PLAIN, "text text text finish bare=11 DONE"],
  "usage=unasked": `${CLOSED} DONE`,
  "usage=null-choices": "text text text finish null=11 DONE",
  "usage=extra-choice": "text text text finish idle=11 DONE",
  "usage=finish": "text text text finish=11 DONE",
  "usage=choice": "text text text finish.choice=11 DONE",
  "usage=x-groq": "text text text finish.x_groq=11 DONE",
  "usage=x-groq-too": "text text text finish=11.x_groq=11 DONE",
  "usage=every": "text=5 text=7 text=9 finish=11 DONE",
  "usage=every-null": "text=null text=null text=null finish=11 DONE",
  "usage=zeros": "text=0 text=0 text=0 finish=11 DONE",
  "usage=then-null": `${CLOSED} bare=null DONE`,
  "usage=after-done": "text text text finish DONE bare=11",
  "usage=timings": "text text text finish.timings DONE",
  "no-usage": PLAIN,
  "no-usage, usage=every": PLAIN,
  "no-done": ["text text text finish", CLOSED],
  "no-done, usage=finish": "text text text finish=11",
  "error-event": ["text text ERROR", "text=null text=null ERROR"],
  "error-event, usage=every": "text=5 text=7 ERROR",
  "error-event, usage=after-done": "text text ERROR",
};

for (const [xSandbox, expected] of Object.entries(STREAMS)) {
  const [unasked, asked] = typeof expected === "string" ? [expected, expected] : expected;
  for (const [more, wanted] of [[{}, unasked] as const, [WITH_USAGE, asked] as const]) {
    test(`x-sandbox: ${xSandbox} ${"stream" in more ? "with" : "without"} include_usage streams ${wanted}`, async (t) => {
      const items = readChunks(await stream(t, xSandbox, more));
      const words = items.map((item) =>
        typeof item === "object" && "error" in item ? "ERROR" : describe(item),
      );
      assert.equal(words.join(" "), wanted);
    });
  }
}

test("every-null knows the input from the start, and the output at the end", async (t) => {
  const chunks = readChunks(await stream(t, "usage=every-null"));
  assert.equal(valueAt(chunks[0], "usage", "prompt_tokens"), 3);
  assert.equal(valueAt(chunks[0], "usage", "completion_tokens"), null);
  assert.equal(valueAt(chunks.at(-2), "usage", "completion_tokens"), 8);
});

test("interim usage never has more reasoning than output", async (t) => {
  const chunks = readChunks(await stream(t, "usage=every", { reasoning_effort: "low" })).slice(0, -1);
  for (const chunk of chunks) {
    const usage = valueAt(chunk, "usage");
    const reasoning = Number(valueAt(usage, "completion_tokens_details", "reasoning_tokens"));
    assert.ok(reasoning > 0 && reasoning <= Number(valueAt(usage, "completion_tokens")));
  }
});

test("timings have the tokens that usage would have, and stand in JSON as well", async (t) => {
  const last = readChunks(await stream(t, "usage=timings")).at(-2);
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/chat/completions", chatRequest(), { "x-sandbox": "usage=timings" });
  const whole = await response.json();
  for (const body of [last, whole]) {
    assert.equal(valueAt(body, "usage"), undefined);
    assert.equal(valueAt(body, "timings", "cache_n"), 0);
    assert.equal(valueAt(body, "timings", "prompt_n"), 3);
    assert.equal(valueAt(body, "timings", "predicted_n"), 8);
  }
});

test("an error event is the last chunk, in the shape of an error body, and bills nothing", async (t) => {
  const sandbox = await openSandbox(t);
  const request = chatRequest({ stream: true });
  const response = await post(sandbox, "/chat/completions", request, { "x-sandbox": "error-event" });
  const last = readChunks(await response.text()).at(-1);
  assert.equal(valueAt(last, "error", "type"), "server_error");
  assert.equal(valueAt(sandbox.counts(), 0, "count", "requests"), 1);
  assert.equal(valueAt(sandbox.counts(), 0, "count", "output"), 0);
});

const describeStream = (text: string) =>
  readChunks(text.replaceAll(": SANDBOX PROCESSING\n\n", "")).map((item) => describe(item));

test("comments stand before each event, and crlf ends every line with CR and LF, in all streaming APIs", async (t) => {
  const commented = await stream(t, "comments");
  assert.equal(commented.split(": SANDBOX PROCESSING\n\ndata: ").length - 1, 5);
  const crlf = await stream(t, "crlf, comments");
  assert.equal(crlf.replaceAll("\r\n", "").search(/[\r\n]/), -1);
  assert.deepEqual(describeStream(crlf.replaceAll("\r\n", "\n")), describeStream(commented));

  const sandbox = await openSandbox(t);
  const headers = { "x-sandbox": "crlf" };
  const response = await post(sandbox, "/responses", { model: "gpt-5", input: "x", stream: true }, headers);
  assert.match(await response.text(), /^event: response\.created\r\ndata: .*\r\n\r\n/);
});

test("an unknown place gets 400 naming the known ones", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/chat/completions", chatRequest(), { "x-sandbox": "usage=first" });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /usage=first.*asked, bare, unasked.*timings/);
});
