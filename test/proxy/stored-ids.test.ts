// What is done to a stored response goes to the upstream and the key that created it, as the ledger knows them: at once, after a restart,
// and while it is still being created. Real sockets, real files.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { DaemonCreators, type FindCreated } from "../../src/daemon/creators.ts";
import { RecordFeed } from "../../src/daemon/record-feed.ts";
import { findCreated } from "../../src/adapters/ledger-file.ts";
import { startGateWithUpstreams, useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import { onlyTo, sendAs, service, startWithStored } from "../helpers/gate/gate-with-stored.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";
import { MemoryLog } from "../helpers/gate/memory.ts";
import { startLedger } from "../helpers/ledger/ledger.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";
import { SSE, sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const BELOW = [
  ["GET", ""],
  ["GET", "/input_items"],
  ["POST", "/cancel"],
  ["DELETE", ""],
] as const;

test("whatever is done to a stored response goes to the upstream that created it, and an unknown one to the first that fits", async (t) => {
  const { gate, searches } = await startWithStored(t, { a: service("a"), b: service("b") });
  useConfig(gate, { tools: onlyTo("b") });
  assert.equal(await sendAs(gate, "POST", "/responses"), "b");
  useConfig(gate, { tools: {} });
  for (const [method, below] of BELOW)
    assert.equal(await sendAs(gate, method, `/responses/resp_b${below}`), "b", method + below);
  assert.deepEqual(searches, []);
  for (const [method, below] of BELOW)
    assert.equal(await sendAs(gate, method, `/responses/resp_unknown${below}`), "a", method + below);
  assert.deepEqual(searches, ["resp_unknown"]);
});

test("after a restart the ledger's files say where a response is, once looked for and then remembered", async (t) => {
  const first = await startWithStored(t, { a: service("a"), b: service("b") });
  useConfig(first.gate, { tools: onlyTo("b") });
  await sendAs(first.gate, "POST", "/responses");
  first.ledger.close();
  const second = await startWithStored(t, { a: service("a"), b: service("b") }, first.directory);
  assert.equal(await sendAs(second.gate, "GET", "/responses/resp_b"), "b");
  assert.equal(await sendAs(second.gate, "POST", "/responses/resp_b/cancel"), "b");
  assert.deepEqual(second.searches, ["resp_b"]);
});

const streaming: Script = (seen, res) => {
  if (seen.url.endsWith("/cancel")) return sendJson(res, { from: "b" });
  res.writeHead(200, SSE);
  res.write(
    `event: response.created\ndata: ${JSON.stringify({ type: "response.created", response: { id: "resp_run", status: "in_progress" } })}\n\n`,
  );
};

test("a response whose stream still runs is cancelled at the upstream that is creating it", async (t) => {
  const { gate } = await startWithStored(t, { a: service("a"), b: streaming });
  useConfig(gate, { tools: onlyTo("b") });
  const stop = new AbortController();
  t.after(() => stop.abort());
  const stream = await fetch(`${gate.url}/t/codex/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `{"stream":true,"background":true}`,
    signal: stop.signal,
  });
  await stream.body?.getReader().read();
  useConfig(gate, { tools: {} });
  assert.equal(await sendAs(gate, "POST", "/responses/resp_run/cancel"), "b");
});

test("with one upstream and one key nothing is looked for", async (t) => {
  const { gate, searches } = await startWithStored(t, { a: service("a") });
  await sendAs(gate, "GET", "/responses/resp_unknown");
  assert.deepEqual(searches, []);
});

const failing: FindCreated = () => Promise.reject(new Error("no"));

test("a ledger that cannot be searched stops no request", async (t) => {
  const feed = new RecordFeed();
  const { ledger, clock } = startLedger(t);
  const log = new MemoryLog();
  const creators = new DaemonCreators({ feed, ledger, clock, log, find: failing });
  const named = { a: { script: service("a") }, b: { script: service("b") } };
  const { gate } = await startGateWithUpstreams(t, named, { creators });
  assert.equal(await sendAs(gate, "GET", "/responses/resp_b"), "a");
  assert.match(JSON.stringify(log), /could not be searched/);
});

test("a search that takes too long holds no request up, and its result serves the next one", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { ledger, clock } = startLedger(t);
  const creator = { tool: "codex", upstream: "b", key: "k", batch: null };
  const { promise, resolve } = withResolvers<typeof creator>();
  const parts = { feed: new RecordFeed(), ledger, clock, log: new MemoryLog(), find: () => promise };
  const creators = new DaemonCreators(parts);
  const looked = creators.look("resp_1");
  t.mock.timers.tick(10_000);
  await looked;
  assert.equal(creators.find("resp_1"), null);
  resolve(creator);
  // The next search waits for this one.
  await creators.look("resp_2");
  assert.deepEqual(creators.find("resp_1"), creator);
});

test("floods of made-up ids are searched for a few at a time, and forgotten", async (t) => {
  const feed = new RecordFeed();
  const { ledger, clock } = startLedger(t);
  let running = 0;
  let most = 0;
  let count = 0;
  const find: FindCreated = async () => {
    count += 1;
    most = Math.max(most, (running += 1));
    await new Promise(setImmediate);
    running -= 1;
    return null;
  };
  const creators = new DaemonCreators({ feed, ledger, clock, log: new MemoryLog(), find });
  const ids = Array.from({ length: 1_200 }, (_none, at) => `resp_${at}`);
  await Promise.all(ids.map((id) => creators.look(id)));
  assert.equal(most, 1);
  assert.ok(count <= 8, `${count} searches`);
  assert.equal(creators.find("resp_1199"), null);
  assert.equal(creators.find("resp_100"), undefined);
  // What could stand in no record is not searched for.
  assert.equal(creators.find("resp%22x"), null);
});

const created = (id: string, changes: Partial<UsageRecord> = {}) =>
  usageRecord({ response_id: id, upstream: "b", key: "k", tool: "codex", ...changes });

test("the newest 10,000 responses are remembered, and those of other routes not at all", (t) => {
  const feed = new RecordFeed();
  const { ledger, clock } = startLedger(t);
  const creators = new DaemonCreators({ feed, ledger, clock, log: new MemoryLog() });
  const publishing = feed.publishing(ledger);
  publishing.append([
    created("msg_1", { route: "/messages" }),
    created("resp_got", { method: "GET", route: "/responses/{id}" }),
  ]);
  publishing.append(Array.from({ length: 10_001 }, (_none, at) => created(`resp_${at}`)));
  assert.deepEqual(creators.find("resp_10000"), { tool: "codex", upstream: "b", key: "k", batch: null });
  assert.deepEqual(
    [creators.find("resp_0"), creators.find("msg_1"), creators.find("resp_got")],
    [undefined, undefined, undefined],
  );
});

test("a thread of its own searches, so that requests wait for nothing", async (t) => {
  const feed = new RecordFeed();
  const { ledger, clock } = startLedger(t);
  ledger.append([usageRecord({ response_id: "resp_1", upstream: "b", key: "k", tool: "codex" })]);
  const creators = new DaemonCreators({ feed, ledger, clock, log: new MemoryLog() });
  assert.equal(creators.find("resp_1"), undefined);
  await creators.look("resp_1");
  assert.deepEqual(creators.find("resp_1"), { tool: "codex", upstream: "b", key: "k", batch: null });
});

test("the files of a month are searched, compressed ones too, and a look-alike in another member is no creator", async (t) => {
  const { ledger, clock, directory, closeDays } = startLedger(t);
  const dayMs = 24 * 60 * 60 * 1000;
  const at = (days: number) => new Date(clock.now() - days * dayMs).toISOString();
  ledger.append([
    usageRecord({ ts: at(20), response_id: "resp_old", upstream: "b", key: "k", tool: "codex" }),
    usageRecord({ ts: at(0), response_id: "resp_other", user_agent: `"response_id":"resp_trap"` }),
    usageRecord({
      ts: at(0),
      response_id: "resp_old",
      method: "GET",
      route: "/responses/{id}",
      upstream: "z",
    }),
  ]);
  await closeDays();
  const from = at(30).slice(0, 10);
  assert.deepEqual(await findCreated(directory, "resp_old", from), {
    tool: "codex",
    upstream: "b",
    key: "k",
    batch: null,
  });
  assert.equal(await findCreated(directory, "resp_trap", from), null);
  assert.equal(await findCreated(directory, "resp_ol", from), null);
  assert.equal(await findCreated(directory, "resp_old", at(10).slice(0, 10)), null);
});
