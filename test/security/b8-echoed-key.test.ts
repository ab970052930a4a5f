// B8, an echoed key: a key that an upstream echoes is redacted in heads, redirects, error bodies however they are divided into chunks,
// and the ledger. Our own refusals reveal no internals. The body of a successful response is passed on unchanged (SECURITY.md, "What
// cannot be promised"), so it is not searched.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import { inspect } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post, startGate, TEST_KEY, type TestGate } from "../helpers/gate/gate.ts";
import { readMessages } from "../helpers/client/http-messages.ts";
import { rawRequest, sendRaw } from "../helpers/client/raw-client.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { rawResponse } from "../helpers/upstream/raw-upstream.ts";
import {
  sendJson,
  MESSAGE,
  startUpstream,
  type Script,
  respondWithEmptyJson,
} from "../helpers/upstream/scripted-upstream.ts";
import { assertNowhere } from "./leak-search.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

const STARS = "*".repeat(TEST_KEY.length);

async function openGate(t: TestContext, script: Script = () => {}) {
  const upstream = await startUpstream(t, script);
  return { upstream, gate: await startGate(t, upstream.baseUrl) };
}

/** Sends a Messages request and returns everything that comes back. */
async function requestText(t: TestContext, { port }: TestGate): Promise<string> {
  const lines = ["POST /v1/messages HTTP/1.1", ...jsonHeaders(port)];
  return (await exchangeRaw(t, port, lines, `{"model":"m"}`)).text;
}

