// Node's decoders end with the compressed data, whatever follows it, and they end only once. The exchange must end all the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { rawRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { MESSAGE } from "../../helpers/upstream/scripted-upstream.ts";
import { zstdFrame } from "../../helpers/upstream/zstd-frames.ts";

const JSON_TYPE = "application/json";

for (const [encoding, compress, extraByte] of [
  ["gzip", gzipSync, "\0"],
  ["deflate", deflateSync, "\n"],
  ["br", brotliCompressSync, "\n"],
  ["zstd", zstdFrame, "\n"],
] as const) {
  for (const [kind, status, content] of [
    ["a response", 200, MESSAGE],
    ["an error response", 429, { type: "error", error: { type: "rate_limit_error", message: "" } }],
  ] as const) {
    test(
      `${kind} in ${encoding} with an extra byte after the compressed data ends for the client and is recorded`,
      { timeout: 300_000 },
      async (t) => {
        const body = Buffer.concat([compress(JSON.stringify(content)), Buffer.from(extraByte)]);
        const headers = { "content-type": JSON_TYPE, "content-encoding": encoding };
        const { gate } = await startGateWithUpstream(t, (_seen, res) =>
          res.writeHead(status, headers).end(body),
        );
        const request = rawRequest(gate.port).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        const client = await sendRaw(t, gate.port, request);
        assert.match(await client.closed, status === 200 ? /\r\n0\r\n\r\n$/ : /^HTTP\/1\.1 429 /);
        const record = await gate.ledger.only();
        assert.deepEqual(
          [record.outcome, record.tokens?.input_total ?? null],
          status === 200 ? ["completed", MESSAGE.usage.input_tokens] : ["error", null],
        );
        assert.equal(gate.gate.openExchanges, 0);
      },
    );
  }
}

test("a response with `content-encoding: Identity` is metered, because the encoding's case does not matter", async (t) => {
  const { gate } = await startGateWithUpstream(t, (_seen, res) =>
    res
      .writeHead(200, { "content-type": JSON_TYPE, "content-encoding": "Identity" })
      .end(JSON.stringify(MESSAGE)),
  );
  await sendRaw(t, gate.port);
  assert.equal((await gate.ledger.only()).usage, "final");
});
