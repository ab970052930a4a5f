import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { post, TEST_KEY } from "../../helpers/gate/gate.ts";

const ECHO = JSON.stringify({ type: "error", error: { type: "authentication_error", message: TEST_KEY } });
const PLAIN = JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });

/** Returns what the client gets, and the record, of a 401 whose body the upstream has compressed although it may not. */
async function exchangeError(t: TestContext, encoding: string | readonly string[], body: Buffer) {
  const { gate } = await startGateWithUpstream(t, (_seen, res) => {
    res.setHeader("content-encoding", encoding);
    res.writeHead(401, { "content-length": body.length, "x-other": "1" });
    res.end(body);
  });
  const response = await post(gate, "/v1/messages", {});
  const text = await response.text();
  return { response, text, record: await gate.ledger.only() };
}

for (const [encoding, compress] of [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
] as const) {
  test(`an error body in ${encoding} that echoes the key arrives as plain text with the key redacted`, async (t) => {
    const { response, text, record } = await exchangeError(t, encoding, compress(ECHO));
    assert.equal(text, ECHO.replace(TEST_KEY, "*".repeat(TEST_KEY.length)));
    assert.deepEqual(
      [response.status, response.headers.get("content-encoding"), response.headers.get("x-other")],
      [401, null, "1"],
    );
    assert.deepEqual([record.outcome, record.status], ["error", 401]);
  });

  test(`an error body in ${encoding} without the key arrives unchanged and still compressed`, async (t) => {
    const { response, text, record } = await exchangeError(t, encoding, compress(PLAIN));
    assert.equal(text, PLAIN);
    assert.equal(response.headers.get("content-encoding"), encoding);
    assert.equal(record.bytes_out, compress(PLAIN).length);
  });
}

for (const [kind, encoding, body] of [
  ["that decompresses to too much", "gzip", gzipSync(Buffer.alloc(2 * 1024 * 1024))],
  ["that decompresses to thousands of keys", "gzip", gzipSync(Buffer.alloc(2 * 1024 * 1024, TEST_KEY))],
  ["in an unknown encoding", "compress", Buffer.from(TEST_KEY)],
  ["with content-encoding lines for identity and for gzip", ["identity", "gzip"], gzipSync(ECHO)],
  ["with an empty content-encoding line before one for gzip", ["", "gzip"], gzipSync(ECHO)],
] as const) {
  test(`an error ${kind} cannot be searched for the key and arrives without its body`, async (t) => {
    const { response, text } = await exchangeError(t, encoding, body);
    assert.deepEqual([response.status, text, response.headers.get("content-length")], [401, "", "0"]);
  });
}