for (const status of [200, 302, 401, 500, 529]) {
  test(`the key is redacted in the reason, header values and header names of a ${status}, and in interim responses and trailers`, async (t) => {
    const fields = [
      `request-id: ${TEST_KEY}`,
      `x-echo: before ${TEST_KEY}, ${TEST_KEY}${TEST_KEY} after`,
      `x-echo: Bearer ${TEST_KEY}`,
      `www-authenticate: Bearer realm="${TEST_KEY}"`,
      `${TEST_KEY}: 1`,
      `x-${TEST_KEY}-y: 1`,
      "x-plain: 1",
      "trailer: x-end",
    ];
    const early = `HTTP/1.1 103 Early Hints\r\nlink: </${TEST_KEY}>\r\n\r\n`;
    const head = `HTTP/1.1 ${status} Oh ${TEST_KEY}!\r\n${fields.join("\r\n")}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const body = `2;x=${TEST_KEY}\r\n{}\r\n0\r\nx-end: ${TEST_KEY}\r\n\r\n`;
    const { gate } = await startGateWithRawUpstream(
      t,
      (_request, { socket }) => void socket.write(early + head + body),
    );
    const text = await requestText(t, gate);
    assert.ok(text.startsWith(`HTTP/1.1 ${status} Oh ${STARS}!\r\n`), text);
    assert.ok(
      text.includes(`x-echo: before ${STARS}, ${STARS}${STARS} after\r\nx-echo: Bearer ${STARS}\r\n`),
      text,
    );
    assert.match(text, /\r\nx-plain: 1\r\n/);
    const record = await gate.ledger.only();
    assert.equal(record.upstream_request_id, STARS);
    assertNowhere(TEST_KEY, { text, ledger: JSON.stringify(record), log: gate.log.lines.join("\n") });
  });
}

const escaped = (spell: (hex: string) => string) =>
  TEST_KEY.replaceAll("-", () => spell("2d")).replace("4", () => spell("34"));

/** Spellings that decode to the key in at most two steps. test/core/secrets/key-scanner.test.ts has more. */
const SPELLINGS: Record<string, string> = {
  JSON: escaped((hex) => `\\u00${hex}`),
  "a URL": escaped((hex) => `%${hex}`),
  "a URL in a URL": escaped((hex) => `%25${hex}`),
  HTML: escaped((hex) => `&#x${hex};`),
  "JSON in JSON": escaped((hex) => `\\\\u00${hex}`),
  base64: Buffer.from(`Bearer ${TEST_KEY}`).toString("base64"),
  base64url: Buffer.from(`user:${TEST_KEY}`).toString("base64url"),
  "base64 of JSON, behind another digit": `x${Buffer.from(escaped((hex) => `\\u00${hex}`)).toString("base64")}`,
  "hexadecimal digits of a URL": Buffer.from(escaped((hex) => `%${hex}`)).toString("hex"),
  "hexadecimal digits": Buffer.from(TEST_KEY).toString("hex"),
};

for (const [what, spelling] of Object.entries(SPELLINGS)) {
  test(`the key as ${what} is redacted in the reason, headers, error body and ledger, in pieces of any size`, async (t) => {
    for (const size of [1, 2, 5, 1000]) {
      const body = `{"error":{"message":"no such key: ${spelling}!"}}`;
      const { gate } = await openGate(t, (_seen, res) => {
        res.writeHead(401, `Not ${spelling}`, {
          location: `https://other.example/?key=${spelling}#here`,
          "request-id": spelling,
          "content-length": body.length,
        });
        void (async () => {
          for (let at = 0; at < body.length; at += size) {
            res.write(body.slice(at, at + size));
            await setImmediate();
          }
          res.end();
        })();
      });
      const text = await requestText(t, gate);
      const ledger = JSON.stringify(await gate.ledger.only());
      // Half of it would be too much, too.
      const half = spelling.slice(10, 10 + spelling.length / 2);
      assert.ok(![text, ledger, ...gate.log.lines].some((one) => one.includes(half)));
      assert.match(text, /\r\nlocation: https:\/\/other\.example\/\?key=\S*\*{29,}=*#here\r\n/);
      const [response] = readMessages(text).messages;
      assert.equal(response?.body.length, body.length);
      assert.match(response?.body ?? "", /^\{"error":\{"message":"no such key: \S*\*{29,}=*!"\}\}$/);
      assert.match(ledger, /"upstream_request_id":"\S*?\*{29,}/);
    }
  });
}

test("the key as any of these passes in a successful body, byte for byte", async (t) => {
  const body = JSON.stringify({ ...MESSAGE, echo: Object.values(SPELLINGS) });
  const { gate } = await openGate(t, (_seen, res) => res.end(body));
  assert.equal(await (await post(gate, "/v1/messages", { model: "m" })).text(), body);
});

const MARK = "what the client has before the rest is sent";
const ERROR = `{"error":{"message":"${MARK}${"-".repeat(TEST_KEY.length)}no such key: ${TEST_KEY}"}}`;
const KEY_AT = ERROR.indexOf(TEST_KEY);

for (const framing of ["a length", "chunks"]) {
  test(`the key is redacted in an error framed by ${framing} wherever it is divided into two chunks`, async (t) => {
    const { upstream, gate } = await openGate(t);
    const responses: ServerResponse[] = [];
    for (let cut = KEY_AT; cut <= KEY_AT + TEST_KEY.length; cut += 1) {
      upstream.respondWith((_seen, res) => {
        res.writeHead(401, framing === "chunks" ? {} : { "content-length": ERROR.length });
        res.write(ERROR.slice(0, cut));
        responses.push(res);
      });
      const client = await sendRaw(
        t,
        gate.port,
        rawRequest(gate.port).replace("\r\n", "\r\nConnection: close\r\n"),
      );
      await client.until(new RegExp(MARK));
      responses.at(-1)?.end(ERROR.slice(cut));
      const [response] = readMessages(await client.closed).messages;
      assert.equal(response?.body, ERROR.replace(TEST_KEY, STARS), `cut at ${cut - KEY_AT}`);
    }
  });
}

test("the key is redacted in an error that arrives byte by byte with repeated and partial keys", async (t) => {
  const start = TEST_KEY.slice(0, 20);
  const error = `${TEST_KEY}${TEST_KEY} ${start}${TEST_KEY} ${start} ${TEST_KEY.slice(1)} \u00e9${TEST_KEY}`;
  const { gate } = await openGate(t, (_seen, res) => {
    res.writeHead(500);
    void (async () => {
      for (const byte of Buffer.from(error)) {
        res.write(Buffer.of(byte));
        await setImmediate();
      }
      res.end();
    })();
  });
  const res = await post(gate, "/v1/responses", {});
  assert.equal(await res.text(), error.replaceAll(TEST_KEY, STARS));
});

test("an error that is truncated within the key reveals no part of it", async (t) => {
  const begun = `{"message":"${"-".repeat(100)}${TEST_KEY.slice(0, -1)}`;
  const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
    socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: 1000\r\n\r\n${begun}`);
  });
  const text = await requestText(t, gate);
  assert.ok(!text.includes(TEST_KEY.slice(0, 8)), text);
});

for (const [encoding, compress] of Object.entries({
  gzip: gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
})) {
  test(`the escaped key is redacted in an error compressed with ${encoding}`, async (t) => {
    const body = ERROR.replace(
      TEST_KEY,
      escaped((hex) => `\\u00${hex}`),
    );
    const { gate } = await openGate(t, (_seen, res) =>
      res.writeHead(401, { "content-encoding": encoding }).end(compress(body)),
    );
    const text = await (await post(gate, "/v1/messages", {})).text();
    assert.equal(text.length, body.length);
    assert.doesNotMatch(text, /sentinel|u00/);
    assert.doesNotThrow(() => void JSON.parse(text));
  });

  test(`the key is redacted in an error compressed with ${encoding} although identity was requested`, async (t) => {
    const { upstream, gate } = await openGate(t, (_seen, res) =>
      res.writeHead(401, { "content-encoding": encoding }).end(compress(ERROR)),
    );
    const res = await post(gate, "/v1/messages", {});
    assert.equal(await res.text(), ERROR.replace(TEST_KEY, STARS));
    assert.match(String(upstream.seen[0]?.headers["accept-encoding"]), /^identity$/);
  });
}

test("the record of a response contains neither the key nor a truncated part of it", async (t) => {
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    service_tier: TEST_KEY,
    [TEST_KEY]: { [TEST_KEY]: TEST_KEY },
  };
  const { gate } = await openGate(t, (_seen, res) => {
    // Long enough to be truncated within the key.
    res.setHeader("request-id", `${"r".repeat(240)}${TEST_KEY}`);
    sendJson(res, { ...MESSAGE, id: TEST_KEY, model: TEST_KEY, stop_reason: TEST_KEY, usage });
  });
  await (await post(gate, "/v1/messages", { model: "m" })).text();
  const ledger = JSON.stringify(await gate.ledger.only());
  assert.match(ledger, /"model":"\*+"/);
  assert.ok(!ledger.includes(TEST_KEY.slice(0, 8)), ledger);
});

/** Invalid responses, with details that a client must not see. */
const FAULTS: Record<string, string> = {
  "something other than HTTP": `SSH-2.0-${TEST_KEY}\r\n`,
  "a malformed header": `HTTP/1.1 200 OK\r\n${TEST_KEY} : x\r\n\r\n`,
  "an invalid status": rawResponse("{}", "", `000 ${TEST_KEY}`),
};

/** Stacks, files, Node's error classes and addresses. */
const INTERNALS = /\bat .+:\d+|\.[jt]s\b|node:|Error\b|127\.0\.0\.1|\[::1\]|localhost|ECONN/;

/** The message in the JSON body of a refusal. */
async function readMessage(res: Response): Promise<string> {
  const { error } = (await res.json()) as { error: { message: string } };
  return error.message;
}

for (const [what, bytes] of Object.entries(FAULTS)) {
  test(`the refusal for an upstream that sends ${what} contains no key or stack, and no address but the base URL's`, async (t) => {
    const { gate, upstream } = await startGateWithRawUpstream(
      t,
      (_request, { socket }) => void socket.end(bytes),
    );
    const res = await post(gate, "/v1/messages", {});
    assert.equal(res.headers.get("x-tollkeeper-refusal"), "upstream_invalid");
    const message = await readMessage(res);
    assert.doesNotMatch(message.replace(`(${new URL(upstream.baseUrl).origin})`, ""), INTERNALS);
    assertNowhere(TEST_KEY, {
      message,
      headers: inspect([...res.headers]),
      log: inspect(gate.log, { depth: 9 }),
    });
  });
}

test("the refusal for an unreachable upstream contains no address but the base URL's", async (t) => {
  const { upstream, gate } = await openGate(t);
  await new Promise((resolve) => upstream.server.close(resolve));
  const res = await post(gate, "/v1/messages", {});
  assert.equal(res.headers.get("x-tollkeeper-refusal"), "upstream_unreachable");
  const message = await readMessage(res);
  assert.doesNotMatch(message.replace(`(${new URL(upstream.baseUrl).origin})`, ""), INTERNALS);
});

test("an internal error after the key was read is refused for good, without details and a log line without the key", async (t) => {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  // Not possible in a configuration. The client throws on this path when the headers with the key are already composed.
  const gate = await startGate(t, upstream.baseUrl, { upstream: { basePath: "/v1\u0100" } });
  const res = await post(gate, "/v1/messages", { model: "m" });
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [402, "internal"]);
  const message = await readMessage(res);
  assert.doesNotMatch(message, INTERNALS);
  assert.match(gate.log.lines.join("\n"), /error internal error in a request/);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.error_type, record.status], ["rejected", "internal", 402]);
  const logged = inspect(gate.log.facts, { depth: Infinity, showHidden: true });
  assert.match(logged, /the path of a request contains an invalid character/);
  assertNowhere(TEST_KEY, { message, logged, lines: gate.log.lines.join(), ledger: JSON.stringify(record) });
});

