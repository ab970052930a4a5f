import assert from "node:assert/strict";
import { test } from "node:test";
import { createMeter } from "../../../src/core/usage/meter.ts";
import { createRandom, meterChunks, randomPieces } from "./corpus.ts";
import { jsonSetup, messageEvents, readBody, setup, stream } from "./answers.ts";

const MESSAGE = {
  id: "msg_1",
  type: "message",
  model: "m",
  stop_reason: "end_turn",
  usage: { input_tokens: 10, output_tokens: 5 },
};
const STREAM = stream(messageEvents([{ input_tokens: 10, output_tokens: 1 }, { output_tokens: 5 }]));

test("an error status is an error without usage, and tells its kind in every shape", () => {
  const bodies: [object | string, string | null][] = [
    [{ type: "error", error: { type: "overloaded_error", message: "" } }, "overloaded_error"],
    [{ error: { message: "", type: "invalid_request_error", code: "bad_value" } }, "bad_value"],
    [{ error: { message: "", type: "rate_limit", code: 429 } }, "rate_limit"],
    [{ error: { message: "", code: 429 } }, "429"],
    [{ type: "error", code: "server_error", message: "" }, "server_error"],
    [{ ...MESSAGE }, null],
    ["<html>502</html>", null],
    ["", null],
  ];
  for (const [body, errorType] of bodies) {
    for (const dialect of ["messages", "responses"] as const) {
      const reading = readBody(body, jsonSetup({ dialect, status: 500 }), false);
      assert.deepEqual([reading.outcome, reading.usage, reading.spend], ["error", "absent", "never"]);
      const flags = body === "<html>502</html>" ? ["bad_json"] : [];
      assert.deepEqual([reading.error_type, reading.tokens, reading.flags], [errorType, null, flags]);
    }
  }
  const page = setup({ status: 502, contentType: "text/html" });
  assert.deepEqual(readBody("<html>502</html>", page).flags, []);
  const event = 'event: error\ndata: {"error":{"type":"overloaded_error"}}\n\n';
  assert.equal(readBody(event, setup({ status: 529 })).error_type, "overloaded_error");
});

test("an error that comes with a good status is an error all the same", () => {
  for (const dialect of ["messages", "responses"] as const) {
    const reading = readBody(
      { error: { message: "", type: "api_error", code: null } },
      jsonSetup({ dialect }),
    );
    assert.deepEqual([reading.outcome, reading.error_type], ["error", "api_error"]);
    assert.deepEqual([reading.usage, reading.spend], ["absent", "never"]);
  }
});

test("a route without usage has none, whatever its body says", () => {
  for (const changes of [{ dialect: "none" }, { spend: "never" }] as const) {
    const reading = readBody(MESSAGE, jsonSetup(changes));
    assert.deepEqual(
      [reading.outcome, reading.usage, reading.spend, reading.tokens],
      ["completed", "none", "never", null],
    );
    assert.equal(readBody(MESSAGE, jsonSetup(changes), false).outcome, "cut");
    const error = readBody({ error: { type: "not_found_error" } }, jsonSetup({ ...changes, status: 404 }));
    assert.deepEqual([error.outcome, error.usage, error.error_type], ["error", "none", "not_found_error"]);
  }
});

test("a body that is cut tells nothing, even if its usage was seen", () => {
  const body = JSON.stringify({ first: MESSAGE.usage, ...MESSAGE, last: "x" });
  for (let length = 1; length < body.length; length++) {
    const reading = readBody(body.slice(0, length), jsonSetup(), false);
    assert.deepEqual([reading.outcome, reading.usage, reading.spend], ["cut", "absent", "never"]);
    assert.deepEqual(reading.flags, ["bad_json"]);
  }
  assert.deepEqual(readBody("", jsonSetup(), false).flags, []);
});

test("a body that is no JSON is unreadable, not zero", () => {
  const reading = readBody("<html>hello</html>", jsonSetup({ contentType: "text/html" }));
  assert.deepEqual([reading.outcome, reading.usage, reading.flags], ["completed", "absent", ["bad_json"]]);
});

test("without a content type the first byte tells JSON from a stream", () => {
  assert.equal(readBody(` \n${JSON.stringify(MESSAGE)}`, setup({ contentType: null })).usage, "final");
  assert.equal(readBody(`\n\n${STREAM}`, setup({ contentType: null })).usage, "final");
  assert.equal(readBody(`: comment\n${STREAM}`, setup({ contentType: null })).usage, "final");
});

test("a content type is believed, in any case and with parameters", () => {
  assert.equal(readBody(STREAM, setup({ contentType: "Text/Event-Stream; charset=utf-8" })).usage, "final");
  assert.equal(readBody(STREAM, jsonSetup()).usage, "absent");
  assert.equal(readBody(MESSAGE, setup()).usage, "absent");
});

