import assert from "node:assert/strict";
import { test } from "node:test";
import { METRICS, startMetrics } from "../helpers/gate/metrics.ts";

test("Prometheus gets the format that it asks for, and leaves no record", async (t) => {
  const { gate, upstream, ask } = await startMetrics(t);
  const plain = await ask();
  assert.deepEqual(
    [plain.status, plain.headers.get("content-type"), plain.text],
    [200, "text/plain; version=0.0.4; charset=utf-8", "# in text\n"],
  );
  const open = await ask(METRICS, { headers: { accept: "application/openmetrics-text;version=1.0.0" } });
  assert.deepEqual(
    [open.headers.get("content-type"), open.text],
    ["application/openmetrics-text; version=1.0.0; charset=utf-8", "# in openmetrics\n"],
  );
  assert.equal(open.headers.get("cache-control"), "no-store");
  assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
});

test("where metrics are off, their path says how to switch them on", async (t) => {
  const { status, text } = await (await startMetrics(t, { isOn: false })).ask();
  assert.equal(status, 404);
  assert.match(text, /^error: metrics are off\nhint: .*tollkeeper config set export\.metrics '\{\}'\n$/);
});

test("while the ledger cannot be read there are no metrics, rather than too low ones", async (t) => {
  const { status, text } = await (
    await startMetrics(t, { write: () => Promise.reject(new Error("EACCES: /home/ada/ledger")) })
  ).ask();
  assert.equal(status, 503);
  assert.match(text, /^error: the ledger cannot be read.*\nhint: to see why, type: tollkeeper doctor\n$/);
  assert.doesNotMatch(text, /ada/);
});

test("another method, a body and a query are no question for metrics", async (t) => {
  const { ask } = await startMetrics(t);
  assert.equal((await ask(METRICS, { method: "DELETE" })).status, 404);
  assert.equal((await ask(`${METRICS}/`)).status, 404);
  assert.equal(
    (await ask(METRICS, { method: "POST", body: "{}", headers: { "content-type": "application/json" } }))
      .status,
    404,
  );
});