/** Key commands that yield no key and have a secret in their command line or output. */
const KEY_COMMANDS: Record<string, [script: string, problem: RegExp]> = {
  "fails and says why": [`echo "+ curl --token ${TEST_KEY}" >&2; exit 3`, /failed with exit code 3/],
  "prints nothing": [`: --token ${TEST_KEY}`, /provides no valid key: the key is empty/],
  "prints too much": [`: --token ${TEST_KEY}; head -c 100000 /dev/zero`, /printed far more than a key/],
  "does not print text": [
    `: --token ${TEST_KEY}; printf 'a\\377b'`,
    /characters that are not allowed in a header/,
  ],
};

for (const [what, [script, problem]] of Object.entries(KEY_COMMANDS)) {
  test(`neither the command line nor the output of a key command that ${what} reaches a client or the log`, async (t) => {
    const keySource = { command: ["sh", "-c", script] };
    const config = { upstreams: { default: { baseUrl: "http://127.0.0.1:9/v1", keySource } } };
    const daemon = await startDaemon(t, { config, args: ["--debug"] });
    const res = await post(daemon, "/v1/messages", { model: "m" });
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [402, "key_unavailable"]);
    const message = await readMessage(res);
    assert.match(message, problem);
    const log = await daemon.waitForOutput(/"msg":"refused a request"/);
    assertNowhere(TEST_KEY, { message, log, ledger: JSON.stringify(await daemon.ledger()) });
    assert.doesNotMatch(message + log, /curl|token/);
    // `status` may show the command line to its owner.
    assert.match((await daemon.command("status")).stdout, /sh -c .*token/);
  });
}
