// D9, load: under load every answer is whole and its own, the ledger is exact, and neither descriptors nor memory grow.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { countDescriptors, residentBytes } from "../chaos/process-figures.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { TEST_KEY } from "../helpers/gate/gate.ts";
import { keyInFile } from "../helpers/keychain/key-file.ts";
import {
  answerJson,
  MESSAGE,
  MESSAGE_EVENTS,
  SSE,
  startUpstream,
  type ScriptedUpstream,
} from "../helpers/upstream/scripted-upstream.ts";
import { noMeasure } from "./measured-daemon.ts";

const STREAMS = 300;
const REQUESTS = 10_000;
const AT_ONCE = 64;
const TOTAL = STREAMS + REQUESTS;
/** By then everything has been loaded, compiled and pooled. */
const HALF = STREAMS + REQUESTS / 2;
const MIB = 1024 * 1024;
/** What a heap varies by. Half of the requests would leave more if each left 10 KB. */
const MAY_GROW_BYTES = 48 * MIB;
const END_OF_STREAM = MESSAGE_EVENTS.slice(1).join("");

/** Each request is numbered, and its answer made from the number. */
const inputOf = (number: number) => 1000 + number;
const idOf = (number: number) => `msg_load_${number}`;

function startStream(res: ServerResponse, number: number): void {
  const start = MESSAGE_EVENTS[0].replace("msg_1", idOf(number));
  res.writeHead(200, SSE).write(start.replace(`"input_tokens":3`, `"input_tokens":${inputOf(number)}`));
}

function answerShort(res: ServerResponse, number: number): void {
  answerJson(res, {
    ...MESSAGE,
    id: idOf(number),
    usage: { input_tokens: inputOf(number), output_tokens: 2 },
  });
}

/** Sends one numbered request; resolves with its whole answer, rejects when that breaks off. */
async function ask({ port }: Daemon, agent: Agent, number: number): Promise<string> {
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

/** Descriptors and resident bytes of a process; null where they cannot be seen. */
function measure(pid: number): { descriptors: number; resident: number } | null {
  if (noMeasure !== false) return null;
  return { descriptors: countDescriptors(pid), resident: residentBytes(pid) };
}

/** Holds every stream until all of them are open; short answers go out at once. */
function startUpstreamOfNumbers(t: TestContext): Promise<ScriptedUpstream> {
  const open: (() => void)[] = [];
  return startUpstream(t, ({ body }, res) => {
    const { number } = JSON.parse(body.toString()) as { number: number };
    if (number >= STREAMS) {
      answerShort(res, number);
      return;
    }
    startStream(res, number);
    open.push(() => res.end(END_OF_STREAM));
    if (open.length === STREAMS) for (const finish of open) finish();
  });
}

async function askForStreams(daemon: Daemon, agent: Agent): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: STREAMS }, (_, number) => ask(daemon, agent, number)),
  );
  for (const [number, answer] of answers.entries()) {
    assert.ok(answer.includes(`"${idOf(number)}"`) && answer.endsWith(END_OF_STREAM), answer);
  }
}

/** Sends the short requests with the numbers from `first` on, up to `end`. */
async function askForShort(daemon: Daemon, agent: Agent, first: number, end: number): Promise<void> {
  let next = first;
  const worker = async () => {
    while (next < end) {
      const number = next++;
      const answer = JSON.parse(await ask(daemon, agent, number)) as { id: string };
      assert.equal(answer.id, idOf(number));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Resolves when the process has no more descriptors than that. */
async function untilDescriptors(pid: number, count: number): Promise<void> {
  while ((measure(pid)?.descriptors ?? 0) > count) await delay(20);
}

test("300 streams at once and 10 000 requests: the ledger is exact", { timeout: 120_000 }, async (t) => {
  const upstream = await startUpstreamOfNumbers(t);
  const daemon = await startDaemon(t, { config: keyInFile(t, upstream.baseUrl, TEST_KEY).config });
  const agent = new Agent({ keepAlive: true, maxSockets: STREAMS });
  t.after(() => agent.destroy());
  const fresh = measure(daemon.pid);
  const begun = performance.now();
  await askForStreams(daemon, agent);
  const streamed = performance.now();
  await askForShort(daemon, agent, STREAMS, HALF);
  const warm = measure(daemon.pid);
  await askForShort(daemon, agent, HALF, TOTAL);
  const loaded = measure(daemon.pid);
  const [streamsMs, requestsMs] = [streamed - begun, performance.now() - streamed].map(Math.round);
  t.diagnostic(`${STREAMS} streams at once: ${streamsMs} ms; ${REQUESTS} requests: ${requestsMs} ms`);

  assertExact(await daemon.ledger(), TOTAL);
  assert.equal((await daemon.status()).openExchanges, 0);
  if (fresh === null || warm === null || loaded === null) {
    t.diagnostic("SKIPPED: descriptors and memory cannot be seen here (needs Linux)");
    return;
  }
  t.diagnostic(
    `descriptors: ${fresh.descriptors} fresh, ${loaded.descriptors} with connections that are kept`,
  );
  t.diagnostic(`MiB: ${[fresh, warm, loaded].map(({ resident }) => Math.round(resident / MIB)).join(", ")}`);
  assert.ok(loaded.resident - warm.resident < MAY_GROW_BYTES, "memory grows with the requests");
  agent.destroy();
  upstream.server.closeAllConnections();
  await untilDescriptors(daemon.pid, fresh.descriptors);
});
