// C4, hop-by-hop headers: headers of one connection, and those that Connection lists, are not passed on in either direction. What a
// client lists can remove neither our credential nor the headers that describe the body.
import assert from "node:assert/strict";
import { test } from "node:test";
import { post, TEST_KEY } from "../helpers/gate/gate.ts";
import { readMessages, valuesOf, type RawMessage } from "../helpers/client/http-messages.ts";
import { rawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { echo, rawResponse } from "../helpers/upstream/raw-upstream.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

const namesOf = ({ headers }: Pick<RawMessage, "headers">) => headers.map(([name]) => name);

/** Header lines of a client, and the names that must not be passed on because of them. */
const REQUESTS: Record<string, { lines: string[]; stop: string[] }> = {
  "Keep-Alive": { lines: ["Keep-Alive: timeout=5"], stop: ["keep-alive"] },
  "Proxy-Connection": { lines: ["Proxy-Connection: keep-alive"], stop: ["proxy-connection"] },
  TE: { lines: ["TE: trailers, deflate"], stop: ["te"] },
  Trailer: { lines: ["Trailer: X-T"], stop: ["trailer"] },
  "Proxy-Authorization": { lines: ["Proxy-Authorization: Basic eDp5"], stop: ["proxy-authorization"] },
  "Proxy-Authenticate": { lines: ["Proxy-Authenticate: Basic"], stop: ["proxy-authenticate"] },
  "an offer of h2c": {
    lines: [
      "Connection: Upgrade, HTTP2-Settings, close",
      "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
    ],
    stop: ["upgrade", "http2-settings"],
  },
  "a listed name": { lines: ["Connection: X-Mine, close", "X-Mine: 1"], stop: ["x-mine"] },
  "names listed on two lines": {
    lines: ["Connection: X-Mine", "X-Mine: 1", "Connection: close, X-Other", "X-Other: 2"],
    stop: ["x-mine", "x-other"],
  },
  "names listed with odd white space, case and commas": {
    lines: ["Connection: ,, x-MINE\t,close,  X-oTHER ,", "X-Mine: 1", "X-Other: 2"],
    stop: ["x-mine", "x-other"],
  },
  "a name listed after its header": {
    lines: ["X-Mine: 1", "X-Mine: 2", "Connection: x-mine, close"],
    stop: ["x-mine"],
  },
};

for (const [what, { lines, stop }] of Object.entries(REQUESTS)) {
  test(`a client's ${what} is not passed on to the upstream`, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echo);
    const usual = [...jsonHeaders(gate.port), "X-End: 1"];
    const { status } = await exchangeRaw(
      t,
      gate.port,
      ["POST /v1/messages HTTP/1.1", ...usual, ...lines],
      "{}",
    );
    assert.equal(status, 200);
    const [seen] = upstream.requests;
    assert.ok(seen);
    for (const name of stop) assert.ok(!namesOf(seen).includes(name), name);
    assert.deepEqual(valuesOf(seen, "x-end"), ["1"]);
    // Our own header, for the connection to the upstream.
    assert.deepEqual(valuesOf(seen, "connection"), ["keep-alive"]);
  });
}

for (const listed of [
  "x-api-key, host, content-length",
  "x-api-key, authorization, host",
  "content-length, content-type, content-encoding, transfer-encoding",
  "accept-encoding, anthropic-version, connection",
  "X-API-KEY, HOST, CONTENT-LENGTH, CONTENT-TYPE",
]) {
  test(`a client's Connection: ${listed} removes neither our own headers nor the framing`, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echo);
    const head = [
      `Host: 127.0.0.1:${gate.port}`,
      "Content-Type: application/json",
      "Content-Encoding: identity",
    ];
    const lines = [...head, "X-Api-Key: placeholder", `Connection: ${listed}, close`];
    const { status } = await exchangeRaw(t, gate.port, ["POST /v1/messages HTTP/1.1", ...lines], `{"a":1}`);
    assert.equal(status, 200);
    const [seen] = upstream.requests;
    assert.ok(seen);
    assert.equal(seen.body, `{"a":1}`);
    const values = [
      "x-api-key",
      "host",
      "content-length",
      "content-type",
      "content-encoding",
      "anthropic-version",
    ];
    assert.deepEqual(
      values.map((name) => valuesOf(seen, name)),
      [
        [TEST_KEY],
        [new URL(upstream.origin).host],
        ["7"],
        ["application/json"],
        ["identity"],
        ["2023-06-01"],
      ],
    );
    assert.deepEqual(valuesOf(seen, "accept-encoding"), ["identity"]);
  });
}

