import assert from "node:assert/strict";
import { test } from "node:test";
import { createMeter } from "../../../src/core/usage/meter.ts";
import { createRandom, meterChunks, randomPieces } from "./corpus.ts";
import { jsonSetup, messageEvents, readBody, setup, stream } from "./response-bodies.ts";

const MESSAGE = {
  id: "msg_1",
  type: "message",
  model: "m",
  stop_reason: "end_turn",
  usage: { input_tokens: 10, output_tokens: 5 },
};
const STREAM = stream(messageEvents([{ input_tokens: 10, output_tokens: 1 }, { output_tokens: 5 }]));

test("reads an error status as an error without usage, and the error's type in every form", () => {
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
  const { error_type: type, flags } = readBody("<html>502</html>", page);
  assert.deepEqual([type, flags], ["web_page", ["web_page"]]);
  const event = 'event: error\ndata: {"error":{"type":"overloaded_error"}}\n\n';
  assert.equal(readBody(event, setup({ status: 529 })).error_type, "overloaded_error");
});

test("reads an error body with status 200 as an error", () => {
  for (const dialect of ["messages", "responses"] as const) {
    const reading = readBody(
      { error: { message: "", type: "api_error", code: null } },
      jsonSetup({ dialect }),
    );
    assert.deepEqual([reading.outcome, reading.error_type], ["error", "api_error"]);
    assert.deepEqual([reading.usage, reading.spend], ["absent", "never"]);
  }
});