test("content is seen with the first delta of a stream, not before, and not with message_delta", () => {
  const cases = [
    {
      dialect: "messages",
      not: ["message_start", "ping", "content_block_start", "message_delta"],
      content: "content_block_delta",
    },
    {
      dialect: "responses",
      not: ["response.created", "response.output_item.added"],
      content: "response.output_text.delta",
    },
    { dialect: "responses", not: [], content: "response.function_call_arguments.delta" },
  ] as const;
  for (const { dialect, not, content } of cases) {
    const meter = createMeter(setup({ dialect }));
    for (const type of not) meter.feed(Buffer.from(stream([{ type, delta: {} }])));
    assert.equal(meter.sawContent, false);
    meter.feed(Buffer.from(stream([{ type: content, delta: "x" }])));
    assert.equal(meter.sawContent, true);
  }
});

test("content is seen when the type stands last, and when the event comes in pieces", () => {
  const meter = createMeter(setup());
  for (const byte of Buffer.from('data: {"index":0,"type":"content_block_delta"}\n\n'))
    meter.feed(Buffer.from([byte]));
  assert.equal(meter.sawContent, true);
  assert.equal(createMeter(jsonSetup()).sawContent, false);
});

test("an event that ends within JSON is passed over when its type is of no interest, and flagged when it is", () => {
  const broken = (type: string): string =>
    `${STREAM}data: {"type":"${type}","usage":{\n\ndata: {"type":"ping"}\n\n`;
  assert.deepEqual(readBody(broken("ping"), setup()).flags, []);
  assert.deepEqual(readBody(broken("message_delta"), setup()).flags, ["bad_json"]);
  assert.deepEqual(readBody(`${STREAM}data: [DONE]\n\n`, setup()).flags, []);
});

test("an event of many lines that the end of the stream interrupts is flagged, of whatever type", () => {
  assert.deepEqual(readBody(`${STREAM}data: {"type":"ping",\n`, setup(), false).flags, ["bad_json"]);
  assert.deepEqual(readBody(`${STREAM}data: {"type":"ping",\ndata: "a":1}\n`, setup(), false).flags, []);
});

test("no bytes make a meter throw, and none that are not usage make it count", () => {
  const random = createRandom(7);
  const alphabet = Buffer.from('{}[]":,\\\r\n dataevent:typemessage_delta0123usage\u00ff');
  for (let round = 0; round < 300; round++) {
    const body = Buffer.from(
      Array.from({ length: 400 }, () => alphabet[Math.floor(random() * alphabet.length)] ?? 0),
    );
    for (const changes of [
      setup(),
      jsonSetup(),
      setup({ dialect: "responses" }),
      jsonSetup({ dialect: "responses" }),
    ]) {
      const reading = meterChunks(changes, [body]);
      assert.notEqual(reading.usage, "final");
      assert.deepEqual(meterChunks(changes, randomPieces(body, 9, random)), reading);
    }
  }
});

test("an event is what its data opens with: a second type does not make it another", () => {
  const [start = "", last = ""] = STREAM.split("\n\n");
  const decoy = last.replace("{", '{"type":"ping",');
  const reading = readBody(`${start}\n\n${decoy}\n\ndata: {"type":"a\u0002"}\n\n`, setup());
  assert.deepEqual([reading.outcome, reading.usage, reading.flags], ["cut", "partial", []]);
});

test("what a later piece of a long event opens with is not the event's type", () => {
  const last = JSON.stringify(messageEvents([{}, { output_tokens: 5 }])[1]);
  const opening = `{"long":"${"x".repeat(2_000)}","decoy":`;
  const event = last.replace("{", `${opening}{"type":"ping"},`);
  const [before, after] = [`data: ${opening}`, `${event.slice(opening.length)}\n\n`];
  const reading = meterChunks(setup(), [Buffer.from(before), Buffer.from(after)]);
  assert.equal(reading.tokens?.output, 5);
});

test("an interrupted event of no interest is flagged unless its line ends as an object does", () => {
  assert.deepEqual(readBody(`${STREAM}data: {"type":"ping","a":{}\n`, setup(), false).flags, []);
  assert.deepEqual(readBody(`${STREAM}data: {"type":"ping","a":[\n`, setup(), false).flags, ["bad_json"]);
});

test("white space before a body is no part of it, but belongs to the first line of what must be a stream", () => {
  assert.equal(readBody(` ${STREAM}`, setup({ contentType: null })).tokens?.input_uncached, 10);
  assert.equal(readBody(` ${STREAM}`, setup()).tokens?.input_uncached, 0);
  assert.notEqual(readBody(` \n ${JSON.stringify(MESSAGE)}`, jsonSetup()).tokens, null);
});
