// C6, hostile upstream heads: an answer that is not HTTP/1.1 by the letter is a 502 as JSON, what cannot be passed of a good one is left out, and nothing of it ends the daemon.
import assert from "node:assert/strict";
import { test } from "node:test";
import { post } from "../helpers/gate/gate.ts";
import { readMessages } from "../helpers/client/http-messages.ts";
import { rawRequest, sendRaw } from "../helpers/client/raw-client.ts";
import { echo, rawResponse, type RawScript } from "../helpers/upstream/raw-upstream.ts";
import { BROKEN_CHUNKS, ODDLY_FRAMED_ANSWERS, UNREADABLE_ANSWERS } from "./hostile-answers.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** A hang is a failure too. */
const LIMIT = { timeout: 10_000 };

const says =
  (bytes: string): RawScript =>
  (_request, { socket }) =>
    void socket.write(bytes, "latin1");

for (const [what, bytes] of Object.entries({ ...UNREADABLE_ANSWERS, ...ODDLY_FRAMED_ANSWERS })) {
  test(`${what}: 502, and the next answer is as ever`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, says(bytes));
    const res = await post(gate, "/v1/messages", {});
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_invalid"]);
    const answer = (await res.json()) as { type: string; error: { type: string } };
    assert.deepEqual([answer.type, answer.error.type], ["error", "api_error"]);
    assert.equal((await gate.ledger.only()).error_type, "upstream_invalid");
    upstream.respondWith(echo);
    assert.equal(await (await post(gate, "/v1/messages", { b: 1 })).text(), `{"echo":"{\\"b\\":1}"}`);
    assert.equal(upstream.connections.length, 2);
  });
}

for (const bytes of BROKEN_CHUNKS) {
  test(
    `${JSON.stringify(bytes.split("\r\n\r\n").slice(1).join("\r\n\r\n"))}: the answer is cut`,
    LIMIT,
    async (t) => {
      const { upstream, gate } = await startGateWithRawUpstream(t, says(bytes));
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

test("a reason that Node would refuse to send is left out", LIMIT, async (t) => {
  const { gate } = await startGateWithRawUpstream(t, says(rawResponse("{}", "", "200 a\0b")));
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, res.statusText, await res.text()], [200, "", "{}"]);
});

test("bytes beyond ASCII in a header pass as they came", LIMIT, async (t) => {
  const { gate } = await startGateWithRawUpstream(
    t,
    says(rawResponse("{}", "x-note: caf\xc3\xa9 \x80\xff\r\n")),
  );
  const client = await sendRaw(t, gate.port);
  await client.until(/^x-note: caf\xc3\xa9 \x80\xff\r$/m);
});

test("interim answers, however many, are not passed on, and the answer behind them is", LIMIT, async (t) => {
  const interim = [
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 102 Processing\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\nset-cookie: a=b\r\n\r\n",
  ];
  const { gate } = await startGateWithRawUpstream(
    t,
    says(interim.join("").repeat(2000) + rawResponse(`{"last":1}`)),
  );
  const client = await sendRaw(t, gate.port);
  const received = await client.until(/\{"last":1\}/);
  assert.match(received, /^HTTP\/1\.1 200 OK\r\n/);
  assert.equal(readMessages(received).messages.length, 1);
  assert.doesNotMatch(received, /link|cookie/);
});

test("trailers of the upstream's are not passed on", LIMIT, async (t) => {
  const bytes = "2\r\n{}\r\n0\r\nset-cookie: a=b\r\nx-api-key: c\r\n\r\n";
  const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: set-cookie\r\n\r\n";
  const { gate } = await startGateWithRawUpstream(t, says(head + bytes));
  const client = await sendRaw(t, gate.port);
  const received = await client.until(/\r\n0\r\n\r\n/);
  assert.doesNotMatch(received, /cookie|x-api-key/i);
  assert.equal((await gate.ledger.only()).outcome, "completed");
});

for (const status of [204, 304]) {
  test(`a body beside status ${status} is not passed on`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(
      t,
      says(rawResponse(`{"poison":1}`, "", `${status} Empty`)),
    );
    const client = await sendRaw(t, gate.port);
    await client.until(/\r\n\r\n/);
    upstream.respondWith(echo);
    client.write(rawRequest(gate.port, `{"b":1}`));
    const received = await client.until(/\{"echo":"\{\\"b\\":1\}"\}$/);
    assert.doesNotMatch(received, /poison/);
  });
}
