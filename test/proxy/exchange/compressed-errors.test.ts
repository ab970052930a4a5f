import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { post, startGate, TEST_KEY } from "../../helpers/gate/gate.ts";
import { startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

const ECHO = JSON.stringify({ type: "error", error: { type: "authentication_error", message: TEST_KEY } });
const PLAIN = JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });

/** What the client gets of an error that came with these bytes although identity was asked for. */
async function errorOf(t: TestContext, encoding: string | readonly string[], body: Buffer) {
  const upstream = await startUpstream(t, (_seen, res) => {
    res.setHeader("content-encoding", encoding);
    res.writeHead(401, { "content-length": body.length, "x-other": "1" });
    res.end(body);
  });
  const gate = await startGate(t, upstream.baseUrl);
  const answer = await post(gate, "/v1/messages", {});
  const text = await answer.text();
  return { answer, text, record: await gate.ledger.only() };
}

for (const [encoding, compress] of [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
] as const) {
  test(`an error in ${encoding} that echoes the key arrives as plain text without it`, async (t) => {
    const { answer, text, record } = await errorOf(t, encoding, compress(ECHO));
    assert.equal(text, ECHO.replace(TEST_KEY, "*".repeat(TEST_KEY.length)));
    assert.deepEqual(
      [answer.status, answer.headers.get("content-encoding"), answer.headers.get("x-other")],
      [401, null, "1"],
    );
    assert.deepEqual([record.outcome, record.status], ["error", 401]);
  });

  test(`an error in ${encoding} without the key arrives as it came`, async (t) => {
    const { answer, text, record } = await errorOf(t, encoding, compress(PLAIN));
    assert.equal(text, PLAIN);
    assert.equal(answer.headers.get("content-encoding"), encoding);
    assert.equal(record.bytes_out, compress(PLAIN).length);
  });
}

test("a compressed error that cannot be searched loses its body, nothing else", async (t) => {
  const bomb = gzipSync(Buffer.alloc(2 * 1024 * 1024));
  const pile = Buffer.alloc(2 * 1024 * 1024, TEST_KEY);
  for (const [encoding, body] of [
    ["gzip", bomb],
    ["gzip", pile],
    ["compress", Buffer.from(TEST_KEY)],
    // One line says that it is plain; that is not all of it.
    [["identity", "gzip"], gzipSync(ECHO)],
    [["", "gzip"], gzipSync(ECHO)],
  ] as const) {
    const { answer, text } = await errorOf(t, encoding, body);
    assert.deepEqual([answer.status, text, answer.headers.get("content-length")], [401, "", "0"]);
  }
});