const LIMIT = { timeout: 300_000 };

test(
  "a client's chunked body reaches the upstream in our own chunked framing, however its header is spelled",
  LIMIT,
  async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echo);
    const head = [
      "POST /v1/messages HTTP/1.1",
      `Host: 127.0.0.1:${gate.port}`,
      "Content-Type: application/json",
    ];
    const framing = ["transfer-ENCODING: cHUNKed", "Connection: close"];
    const client = await sendRaw(
      t,
      gate.port,
      `${[...head, ...framing].join("\r\n")}\r\n\r\n4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n`,
    );
    assert.match(await client.closed, /^HTTP\/1\.1 200 /);
    const [seen] = upstream.requests;
    assert.ok(seen);
    assert.deepEqual([seen.body, valuesOf(seen, "transfer-encoding")], [`{"a":1}`, ["chunked"]]);
  },
);

test(
  "an upstream's chunked body reaches the client in our own chunked framing, however its header is spelled",
  LIMIT,
  async (t) => {
    const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-ENCODING: cHUNKed\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
    });
    const client = await sendRaw(t, gate.port);
    const [response] = readMessages(await client.until(/\r\n0\r\n\r\n/)).messages;
    assert.ok(response);
    assert.deepEqual([response.body, valuesOf(response, "transfer-encoding")], ["{}", ["chunked"]]);
  },
);

/** Header lines of an upstream, and what must not reach the client because of them. */
const RESPONSES: Record<string, { lines: string[]; stop: RegExp }> = {
  "Keep-Alive": { lines: ["keep-alive: timeout=3, max=7"], stop: /timeout=3|max=7/ },
  "Proxy-Connection": { lines: ["proxy-connection: close"], stop: /proxy-connection/i },
  "Connection: close": { lines: ["connection: close"], stop: /connection: close/i },
  Trailer: { lines: ["trailer: x-t"], stop: /trailer/i },
  TE: { lines: ["te: trailers"], stop: /^te:/im },
  "an offer of h2c": { lines: ["upgrade: h2c", "connection: upgrade"], stop: /upgrade/i },
  "names listed": {
    lines: ["connection: X-Hop, keep-alive", "x-hop: 1", "connection: X-Other", "X-OTHER: 2"],
    stop: /x-hop|x-other/i,
  },
};

for (const [what, { lines, stop }] of Object.entries(RESPONSES)) {
  test(`an upstream's ${what} is not passed on to the client, whose connection stays open`, async (t) => {
    const fields = [...lines, "x-end: 1"].map((line) => `${line}\r\n`).join("");
    const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
      socket.write(rawResponse("{}", fields));
    });
    const client = await rawClient(t, gate.port);
    const get = `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`;
    client.write(get);
    const received = await client.until(/\{\}$/);
    assert.doesNotMatch(received, stop);
    assert.match(received, /^x-end: 1\r$/m);
    client.write(get);
    await client.until(/\{\}[^]*\{\}$/);
  });
}

test("an upstream's Connection header cannot remove the framing and type of its response", async (t) => {
  const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
    socket.write(rawResponse("{}", "connection: content-length, content-type\r\n"));
  });
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual(
    [res.headers.get("content-length"), res.headers.get("content-type")],
    ["2", "application/json"],
  );
  assert.equal(await res.text(), "{}");
});
