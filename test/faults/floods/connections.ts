import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, Socket } from "node:net";
import type { TestContext } from "node:test";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import { post, startGate } from "../../helpers/gate/gate.ts";
import { statusesOf } from "../../helpers/client/http-messages.ts";
import { beginRequest, rawClient, rawRequest } from "../../helpers/client/raw-client.ts";
import { untilStill } from "../../helpers/upstream/tcp-upstream.ts";
import { answerJson, MESSAGE, startHeldUpstream, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { measureUsed } from "../../helpers/process/used-memory.ts";
import type { Play } from "./play.ts";

const IDLE = 5_000;
/** Of both ends together, which share this process. */
const MAY_COST_BYTES_EACH = 16 * 1024;

/** How many descriptors this process may have; 0, with the test skipped and the reason said, when that is too few. */
function openFilesLimit(t: TestContext): number {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files: { soft: number | string } };
  };
  const soft = userLimits?.open_files.soft ?? 0;
  const limit = soft === "unlimited" ? Infinity : Number(soft);
  if (limit >= 11_000) return limit;
  t.diagnostic(`SKIPPED: needs 11000 descriptors, has ${limit} (ulimit -n)`);
  t.skip("needs more descriptors (ulimit -n 11000)");
  return 0;
}

/** More connections or requests than anybody needs. */
export const FLOODS: Record<string, Play> = {
  "five thousand idle connections hold nobody up, and cost a few kilobytes each": async (t) => {
    if (openFilesLimit(t) < 11_000) return;
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
    const gate = await startGate(t, upstream.baseUrl, { peers: createPeerInfo() });
    const before = measureUsed();
    const idle: Socket[] = [];
    t.after(() => idle.forEach((socket) => socket.destroy()));
    while (idle.length < IDLE) {
      const socket = connect(gate.port, "127.0.0.1");
      idle.push(socket);
      await once(socket, "connect");
    }
    assert.equal((await post(gate, "/v1/responses", {})).status, 200);
    const bytesEach = (measureUsed() - before) / IDLE;
    t.diagnostic(`${Math.round(bytesEach)} bytes for both ends of each`);
    assert.ok(bytesEach < MAY_COST_BYTES_EACH, `${bytesEach}`);
    assert.ok(idle.every((socket) => !socket.closed));
  },

  "at the cap a connection costs the one that was idle longest, never a running answer": async (t) => {
    const { upstream, held } = await startHeldUpstream(t);
    const { gate, ...rest } = await startGate(t, upstream.baseUrl);
    const running = await rawClient(t, rest.port);
    running.write(rawRequest(rest.port));
    const answer = await held;
    // Sockets that were never connected take no descriptors.
    const idle = Array.from({ length: 10_000 }, () => new Socket());
    for (const socket of idle) gate.accept(socket);
    assert.deepEqual([idle[0]?.destroyed, idle[1]?.destroyed], [true, false]);
    const late = await rawClient(t, rest.port);
    late.write(`HEAD / HTTP/1.1\r\nHost: 127.0.0.1:${rest.port}\r\n\r\n`);
    assert.match(await late.until(/\r\n\r\n/), /^HTTP\/1\.1 200 /);
    assert.deepEqual([idle[1]?.destroyed, idle[2]?.destroyed], [true, false]);
    answer.end("data: the end\n\n");
    await running.until(/the end[^]*\r\n0\r\n\r\n/);
  },

  "at the cap a connection that finds all others busy is hung up on": async (t) => {
    const { upstream, held } = await startHeldUpstream(t);
    // So few that one client is the most.
    const gate = await startGate(t, upstream.baseUrl, { descriptorLimit: 66 });
    const running = await rawClient(t, gate.port);
    running.write(rawRequest(gate.port));
    const answer = await held;
    const late = await rawClient(t, gate.port);
    late.write(rawRequest(gate.port));
    assert.equal(await late.closed, "");
    answer.end("data: the end\n\n");
    await running.until(/the end[^]*\r\n0\r\n\r\n/);
    assert.equal(upstream.seen.length, 1);
  },

  "of two thousand requests sent at once on one connection one is forwarded": async (t) => {
    const upstream = await startUpstream(t, () => {});
    const gate = await startGate(t, upstream.baseUrl);
    const client = await rawClient(t, gate.port);
    client.write(`GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`.repeat(2000));
    type Answer = Parameters<typeof answerJson>[0];
    const [, answer] = (await once(upstream.server, "request")) as [unknown, Answer];
    await untilStill(() => client.socket.writableLength + upstream.seen.length + upstream.sockets.size);
    assert.deepEqual([upstream.seen.length, upstream.sockets.size, gate.gate.openExchanges], [1, 1, 1]);
    answerJson(answer, {});
    client.socket.end();
    const statuses = statusesOf(await client.closed);
    assert.equal(statuses[0], 200);
    assert.deepEqual([...new Set(statuses.slice(1))], [400]);
    assert.deepEqual([upstream.seen.length, gate.ledger.records.length], [1, 1]);
  },

  "behind a request that was refused for being one too many nothing is forwarded, also while its body still comes":
    async (t) => {
      const { upstream, held } = await startHeldUpstream(t);
      const gate = await startGate(t, upstream.baseUrl);
      const client = await rawClient(t, gate.port);
      client.write(`${rawRequest(gate.port)}${beginRequest(gate.port, "Content-Length: 2")}{`);
      (await held).end("data: the end\n\n");
      await client.until(/the end[^]*\r\nHTTP\/1\.1 400 [^]*connection: close/i);
      client.write(`}${rawRequest(gate.port)}`);
      await client.closed;
      assert.deepEqual([upstream.seen.length, gate.ledger.records.length], [1, 1]);
    },
};
