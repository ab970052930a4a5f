import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createKeySources } from "../../../src/adapters/key-sources.ts";
import { readCheckpoint } from "../../../src/adapters/ledger-file.ts";
import { Exporter } from "../../../src/cli/export/exporter.ts";
import { parseExporterState } from "../../../src/cli/export/exporter-state.ts";
import { firstState, senderOf } from "../../../src/cli/export/open-exporter.ts";
import { Receiver } from "../../../src/cli/export/receiver.ts";
import { checkConfig, type Config, type OtlpConfig } from "../../../src/core/config/config.ts";
import type { AccountStatus } from "../../../src/core/limits/account-limits.ts";
import type { ExporterStatus } from "../../../src/core/export/exporter-status.ts";
import { formatRecord } from "../../../src/core/ledger/format-record.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { loadPrices } from "../../../src/cli/prices/load-prices.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import {
  gaugesIn,
  partialSuccess,
  recordsIn,
  resourceOf,
  startOtlpReceiver,
} from "../../helpers/otlp/otlp-receiver.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

/** An exporter of a ledger whose records the test appends, to a receiver on loopback. */
async function setUp(
  t: TestContext,
  endpoint: string,
  more: object = {},
  limitMs?: number,
  limits: readonly AccountStatus[] = [],
) {
  const home = scratchDirectory(t);
  const directory = join(home, "ledger");
  mkdirSync(directory);
  const { config, otlp } = configure({ endpoint, ...more });
  const path = join(home, "export", "otlp.json");
  const prices = await loadPrices(config);
  const statuses: ExporterStatus[] = [];
  const over = new AbortController();
  const open = () => {
    const checkpoint = readCheckpoint(path, (value) => parseExporterState(value)) ?? {
      cursor: { days: {}, since: null },
      state: firstState(),
    };
    const noKeychain = { read: () => Promise.reject(new Error("no keychain")) };
    const receiver = new Receiver(otlp, config.outbound, createKeySources(noKeychain), limitMs);
    t.after(() => receiver.close());
    return new Exporter({
      config: otlp,
      directory,
      path,
      checkpoint,
      sender: senderOf(otlp, checkpoint.state),
      receiver,
      prices,
      readLimits: () => limits,
      onStatus: (status) => void statuses.push(status),
      isOver: over.signal,
    });
  };
  return { open, path, statuses, over, append: (...records: UsageRecord[]) => append(directory, records) };
}

function configure(otlp: object): { config: Config; otlp: OtlpConfig } {
  const result = checkConfig({ export: { otlp } }, "/home/user");
  assert.ok(result.ok && result.config.export.otlp !== null);
  return { config: result.config, otlp: result.config.export.otlp };
}

function append(directory: string, records: readonly UsageRecord[]): void {
  for (const record of records)
    appendFileSync(join(directory, `${record.ts.slice(0, 10)}.ndjson`), `${formatRecord(record)}\n`);
}

const some = (count: number) => Array.from({ length: count }, () => usageRecord());

test("every record is sent once as a log record, and the sums once they have changed", async (t) => {
  const receiver = await startOtlpReceiver(t);
  const { open, append: add } = await setUp(t, receiver.endpoint);
  add(...some(3));
  await open().sendAll();
  const later = some(2);
  add(...later);
  await open().sendAll();
  assert.equal(receiver.records.size, 5);
  assert.equal(receiver.repeated, 0);
  const input = [...receiver.sums].filter(([name]) =>
    name.startsWith("gen_ai.client.inference.usage.input_tokens"),
  );
  assert.deepEqual(
    input.map(([, value]) => value),
    [50],
  );
  const record = receiver.records.get(later[0]?.id ?? "");
  assert.equal(record?.["eventName"], "gen_ai.client.inference.operation.details");
  assert.equal(record?.attributes["gen_ai.usage.input_tokens"], "10");
});

