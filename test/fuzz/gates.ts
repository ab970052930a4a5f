import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";
import * as fc from "fast-check";
import { defaultConfig } from "../../src/core/config/config.ts";
import { prepareSettings } from "../../src/proxy/settings.ts";
import { post, startGate, TEST_KEY, upstreamAt, type TestGate } from "../helpers/gate/gate.ts";
import { startTcpUpstream } from "../helpers/upstream/tcp-upstream.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { cutUp } from "./pieces.ts";
import { AUTHORITY, play, type Part, type Play } from "./plays.ts";
import { property, type Property } from "./property.ts";

/** Everything that waits gives up soon, so that every play comes to its end. */
const HASTY = {
  abort: { graceMs: 5 },
  limits: {
    ...defaultConfig.limits,
    firstByteMs: 60,
    betweenBytesMs: 60,
    bodyIdleMs: 60,
    bodyBytes: 300_000,
  },
};

/** A client that waits in vain leaves after this; what it proves does not depend on it. */
const PATIENCE_MS = 150;

/** Longer than anything can take; only a lost exchange is still open then. */
const LOST_AFTER_MS = 10_000;

/** Runs with endings like those of a test, and ends them; what nobody caught fails it. */
async function withEndings(act: (t: TestContext) => Promise<void>): Promise<void> {
  const endings: (() => unknown)[] = [];
  // The helpers ask a test for nothing but this.
  const t = { after: (end: () => unknown) => void endings.push(end) } as unknown as TestContext;
  const over = new AbortController();
  const crashed = once(process, "uncaughtException", over).then(([error]) => assert.ifError(error));
  try {
    await Promise.race([act(t), crashed]);
  } finally {
    for (const end of endings.toReversed()) await end();
    over.abort();
  }
}

/** Sends a part and leaves as it says. Writing to a connection that is gone is part of the play. */
async function perform(socket: Socket, { bytes, pieces, ending }: Part): Promise<void> {
  for (const piece of cutUp(bytes, pieces)) {
    if (socket.destroyed) return;
    // Copied: what is given to a socket may be sent later.
    socket.write(Buffer.from(piece));
    await setImmediate();
  }
  if (ending === "end") socket.end();
  if (ending === "destroy") socket.destroy();
  if (ending === "reset") socket.resetAndDestroy();
}

/** Plays one client; resolves with all that it was sent, once its connection is closed. */
async function playClient(port: number, parts: readonly Part[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => (received += text));
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  for (const part of parts) {
    const text = part.bytes.toString("latin1").replace(AUTHORITY, `127.0.0.1:${port}`);
    await perform(socket, { ...part, bytes: Buffer.from(text, "latin1") });
    if (socket.destroyed) break;
    await Promise.race([closed, new Promise((resolve) => socket.once("data", resolve))]);
  }
  await closed;
  return received;
}

/** How many requests got a route: each of them, and nothing else, leaves a record. */
function countRouted({ gate }: TestGate): () => number {
  let routed = 0;
  const { settings } = gate;
  gate.use({
    ...settings,
    keyFor(tool) {
      routed += 1;
      return settings.keyFor(tool);
    },
  });
  return () => routed;
}

async function settled({ gate, ledger }: TestGate, routed: () => number): Promise<void> {
  const deadline = performance.now() + LOST_AFTER_MS;
  while (performance.now() < deadline) {
    if (gate.openExchanges === 0 && ledger.records.length >= routed()) return;
    await setTimeout(5);
  }
}

/** An honest request to an upstream that had no part in the play gets its answer, in its own time. */
async function assertServes(gate: TestGate, baseUrl: string): Promise<void> {
  const upstream = upstreamAt(baseUrl);
  gate.keys.set({ name: upstream.key, origin: upstream.origin }, TEST_KEY);
  gate.gate.use(prepareSettings({ ...defaultConfig, upstreams: { default: upstream } }));
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, await res.json()], [200, MESSAGE]);
}

async function judge({ clients, answers }: Play): Promise<void> {
  await withEndings(async (t) => {
    let turn = 0;
    const upstream = await startTcpUpstream(t, (socket) => {
      socket.setEncoding("latin1").on("data", (text: string) => {
        const answer = answers[turn % answers.length];
        if (answer === undefined || !text.includes(" HTTP/1.1\r\n")) return;
        turn += 1;
        void perform(socket, answer);
      });
    });
    const honest = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
    const gate = await startGate(t, upstream.baseUrl, { config: HASTY });
    const routed = countRouted(gate);
    const received = await Promise.all(clients.map((parts) => playClient(gate.port, parts)));
    await settled(gate, routed);
    const { records } = gate.ledger;
    assert.deepEqual([records.length, gate.gate.openExchanges], [routed(), 0]);
    await assertServes(gate, honest.baseUrl);
    assert.equal(new Set(records.map(({ id }) => id)).size, records.length);
    assert.ok(!JSON.stringify([received, records, gate.log.lines]).includes(TEST_KEY));
    assert.deepEqual(
      gate.log.lines.filter((line) => line.startsWith("error")),
      [],
    );
  });
}

/** Sockets and timers cost a tenth of a second a case: for the long run alone. */
export const GATES: readonly Property[] = [
  property(
    "gate: whatever clients and upstreams send, each request that got a route leaves one record, and it still serves",
    { batch: 30 },
    fc.asyncProperty(play, judge),
  ),
];
