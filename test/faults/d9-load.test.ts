// D9, load: under load every client gets its own complete response, the ledger is exact, and neither descriptors nor memory grow.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { countDescriptors, residentBytes } from "../helpers/process/process-metrics.ts";
import type { Daemon } from "../helpers/daemon/daemon.ts";
import {
  sendJson,
  MESSAGE,
  MESSAGE_EVENTS,
  SSE,
  type Script,
} from "../helpers/upstream/scripted-upstream.ts";
import { cannotMeasureMemory } from "./measure-memory.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";

const STREAMS = 300;
const REQUESTS = 10_000;
const AT_ONCE = 64;
const TOTAL = STREAMS + REQUESTS;
/** After these requests all code is compiled and all connections are pooled. */
const HALF = STREAMS + REQUESTS / 2;
const MIB = 1024 * 1024;
/** How much a heap varies. A leak of 10 KB per request would exceed it within half of the requests. */
const MAX_GROWTH_BYTES = 48 * MIB;
const END_OF_STREAM = MESSAGE_EVENTS.slice(1).join("");

/** The response to each request is derived from its number. */
const inputOf = (number: number) => 1000 + number;
const idOf = (number: number) => `msg_load_${number}`;

function startStream(res: ServerResponse, number: number): void {
  const start = MESSAGE_EVENTS[0].replace("msg_1", idOf(number));
  res.writeHead(200, SSE).write(start.replace(`"input_tokens":3`, `"input_tokens":${inputOf(number)}`));
}

function sendMessage(res: ServerResponse, number: number): void {
  sendJson(res, {
    ...MESSAGE,
    id: idOf(number),
    usage: { input_tokens: inputOf(number), output_tokens: 2 },
  });
}

/** Sends a numbered request. Returns the whole response body; rejects when it is truncated. */
async function sendRequest({ port }: Daemon, agent: Agent, number: number): Promise<string> {
  const headers = { "content-type": "application/json" };
  const asking = request({ port, host: "127.0.0.1", path: "/v1/messages", method: "POST", headers, agent });
  asking.end(JSON.stringify({ model: "m", number }));
  const [res] = (await once(asking, "response")) as [IncomingMessage];
  return text(res);
}

function assertExact(records: readonly UsageRecord[], count: number): void {
  const inputs = new Map(records.map(({ response_id, tokens }) => [response_id, tokens?.input_total]));
  const ids = new Set(records.map(({ id }) => id));
  assert.deepEqual([records.length, inputs.size, ids.size], [count, count, count]);
  for (let number = 0; number < count; number += 1) {
    assert.equal(inputs.get(idOf(number)), inputOf(number), idOf(number));
  }
  const odd = records.filter(
    ({ outcome, usage, tokens }) => outcome !== "completed" || usage !== "final" || tokens?.output !== 2,
  );
  assert.deepEqual(odd, []);
}

/** The descriptors and resident bytes of a process; null where they cannot be measured. */
function measure(pid: number): { descriptors: number; resident: number } | null {
  if (cannotMeasureMemory !== false) return null;
  return { descriptors: countDescriptors(pid), resident: residentBytes(pid) };
}

/** Makes a script that holds every stream until all of them are open, and sends short responses at once. */
function respondByNumber(): Script {
  const open: (() => void)[] = [];
  return ({ body }, res) => {
    const { number } = JSON.parse(body.toString()) as { number: number };
    if (number >= STREAMS) {
      sendMessage(res, number);
      return;
    }
    startStream(res, number);
    open.push(() => res.end(END_OF_STREAM));
    if (open.length === STREAMS) for (const finish of open) finish();
  };
}

async function requestStreams(daemon: Daemon, agent: Agent): Promise<void> {
  const responses = await Promise.all(
    Array.from({ length: STREAMS }, (_, number) => sendRequest(daemon, agent, number)),
  );
  for (const [number, response] of responses.entries()) {
    assert.ok(response.includes(`"${idOf(number)}"`) && response.endsWith(END_OF_STREAM), response);
  }
}

/** Sends the requests numbered from `first` up to, and without, `end`. */
async function requestMessages(daemon: Daemon, agent: Agent, first: number, end: number): Promise<void> {
  let next = first;
  const worker = async () => {
    while (next < end) {
      const number = next++;
      const response = JSON.parse(await sendRequest(daemon, agent, number)) as { id: string };
      assert.equal(response.id, idOf(number));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Resolves when the process has no more than `count` descriptors. */
async function untilDescriptors(pid: number, count: number): Promise<void> {
  while ((measure(pid)?.descriptors ?? 0) > count) await delay(20);
}

test(
  "after 300 streams at once and 10 000 requests the ledger is exact, and memory and descriptors have not grown",
  { timeout: 300_000 },
  async (t) => {
    const { upstream, daemon } = await startDaemonWithUpstream(t, respondByNumber());
    const agent = new Agent({ keepAlive: true, maxSockets: STREAMS });
    t.after(() => agent.destroy());
    const fresh = measure(daemon.pid);
    const begun = performance.now();
    await requestStreams(daemon, agent);
    const streamed = performance.now();
    await requestMessages(daemon, agent, STREAMS, HALF);
    const warm = measure(daemon.pid);
    await requestMessages(daemon, agent, HALF, TOTAL);
    const loaded = measure(daemon.pid);
    const [streamsMs, requestsMs] = [streamed - begun, performance.now() - streamed].map(Math.round);
    t.diagnostic(`${STREAMS} streams at once: ${streamsMs} ms; ${REQUESTS} requests: ${requestsMs} ms`);

    assertExact(await daemon.ledger(), TOTAL);
    assert.equal((await daemon.status()).openExchanges, 0);
    if (fresh === null || warm === null || loaded === null) {
      t.diagnostic("SKIPPED: descriptors and memory cannot be measured here (needs Linux)");
      return;
    }
    t.diagnostic(`descriptors: ${fresh.descriptors} fresh, ${loaded.descriptors} with pooled connections`);
    t.diagnostic(
      `MiB: ${[fresh, warm, loaded].map(({ resident }) => Math.round(resident / MIB)).join(", ")}`,
    );
    assert.ok(loaded.resident - warm.resident < MAX_GROWTH_BYTES, "memory grows with the requests");
    agent.destroy();
    upstream.server.closeAllConnections();
    await untilDescriptors(daemon.pid, fresh.descriptors);
  },
);