test("the windows of services' limits are sent with the account, and those that have reset are not", async (t) => {
  const receiver = await startOtlpReceiver(t);
  const times = { resetsAt: "2026-11-29T16:40:00.000Z", seenAt: "2026-11-29T15:00:00.000Z" };
  const known = { ...times, limit: null, remaining: null, usedPercent: 62 };
  const { open, append: add } = await setUp(t, receiver.endpoint, {}, undefined, [
    {
      account: "plan:claude",
      windows: [
        { ...known, window: "5h", state: "seen" },
        { ...known, window: "7d", state: "reset" },
      ],
    },
  ]);
  add(usageRecord());
  await open().sendAll();
  const message = receiver.requests.findLast(({ path }) => path === "/v1/metrics")?.message;
  const gauges = gaugesIn(message ?? {}).filter(({ name }) => name.startsWith("tollkeeper.limit."));
  const attributes = { "tollkeeper.account": "plan:claude", "tollkeeper.window": "5h" };
  assert.deepEqual(
    gauges.map(({ name, attributes: of, value }) => [name, of, value]),
    [
      ["tollkeeper.limit.used_ratio", attributes, 0.62],
      ["tollkeeper.limit.reset_time", attributes, Date.parse(times.resetsAt) / 1000],
      ["tollkeeper.limit.seen_time", attributes, Date.parse(times.seenAt) / 1000],
    ],
  );
});

for (const status of [429, 502, 503, 504, 401, 404, 302])
  test(`a response with ${status} has the same records sent again, and none is left out`, async (t) => {
    const receiver = await startOtlpReceiver(t);
    let refused = 0;
    receiver.behave(() => (refused++ === 0 ? { status } : null));
    const { open, append: add, statuses } = await setUp(t, receiver.endpoint);
    add(...some(3));
    await open().sendAll();
    assert.equal(receiver.records.size, 3);
    assert.match(statuses[0]?.problem?.reason ?? "", new RegExp(`responded with ${status}`));
    assert.equal(statuses.at(-1)?.problem, null);
  });

for (const [what, behave] of Object.entries({
  "a connection that closes without a response": (_: unknown, response: { destroy(): void }) => {
    response.destroy();
    return { status: 0 };
  },
  "a response that is not HTTP": (_: unknown, { socket }: { socket: { end(text: string): void } | null }) => {
    socket?.end("hello\r\n\r\n");
    return { status: 0 };
  },
  "a response that ends in the middle": (
    _: unknown,
    response: { write(text: string): void; writeHead: Function; destroy(): void },
  ) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("x");
    setImmediate(() => response.destroy());
    return { status: 0 };
  },
  "a web page": () => ({ status: 200, headers: { "content-type": "text/html" }, body: "<p>Sign in" }),
  "no response at all": () => ({ status: 0 }),
}))
  test(`after ${what} the same records are sent again`, async (t) => {
    const receiver = await startOtlpReceiver(t);
    let requests = 0;
    receiver.behave((request, response) => (requests++ === 0 ? behave(request, response) : null));
    const { open, append: add, statuses } = await setUp(t, receiver.endpoint, {}, 2_000);
    add(...some(3));
    await open().sendAll();
    assert.equal(receiver.records.size, 3);
    assert.notEqual(statuses[0]?.problem, null);
  });

test("an accepting response that cannot be read is an accepting one", async (t) => {
  const receiver = await startOtlpReceiver(t);
  receiver.behave(() => ({
    status: 200,
    headers: { "content-type": "application/x-protobuf" },
    body: Buffer.of(255, 255, 7),
  }));
  const { open, append: add, statuses } = await setUp(t, receiver.endpoint, { signals: ["records"] });
  add(...some(1));
  await open().sendAll();
  assert.equal(receiver.requests.length, 1);
  assert.equal(statuses.at(-1)?.counts.sent, 1);
});

test("a record that no receiver accepts holds up no other: it is found by halves, counted and passed over", async (t) => {
  const receiver = await startOtlpReceiver(t);
  const records = some(40);
  const poison = records[17]?.id;
  receiver.behave(({ message }) =>
    recordsIn(message).some(({ id }) => id === poison) ? { status: 400 } : null,
  );
  const { open, append: add, statuses } = await setUp(t, receiver.endpoint);
  add(...records);
  await open().sendAll();
  assert.equal(receiver.records.size, 39);
  assert.deepEqual(statuses.at(-1)?.counts, { sent: 39, rejected: 0, skipped: 1, unreadable: 0 });
  assert.match(statuses.at(-1)?.rejection ?? "", new RegExp(String(poison)));
});

test("what accepts nothing, not even a request without records, is no receiver, and no record is passed over for it", async (t) => {
  const receiver = await startOtlpReceiver(t);
  let requests = 0;
  receiver.behave(() => ((requests += 1) <= 4 ? { status: 400 } : null));
  const { open, append: add, statuses } = await setUp(t, receiver.endpoint);
  add(...some(2));
  await open().sendAll();
  assert.equal(receiver.records.size, 2);
  assert.equal(statuses.at(-1)?.counts.skipped, 0);
});

