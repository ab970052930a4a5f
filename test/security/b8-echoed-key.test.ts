// B8, a key that comes back: whatever an upstream echoes of the key is blotted out of heads, redirects, error bodies in every piecing, and the ledger, and a refusal of ours says nothing of our insides.
// The body of a successful answer is not ours to change (DESIGN section 1), so it is the one place that is left out.
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
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { rawResponse } from "../helpers/upstream/raw-upstream.ts";
import { sendJson, MESSAGE, startUpstream, type Script } from "../helpers/upstream/scripted-upstream.ts";
import { assertNowhere } from "./leak-search.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

const STARS = "*".repeat(TEST_KEY.length);

async function openGate(t: TestContext, script: Script = () => {}) {
  const upstream = await startUpstream(t, script);
  return { upstream, gate: await startGate(t, upstream.baseUrl) };
}

/** Everything that comes back for one Messages request. */
async function ask(t: TestContext, { port }: TestGate): Promise<string> {
  const lines = ["POST /v1/messages HTTP/1.1", `Host: 127.0.0.1:${port}`, "Content-Type: application/json"];
  return (await exchangeRaw(t, port, lines, `{"model":"m"}`)).text;
}

for (const status of [200, 302, 401, 500, 529]) {
  test(`the head of a ${status} is passed on without the key: in reason, values, names, and around it`, async (t) => {
    const fields = [
      `request-id: ${TEST_KEY}`,
      `x-echo: before ${TEST_KEY}, ${TEST_KEY}${TEST_KEY} after`,
      `x-echo: Bearer ${TEST_KEY}`,
      `www-authenticate: Bearer realm="${TEST_KEY}"`,
      `${TEST_KEY}: 1`,
      `x-${TEST_KEY}-y: 1`,
      "x-honest: 1",
      "trailer: x-end",
    ];
    const early = `HTTP/1.1 103 Early Hints\r\nlink: </${TEST_KEY}>\r\n\r\n`;
    const head = `HTTP/1.1 ${status} Oh ${TEST_KEY}!\r\n${fields.join("\r\n")}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const body = `2;x=${TEST_KEY}\r\n{}\r\n0\r\nx-end: ${TEST_KEY}\r\n\r\n`;
    const { gate } = await startGateWithRawUpstream(
      t,
      (_request, { socket }) => void socket.write(early + head + body),
    );
    const text = await ask(t, gate);
    assert.ok(text.startsWith(`HTTP/1.1 ${status} Oh ${STARS}!\r\n`), text);
    assert.ok(
      text.includes(`x-echo: before ${STARS}, ${STARS}${STARS} after\r\nx-echo: Bearer ${STARS}\r\n`),
      text,
    );
    assert.match(text, /\r\nx-honest: 1\r\n/);
    const record = await gate.ledger.only();
    assert.equal(record.upstream_request_id, STARS);
    assertNowhere(TEST_KEY, { text, ledger: JSON.stringify(record), log: gate.log.lines.join("\n") });
  });
}

const MARK = "what the client has before the rest is sent";
const ERROR = `{"error":{"message":"${MARK}${"-".repeat(TEST_KEY.length)}no such key: ${TEST_KEY}"}}`;
const KEY_AT = ERROR.indexOf(TEST_KEY);

for (const framing of ["a length", "chunks"]) {
  test(`an error framed by ${framing} is blotted wherever it is cut in two`, async (t) => {
    const { upstream, gate } = await openGate(t);
    const answers: ServerResponse[] = [];
    for (let cut = KEY_AT; cut <= KEY_AT + TEST_KEY.length; cut += 1) {
      upstream.respondWith((_seen, res) => {
        res.writeHead(401, framing === "chunks" ? {} : { "content-length": ERROR.length });
        res.write(ERROR.slice(0, cut));
        answers.push(res);
      });
      const client = await sendRaw(
        t,
        gate.port,
        rawRequest(gate.port).replace("\r\n", "\r\nConnection: close\r\n"),
      );
      await client.until(new RegExp(MARK));
      answers.at(-1)?.end(ERROR.slice(cut));
      const [answer] = readMessages(await client.closed).messages;
      assert.equal(answer?.body, ERROR.replace(TEST_KEY, STARS), `cut at ${cut - KEY_AT}`);
    }
  });
}

test("an error is blotted byte by byte, the key repeated, doubled, and begun in vain before it", async (t) => {
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

test("an error that breaks off within the key gives none of that beginning away", async (t) => {
  const begun = `{"message":"${"-".repeat(100)}${TEST_KEY.slice(0, -1)}`;
  const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
    socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: 1000\r\n\r\n${begun}`);
  });
  const text = await ask(t, gate);
  assert.ok(!text.includes(TEST_KEY.slice(0, 8)), text);
});

for (const [encoding, compress] of Object.entries({
  gzip: gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
})) {
  test(`an error that comes compressed by ${encoding}, although that was not asked for, is searched too`, async (t) => {
    const { upstream, gate } = await openGate(t, (_seen, res) =>
      res.writeHead(401, { "content-encoding": encoding }).end(compress(ERROR)),
    );
    const res = await post(gate, "/v1/messages", {});
    assert.equal(await res.text(), ERROR.replace(TEST_KEY, STARS));
    assert.match(String(upstream.seen[0]?.headers["accept-encoding"]), /^identity$/);
  });
}

test("what the ledger keeps of an answer is without the key, whole or cut to length", async (t) => {
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    service_tier: TEST_KEY,
    [TEST_KEY]: { [TEST_KEY]: TEST_KEY },
  };
  const { gate } = await openGate(t, (_seen, res) => {
    // Long enough that cutting it to length would cut within the key.
    res.setHeader("request-id", `${"r".repeat(240)}${TEST_KEY}`);
    sendJson(res, { ...MESSAGE, id: TEST_KEY, model: TEST_KEY, stop_reason: TEST_KEY, usage });
  });
  await (await post(gate, "/v1/messages", { model: "m" })).text();
  const ledger = JSON.stringify(await gate.ledger.only());
  assert.match(ledger, /"model":"\*+"/);
  assert.ok(!ledger.includes(TEST_KEY.slice(0, 8)), ledger);
});

/** Ways to be refused, or to fail, each of which knows something that the client need not. */
const FAULTS: Record<string, { answer: string; code: string }> = {
  "no answer": { answer: "", code: "upstream_broke" },
  "no HTTP": { answer: `SSH-2.0-${TEST_KEY}\r\n`, code: "upstream_invalid" },
  "a broken header": { answer: `HTTP/1.1 200 OK\r\n${TEST_KEY} : x\r\n\r\n`, code: "upstream_invalid" },
  "a status that is none": { answer: rawResponse("{}", "", `000 ${TEST_KEY}`), code: "upstream_invalid" },
};

/** No stack, no file, no class of Node's, no address. */
const INSIDES = /\bat .+:\d+|\.[jt]s\b|node:|Error\b|127\.0\.0\.1|\[::1\]|localhost|ECONN/;

/** Our own words: the JSON body's message. */
async function messageOf(res: Response): Promise<string> {
  const { error } = (await res.json()) as { error: { message: string } };
  return error.message;
}

for (const [what, { answer, code }] of Object.entries(FAULTS)) {
  test(`an upstream that gives ${what} is told of without key, address or stack`, async (t) => {
    const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => void socket.end(answer));
    const res = await post(gate, "/v1/messages", {});
    assert.equal(res.headers.get("x-tollkeeper-refusal"), code);
    const message = (await messageOf(res)).replace("(ECONNRESET)", "");
    assert.doesNotMatch(message, INSIDES);
    assertNowhere(TEST_KEY, {
      message,
      headers: inspect([...res.headers]),
      log: inspect(gate.log, { depth: 9 }),
    });
  });
}

test("an upstream that is not there is told of without its address", async (t) => {
  const { upstream, gate } = await openGate(t);
  await new Promise((resolve) => upstream.server.close(resolve));
  const res = await post(gate, "/v1/messages", {});
  assert.equal(res.headers.get("x-tollkeeper-refusal"), "upstream_unreachable");
  assert.doesNotMatch(await messageOf(res), INSIDES);
});

test("a fault of our own, with the key in hand, is a 500 that says nothing, and a log line without the key", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, {}));
  // No configuration can have such a path; Node throws on it when the headers with the key are composed already.
  const gate = await startGate(t, upstream.baseUrl, { upstream: { basePath: "/v1\u0100" } });
  const res = await post(gate, "/v1/messages", { model: "m" });
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [500, "internal"]);
  const message = await messageOf(res);
  assert.doesNotMatch(message, INSIDES);
  assert.match(gate.log.lines.join("\n"), /error a request failed for a reason of our own/);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.error_type, record.status], ["rejected", "internal", 500]);
  const logged = inspect(gate.log.facts, { depth: Infinity, showHidden: true });
  assert.match(logged, /ERR_UNESCAPED_CHARACTERS/);
  assertNowhere(TEST_KEY, { message, logged, lines: gate.log.lines.join(), ledger: JSON.stringify(record) });
});

/** Key commands that give no key, each with a secret of its own among its words. */
const KEY_COMMANDS: Record<string, [script: string, said: RegExp]> = {
  "fails and says why": [`echo "+ curl --token ${TEST_KEY}" >&2; exit 3`, /failed with exit code 3/],
  "prints nothing": [`: --token ${TEST_KEY}`, /gives no key: the key is empty/],
  "prints too much": [`: --token ${TEST_KEY}; head -c 100000 /dev/zero`, /prints far more than a key/],
  "does not print text": [`: --token ${TEST_KEY}; printf 'a\\377b'`, /characters that no header can carry/],
};

for (const [what, [script, said]] of Object.entries(KEY_COMMANDS)) {
  test(`of a key command that ${what} a client and the log get neither its command line nor its words`, async (t) => {
    const keySource = { command: ["sh", "-c", script] };
    const config = { upstreams: { default: { baseUrl: "http://127.0.0.1:9/v1", keySource } } };
    const daemon = await startDaemon(t, { config, args: ["--debug"] });
    const res = await post(daemon, "/v1/messages", { model: "m" });
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [503, "key_unavailable"]);
    const message = await messageOf(res);
    assert.match(message, said);
    const log = await daemon.waitForOutput(/"msg":"refused a request"/);
    assertNowhere(TEST_KEY, { message, log, ledger: JSON.stringify(await daemon.ledger()) });
    assert.doesNotMatch(message + log, /curl|token/);
    // It is its owner's own, and here its owner asks.
    assert.match((await daemon.command("status")).stdout, /sh -c .*token/);
  });
}
