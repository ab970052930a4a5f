import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { chunk, chunks, DONE } from "../../core/usage/chat/chat-bodies.ts";
import { rawRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { startGateWithRawUpstream } from "../../helpers/gate/gate-with-upstream.ts";

// Without content-length and chunks, the end of the connection is the end of the body, and a reset can look like one. Only what
// the stream says then proves that its counts are final.

const LIMIT = { timeout: 300_000 };
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const INTERIM = chunk({ content: "a" }, null, { usage: USAGE });

const STOP = chunk({}, "stop");

for (const [what, parts, expected] of [
  ["interim usage only", [INTERIM], ["cut", "upstream", "partial"]],
  ["interim usage and [DONE]", [INTERIM, DONE], ["completed", null, "final"]],
  ["usage in the chunk that finishes", [chunk({}, "stop", { usage: USAGE })], ["completed", null, "final"]],
  ["interim usage and the chunk that finishes", [INTERIM, STOP], ["completed", null, "final"]],
] as const) {
  const body = Buffer.from(chunks(...parts).trimEnd());
  for (const [how, encoded, header] of [
    ["", body, ""],
    ["compressed ", gzipSync(body), "content-encoding: gzip\r\n"],
  ] as const)
    test(
      `a ${how}chat stream without framing that ends after ${what} is recorded as ${expected[2]}`,
      LIMIT,
      async (t) => {
        const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
          socket.write(`HTTP/1.1 200 OK\r\n${header}content-type: text/event-stream\r\n\r\n`);
          socket.end(encoded);
        });
        const client = await sendRaw(
          t,
          gate.port,
          rawRequest(gate.port).replace("/v1/messages", "/v1/chat/completions"),
        );
        const record = await gate.ledger.only();
        assert.deepEqual([record.outcome, record.cut_by, record.usage], expected);
        client.socket.destroy();
      },
    );
}
