// Node's decoders end where the compressed data does, whatever follows, and only once; the exchange must end all the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { startGate } from "../../helpers/gate/gate.ts";
import { rawClient, rawRequest } from "../../helpers/client/raw-client.ts";
import { MESSAGE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

const JSON_TYPE = "application/json";

for (const [encoding, compress, rest] of [
  ["gzip", gzipSync, "\0"],
  ["deflate", deflateSync, "\n"],
  ["br", brotliCompressSync, "\n"],
] as const) {
  for (const [kind, status, said] of [
    ["an answer", 200, MESSAGE],
    ["an error", 429, { type: "error", error: { type: "rate_limit_error", message: "" } }],
  ] as const) {
    test(
      `${kind} in ${encoding} with a byte behind its end ends, and has its record`,
      { timeout: 10_000 },
      async (t) => {
        const body = Buffer.concat([compress(JSON.stringify(said)), Buffer.from(rest)]);
        const headers = { "content-type": JSON_TYPE, "content-encoding": encoding };
        const upstream = await startUpstream(t, (_seen, res) => res.writeHead(status, headers).end(body));
        const gate = await startGate(t, upstream.baseUrl);
        const client = await rawClient(t, gate.port);
        client.write(rawRequest(gate.port).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
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

test("a content-encoding is known in any case", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) =>
    res
      .writeHead(200, { "content-type": JSON_TYPE, "content-encoding": "Identity" })
      .end(JSON.stringify(MESSAGE)),
  );
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  assert.equal((await gate.ledger.only()).usage, "final");
});