test("records that a receiver rejects among others are counted and not sent again", async (t) => {
  const receiver = await startOtlpReceiver(t);
  receiver.behave(({ path }) => (path === "/v1/logs" ? partialSuccess(path, 2, "too\u001b old") : null));
  const { open, append: add, statuses } = await setUp(t, receiver.endpoint);
  add(...some(5));
  await open().sendAll();
  assert.equal(receiver.requests.filter(({ path }) => path === "/v1/logs").length, 1);
  const { counts, rejection } = statuses.at(-1) ?? {};
  assert.deepEqual([counts?.sent, counts?.rejected], [3, 2]);
  assert.ok(rejection?.includes("too") && !rejection.includes("\u001b"));
});

test("an exporter that is ended between sending and its checkpoint repeats that batch, and the sums stay right", async (t) => {
  const receiver = await startOtlpReceiver(t);
  const { open, over, append: add, path } = await setUp(t, receiver.endpoint);
  add(...some(2));
  await open().sendAll();
  const kept = readFileSync(path);
  add(...some(3));
  receiver.behave(({ path: where }, response) => {
    if (where !== "/v1/logs") return null;
    // It has the records; the sender does not learn that.
    response.destroy();
    over.abort();
    return { status: 0 };
  });
  await assert.rejects(open().sendAll(), { name: "AbortError" });
  assert.deepEqual(readFileSync(path), kept);
});

/** Decodes an id. */
function hex(field: unknown): string {
  return Buffer.from(String(field), "base64").toString("hex");
}

test("with trace a record is a span below that of its client, or in a trace of its own", async (t) => {
  const receiver = await startOtlpReceiver(t);
  const { open, append: add } = await setUp(t, receiver.endpoint, { trace: true });
  const id = "5b5d68a6-5b4f-4173-9ba9-92120399b858";
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  add(usageRecord({ id, traceparent }), usageRecord({ id: "6b5d68a6-5b4f-4173-9ba9-92120399b859" }));
  await open().sendAll();
  const [below, alone] = [...receiver.records.values()];
  assert.equal(hex(below?.["traceId"]), "0af7651916cd43dd8448eb211c80319c");
  assert.equal(hex(below?.["parentSpanId"]), "b7ad6b7169203331");
  assert.equal(hex(below?.["spanId"]), "9ba992120399b858");
  assert.equal(below?.["name"], "chat gpt-5");
  assert.equal(hex(alone?.["traceId"]), "6b5d68a65b4f41739ba992120399b859");
  assert.equal(hex(alone?.["parentSpanId"]), "");
});

test("machine and user are named only if asked for, and by a hash only if that is asked for", async (t) => {
  const receiver = await startOtlpReceiver(t);
  const { open, append: add } = await setUp(t, receiver.endpoint, { user: "hash" });
  add(...some(1));
  await open().sendAll();
  const resource = resourceOf(receiver.requests[0]?.message ?? {});
  assert.deepEqual(Object.keys(resource).sort(), [
    "service.instance.id",
    "service.name",
    "service.version",
    "user.hash",
  ]);
  assert.match(String(resource["user.hash"]), /^[0-9a-f]{32}$/);
});

test("a header carries the secret of its source after its scheme, and the file's own values", async (t) => {
  const receiver = await startOtlpReceiver(t);
  const { path } = writeKeyFile(t, "https://unused.example/v1", "the-secret");
  const headers = {
    authorization: { scheme: "Bearer", keySource: { file: path } },
    "x-scope-orgid": { value: "team-a" },
  };
  const { open, append: add } = await setUp(t, receiver.endpoint, { headers });
  add(...some(1));
  await open().sendAll();
  const got = receiver.requests[0]?.headers;
  assert.equal(got?.authorization, "Bearer the-secret");
  assert.equal(got?.["x-scope-orgid"], "team-a");
});

test("sums of another release begin again, and the cursor stays", () => {
  const state = firstState();
  const other = { ...state, metrics: { series: 7 } };
  assert.deepEqual(parseExporterState({ ...state }, 5), state);
  assert.deepEqual(parseExporterState(other, 5), { ...state, startedAt: 5 });
  assert.equal(parseExporterState({ ...state, v: 2 }, 5), null);
});
