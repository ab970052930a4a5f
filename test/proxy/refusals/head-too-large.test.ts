import assert from "node:assert/strict";
import { test } from "node:test";
import type { UnrecordedRefusal } from "../../../src/core/refusals/refusal.ts";
import { beginRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";

test("a head that is too large gets a refusal in the shape of its API, is counted, and is reported once", async (t) => {
  const unrecorded: UnrecordedRefusal[] = [];
  const { gate, upstream } = await startGateWithUpstream(t, respondWithMessage, {
    onUnrecorded: (refusal) => unrecorded.push(refusal),
  });
  const client = await sendRaw(t, gate.port, beginRequest(gate.port, `X: ${"x".repeat(40_000)}`));
  const response = await client.closed;
  assert.match(
    response,
    /^HTTP\/1\.1 431 Request Header Fields Too Large\r\ncontent-type: application\/json\r\n/,
  );
  assert.match(response, /\r\nx-tollkeeper-refusal: head_too_large\r\nx-should-retry: false\r\n/);
  const body = JSON.parse(response.slice(response.indexOf("\r\n\r\n") + 4)) as {
    type: string;
    error: { message: string };
  };
  assert.equal(body.type, "error");
  assert.match(body.error.message, /32768 bytes together\. Type: tollkeeper check$/);
  assert.deepEqual(
    unrecorded.map(({ refused, status, method, path }) => ({ refused, status, method, path })),
    [{ refused: "head_too_large", status: 431, method: "POST", path: "/v1/messages" }],
  );
  assert.deepEqual(gate.gate.refusals.totals(), { head_too_large: 1 });
  assert.equal(upstream.seen.length, 0);
});