test("reports no usage for a route without usage, whatever its body says", () => {
  for (const changes of [{ dialect: "none", spend: "never" }, { spend: "never" }] as const) {
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

test("reports absent usage, not none, where a response costs something and no API says how its usage looks", () => {
  const reading = readBody(MESSAGE, jsonSetup({ dialect: "none" }));
  assert.deepEqual([reading.outcome, reading.usage, reading.tokens], ["completed", "absent", null]);
});

test("reports no usage of a truncated JSON body, even when the usage had arrived", () => {
  const body = JSON.stringify({ first: MESSAGE.usage, ...MESSAGE, last: "x" });
  for (let length = 1; length < body.length; length++) {
    const reading = readBody(body.slice(0, length), jsonSetup(), false);
    assert.deepEqual([reading.outcome, reading.usage, reading.spend], ["cut", "absent", "never"]);
    assert.deepEqual(reading.flags, ["bad_json"]);
  }
  assert.deepEqual(readBody("", jsonSetup(), false).flags, []);
});

test("reports absent usage, not zero, for a body that is not JSON", () => {
  const reading = readBody("hello", jsonSetup({ contentType: "text/plain" }));
  assert.deepEqual([reading.outcome, reading.usage, reading.flags], ["completed", "absent", ["bad_json"]]);
});

test("reports a web page as an error, on every route, whatever its status says", () => {
  for (const contentType of ["text/html", "Text/HTML; charset=utf-8", "application/xhtml+xml"]) {
    for (const changes of [{ dialect: "chat" }, { dialect: "none" }, { spend: "never" }] as const) {
      const reading = readBody(
        "<!doctype html><title>Sign in</title>",
        jsonSetup({ contentType, ...changes }),
      );
      assert.deepEqual(
        [reading.outcome, reading.error_type, reading.flags],
        ["error", "web_page", ["web_page"]],
      );
    }
  }
});

test("reads JSON that is called a web page: some local servers do that", () => {
  const reading = readBody(MESSAGE, jsonSetup({ contentType: "text/html" }));
  assert.deepEqual([reading.outcome, reading.usage, reading.flags], ["completed", "final", []]);
});

test("tells JSON from a stream by the first byte when there is no content type", () => {
  assert.equal(readBody(` \n${JSON.stringify(MESSAGE)}`, setup({ contentType: null })).usage, "final");
  assert.equal(readBody(`\n\n${STREAM}`, setup({ contentType: null })).usage, "final");
  assert.equal(readBody(`: comment\n${STREAM}`, setup({ contentType: null })).usage, "final");
});

test("follows the content type, in any case and with parameters, where the first bytes decide nothing", () => {
  const type = "Text/Event-Stream; charset=utf-8";
  assert.equal(readBody(STREAM, setup({ contentType: type })).usage, "final");
  for (const opening of ["x-unknown: 1\n", "dat\n", "datum: 1\n"]) {
    assert.equal(readBody(opening + STREAM, setup({ contentType: type })).usage, "final", opening);
    const reading = readBody(opening + STREAM, jsonSetup());
    assert.deepEqual([reading.usage, reading.flags], ["absent", ["bad_json"]], opening);
  }
});

const WRONG_TYPES = [
  "text/plain",
  "application/json; charset=utf-8",
  "application/octet-stream",
  "text/html",
];

for (const contentType of WRONG_TYPES) {
  test(`reads an event stream that is called ${contentType}`, () => {
    for (const opening of ["", "event: message_start\n", ": OPENROUTER PROCESSING\n\n", "\ufeff", "id:1\n"]) {
      const reading = readBody(opening + STREAM, setup({ contentType }));
      assert.deepEqual([reading.outcome, reading.usage, reading.flags], ["completed", "final", []], opening);
      assert.deepEqual(reading.tokens, readBody(STREAM, setup()).tokens);
    }
  });
}

const WHOLE_BODIES = [
  { dialect: "messages", body: MESSAGE },
  { dialect: "responses", body: { id: "r", model: "m", status: "completed", usage: MESSAGE.usage } },
  {
    dialect: "chat",
    body: {
      model: "m",
      choices: [{ index: 0, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    },
  },
] as const;

for (const { dialect, body } of WHOLE_BODIES) {
  test(`reads a JSON document of ${dialect} that is called an event stream`, () => {
    for (const text of [
      JSON.stringify(body),
      `\ufeff${JSON.stringify(body)}`,
      `\n ${JSON.stringify(body, null, 2)}`,
    ]) {
      const reading = readBody(text, setup({ dialect }));
      assert.deepEqual([reading.outcome, reading.usage, reading.flags], ["completed", "final", []]);
      assert.equal(reading.tokens?.total, 15);
    }
    const cut = readBody(JSON.stringify(body).slice(0, -2), setup({ dialect }), false);
    assert.deepEqual([cut.outcome, cut.usage, cut.tokens], ["cut", "absent", null]);
  });
}

test("reads the error of a JSON body that is called an event stream", () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "" } };
  assert.equal(readBody(error, setup({ status: 529 })).error_type, "overloaded_error");
  assert.deepEqual(readBody(error, setup()).error_type, "overloaded_error");
});

test("a stream under a wrong content type is over when its last event has come", () => {
  const meter = createMeter(setup({ contentType: "text/plain" }));
  meter.feed(Buffer.from(STREAM.slice(0, -60)));
  assert.equal(meter.isFinished, false);
  meter.feed(Buffer.from(STREAM.slice(-60)));
  assert.equal(meter.isFinished, true);
});

test("sees content with the first content delta of a stream, and not with other events", () => {
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
    assert.equal(meter.hasContent, false);
    meter.feed(Buffer.from(stream([{ type: content, delta: "x" }])));
    assert.equal(meter.hasContent, true);
  }
});

test("sees content in an event whose type comes last, and which arrives byte by byte", () => {
  const meter = createMeter(setup());
  for (const byte of Buffer.from('data: {"index":0,"type":"content_block_delta"}\n\n'))
    meter.feed(Buffer.from([byte]));
  assert.equal(meter.hasContent, true);
  assert.equal(createMeter(jsonSetup()).hasContent, false);
});

test("ignores incomplete JSON in an event that is not selected, and flags it in one that is", () => {
  const broken = (type: string): string =>
    `${STREAM}data: {"type":"${type}","usage":{\n\ndata: {"type":"ping"}\n\n`;
  assert.deepEqual(readBody(broken("ping"), setup()).flags, []);
  assert.deepEqual(readBody(broken("message_delta"), setup()).flags, ["bad_json"]);
  assert.deepEqual(readBody(`${STREAM}data: [DONE]\n\n`, setup()).flags, []);
});

test("flags an event of several lines that the end of the stream interrupts, whatever its type", () => {
  assert.deepEqual(readBody(`${STREAM}data: {"type":"ping",\n`, setup(), false).flags, ["bad_json"]);
  assert.deepEqual(readBody(`${STREAM}data: {"type":"ping",\ndata: "a":1}\n`, setup(), false).flags, []);
});

test("never throws on random bytes, and never reports final usage for them", () => {
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

test("takes an event's type from the start of its data, not from a second type member", () => {
  const [start = "", last = ""] = STREAM.split("\n\n");
  const decoy = last.replace("{", '{"type":"ping",');
  const reading = readBody(`${start}\n\n${decoy}\n\ndata: {"type":"a\u0002"}\n\n`, setup());
  assert.deepEqual([reading.outcome, reading.usage, reading.flags], ["cut", "partial", []]);
});

test("does not take the start of a later chunk of a long event for the event's type", () => {
  const last = JSON.stringify(messageEvents([{}, { output_tokens: 5 }])[1]);
  const opening = `{"long":"${"x".repeat(2_000)}","decoy":`;
  const event = last.replace("{", `${opening}{"type":"ping"},`);
  const [before, after] = [`data: ${opening}`, `${event.slice(opening.length)}\n\n`];
  const reading = meterChunks(setup(), [Buffer.from(before), Buffer.from(after)]);
  assert.equal(reading.tokens?.output, 5);
});

test("flags an interrupted event that is not selected, unless its line ends like an object", () => {
  assert.deepEqual(readBody(`${STREAM}data: {"type":"ping","a":{}\n`, setup(), false).flags, []);
  assert.deepEqual(readBody(`${STREAM}data: {"type":"ping","a":[\n`, setup(), false).flags, ["bad_json"]);
});

test("skips white space before a body", () => {
  assert.equal(readBody(` ${STREAM}`, setup({ contentType: null })).tokens?.input_uncached, 10);
  assert.equal(readBody(` \n${STREAM}`, setup()).tokens?.input_uncached, 10);
  assert.notEqual(readBody(` \n ${JSON.stringify(MESSAGE)}`, jsonSetup()).tokens, null);
});

/** Meters the first `length` bytes of a body. */
function meterPart(body: string, length: number, changes: Parameters<typeof setup>[0]) {
  const meter = createMeter(setup(changes));
  meter.feed(Buffer.from(body).subarray(0, length));
  return meter;
}

const READ_SO_FAR: [what: string, body: string, Parameters<typeof setup>[0]][] = [
  ["a Messages stream", STREAM, {}],
  [
    "a Responses stream in the background",
    stream([{ type: "response.created", response: { id: "resp_1", background: true } }]),
    { dialect: "responses" },
  ],
  ["an error's stream", stream([{ type: "error", error: { type: "overloaded_error" } }]), { status: 529 }],
  ["a stream without usage", STREAM, { dialect: "none" }],
];

for (const [what, body, changes] of READ_SO_FAR) {
  test(`after each event of ${what}, what was read so far is what a cut would leave`, () => {
    for (const { index } of body.matchAll(/\n\n/g)) {
      const end = index + 2;
      const expected = meterPart(body, end, changes).finish(false);
      assert.deepEqual(meterPart(body, end, changes).readSoFar(), expected);
    }
  });
}

test("a JSON body has no usage before its end, and reading it meanwhile changes nothing", () => {
  const body = JSON.stringify(MESSAGE);
  const meter = createMeter(jsonSetup());
  for (const byte of Buffer.from(body)) {
    meter.feed(Buffer.of(byte));
    const { outcome, usage, spend } = meter.readSoFar();
    assert.deepEqual([outcome, usage, spend], ["cut", "absent", "never"]);
  }
  assert.deepEqual(meter.finish(true), readBody(MESSAGE, jsonSetup()));
});

test("a stream cut after its start has a partial reading with the first counts", () => {
  const meter = createMeter(setup());
  meter.feed(Buffer.from(STREAM.slice(0, STREAM.indexOf("\n\n") + 2)));
  const { outcome, usage, spend, tokens } = meter.readSoFar();
  assert.deepEqual(
    [outcome, usage, spend, tokens?.input_total, tokens?.output],
    ["cut", "partial", "count", 10, 1],
  );
});
