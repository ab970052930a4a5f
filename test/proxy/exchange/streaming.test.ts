import assert from "node:assert/strict";
import { test } from "node:test";
import { sendRaw } from "../../helpers/client/raw-client.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { post, TEST_KEY } from "../../helpers/gate/gate.ts";
import { sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

test("status, reason, retry headers and body of an upstream error reach the client unchanged", async (t) => {
  const body = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`;
  const { gate } = await startGateWithUpstream(t, (_seen, res) =>
    res
      .writeHead(529, "Overloaded", { "retry-after": "7", "x-should-retry": "true", "request-id": "r1" })
      .end(body),
  );
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual(
    [
      res.status,
      res.statusText,
      res.headers.get("retry-after"),
      res.headers.get("x-should-retry"),
      await res.text(),
    ],
    [529, "Overloaded", "7", "true", body],
  );
  assert.equal(res.headers.get("x-tollkeeper-refusal"), null);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.error_type, record.spend], ["error", "overloaded_error", "never"]);
});

test("a redirect is passed on to the client and never followed", async (t) => {
  const elsewhere = await startUpstream(t, (_seen, res) => sendJson(res, {}));
  const { gate } = await startGateWithUpstream(t, (_seen, res) =>
    res.writeHead(307, { location: elsewhere.baseUrl }).end(),
  );
  const res = await fetch(`${gate.url}/v1/models`, { redirect: "manual" });
  assert.equal(res.status, 307);
  const record = await gate.ledger.only();
  assert.deepEqual([record.status, record.cut_by], [307, null]);
  assert.equal(elsewhere.seen.length, 0);
});

test("a key that the upstream echoes is redacted in headers, reason and error body", async (t) => {
  const { gate } = await startGateWithUpstream(t, (_seen, res) => {
    res.writeHead(401, `bad ${TEST_KEY}`, { "x-echo": TEST_KEY });
    res.write(`{"error":{"message":"wrong key ${TEST_KEY.slice(0, 9)}`);
    setImmediate(() => res.end(`${TEST_KEY.slice(9)}"}}`));
  });
  const client = await sendRaw(t, gate.port);
  const received = await client.until(/\r\n0\r\n\r\n/);
  assert.ok(!received.includes(TEST_KEY), received);
  assert.equal(received.replaceAll(/[^*]/g, "").length, 3 * TEST_KEY.length);
});
