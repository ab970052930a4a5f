// C6, hostile upstream responses: a response that is not strictly HTTP/1.1 becomes a 502 with a JSON body, what cannot be passed on of
// a valid one is left out, and none of it ends the daemon.
import assert from "node:assert/strict";
import { test } from "node:test";
import { post } from "../helpers/gate/gate.ts";
import { readMessages } from "../helpers/client/http-messages.ts";
import { rawRequest, sendRaw } from "../helpers/client/raw-client.ts";
import { echo, rawResponse, type RawScript } from "../helpers/upstream/raw-upstream.ts";
import { BROKEN_CHUNKS, AMBIGUOUSLY_FRAMED_RESPONSES, UNREADABLE_RESPONSES } from "./hostile-responses.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

const LIMIT = { timeout: 300_000 };

const send =
  (bytes: string): RawScript =>
  (_request, { socket }) =>
    void socket.write(bytes, "latin1");

for (const [what, bytes] of Object.entries({ ...UNREADABLE_RESPONSES, ...AMBIGUOUSLY_FRAMED_RESPONSES })) {
  test(`a response with ${what} becomes a 502, and the next response is not affected`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, send(bytes));
    const res = await post(gate, "/v1/messages", {});
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_invalid"]);
    const response = (await res.json()) as { type: string; error: { type: string } };
    assert.deepEqual([response.type, response.error.type], ["error", "api_error"]);
    assert.equal((await gate.ledger.only()).error_type, "upstream_invalid");
    upstream.respondWith(echo);
    assert.equal(await (await post(gate, "/v1/messages", { b: 1 })).text(), `{"echo":"{\\"b\\":1}"}`);
    // Besides, the first fault may have tollkeeper ask whether the server speaks TLS.
    const asked = upstream.connections.filter(({ requests }) => requests.length > 0);
    assert.equal(asked.length, 2);
  });
}

for (const bytes of BROKEN_CHUNKS) {
  test(
    `a response with the chunks ${JSON.stringify(bytes.split("\r\n\r\n").slice(1).join("\r\n\r\n"))} is cut`,
    LIMIT,
    async (t) => {
      const { upstream, gate } = await startGateWithRawUpstream(t, send(bytes));
      const client = await sendRaw(t, gate.port);
      const received = await client.closed;
      assert.deepEqual([readMessages(received).messages, readMessages(received).fault], [[], null]);
      assert.doesNotMatch(received, /poison/);
      assert.equal((await gate.ledger.only()).status, 200);
      upstream.respondWith(echo);
      assert.equal(await (await post(gate, "/v1/messages", { b: 1 })).text(), `{"echo":"{\\"b\\":1}"}`);
    },
  );
}

test("a reason phrase that Node refuses to send is left out", LIMIT, async (t) => {
  const { gate } = await startGateWithRawUpstream(t, send(rawResponse("{}", "", "200 a\0b")));
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, res.statusText, await res.text()], [200, "", "{}"]);
});

test("header bytes beyond ASCII are passed on unchanged", LIMIT, async (t) => {
  const { gate } = await startGateWithRawUpstream(
    t,
    send(rawResponse("{}", "x-note: caf\xc3\xa9 \x80\xff\r\n")),
  );
  const client = await sendRaw(t, gate.port);
  await client.until(/^x-note: caf\xc3\xa9 \x80\xff\r$/m);
});

const INTERIM = [
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 102 Processing\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\nset-cookie: a=b\r\n\r\n",
].join("");

test("hundreds of interim responses are dropped, and the final response is passed on", LIMIT, async (t) => {
  const { gate } = await startGateWithRawUpstream(t, send(INTERIM.repeat(300) + rawResponse(`{"last":1}`)));
  const client = await sendRaw(t, gate.port);
  const received = await client.until(/\{"last":1\}/);
  assert.match(received, /^HTTP\/1\.1 200 OK\r\n/);
  assert.equal(readMessages(received).messages.length, 1);
  assert.doesNotMatch(received, /link|cookie/);
});

for (const [what, interim] of [
  ["small", INTERIM],
  ["large", `HTTP/1.1 103 Early Hints\r\nlink: ${"x".repeat(12_000)}\r\n\r\n`],
] as const) {
  test(
    `${what} interim responses without end become a 502, and cost no more than reading a few`,
    LIMIT,
    async (t) => {
      const { upstream, gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
        const more = () => {
          while (!socket.destroyed && socket.write(interim.repeat(10)));
        };
        socket.on("drain", more);
        more();
      });
      const res = await post(gate, "/v1/messages", {});
      assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_invalid"]);
      assert.match(await res.text(), /too many interim responses/);
      await upstream.connections[0]?.closed;
    },
  );
}

for (const [what, bytes] of [
  ["a status line", "HTTP/1.1 abc OK\r\n"],
  ["a header line", "HTTP/1.1 200 OK\r\ncontent-type: a\r\nx y: z\r\n"],
  ["a length beside chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n"],
  ["a header line after an interim response", "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\n: z\r\n"],
] as const) {
  test(
    `an upstream that sends ${what} that is malformed, and then nothing, gets no time to go on`,
    LIMIT,
    async (t) => {
      const { upstream, gate } = await startGateWithRawUpstream(t, send(bytes));
      const res = await post(gate, "/v1/messages", {});
      assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_invalid"]);
      await upstream.connections[0]?.closed;
    },
  );
}

test("an upstream's trailers are not passed on", LIMIT, async (t) => {
  const bytes = "2\r\n{}\r\n0\r\nset-cookie: a=b\r\nx-api-key: c\r\n\r\n";
  const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: set-cookie\r\n\r\n";
  const { gate } = await startGateWithRawUpstream(t, send(head + bytes));
  const client = await sendRaw(t, gate.port);
  const received = await client.until(/\r\n0\r\n\r\n/);
  assert.doesNotMatch(received, /cookie|x-api-key/i);
  assert.equal((await gate.ledger.only()).outcome, "completed");
});

for (const status of [204, 304]) {
  test(`the body of a response with status ${status} is not passed on`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(
      t,
      send(rawResponse(`{"poison":1}`, "", `${status} Empty`)),
    );
    const client = await sendRaw(t, gate.port);
    await client.until(/\r\n\r\n/);
    upstream.respondWith(echo);
    client.write(rawRequest(gate.port, `{"b":1}`));
    const received = await client.until(/\{"echo":"\{\\"b\\":1\}"\}$/);
    assert.doesNotMatch(received, /poison/);
  });
}
