import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, Socket } from "node:net";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import { PROCESS_SIGNATURES } from "../../../src/tools/all.ts";
import { post } from "../../helpers/gate/gate.ts";
import { statusesOf } from "../../helpers/client/http-messages.ts";
import { beginRequest, rawClient, rawRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { waitUntilStill } from "../../helpers/upstream/tcp-upstream.ts";
import { sendJson, respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";
import { measureUsedMemory } from "../../helpers/process/used-memory.ts";
import type { Scenario } from "./scenario.ts";
import { startGateWithUpstream, startGateWithHeldUpstream } from "../../helpers/gate/gate-with-upstream.ts";

const IDLE = 5_000;
/** For both ends of a connection, which share this process. */
const MAX_BYTES_EACH = 16 * 1024;

const head = (port: number) => `HEAD / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const get = (port: number, path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;

/** How many descriptors this process may have; 0, with the test skipped, when they are too few. */
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

/** Floods of connections and of requests. */
export const FLOODS: Record<string, Scenario> = {
  "five thousand idle connections delay no other client and take a few kilobytes each": async (t) => {
    if (openFilesLimit(t) < 11_000) return;
    const { gate } = await startGateWithUpstream(t, respondWithMessage, {
      peers: createPeerInfo(PROCESS_SIGNATURES),
    });
    const before = measureUsedMemory();
    const idle: Socket[] = [];
    t.after(() => idle.forEach((socket) => socket.destroy()));
    while (idle.length < IDLE) {
      const socket = connect(gate.port, "127.0.0.1");
      idle.push(socket);
      await once(socket, "connect");
    }
    assert.equal((await post(gate, "/v1/responses", {})).status, 200);
    const bytesEach = (measureUsedMemory() - before) / IDLE;
    t.diagnostic(`${Math.round(bytesEach)} bytes for both ends of each`);
    assert.ok(bytesEach < MAX_BYTES_EACH, `${bytesEach}`);
    assert.ok(idle.every((socket) => !socket.closed));
  },

  "at the limit a new connection replaces the one that was idle longest, never one with a response in progress":
    async (t) => {
      const {
        held,
        gate: { gate, port },
      } = await startGateWithHeldUpstream(t);
      const running = await sendRaw(t, port);
      const response = await held;
      // Unconnected sockets take no descriptors.
      const idle = Array.from({ length: 10_000 }, () => new Socket());
      for (const socket of idle) gate.accept(socket, false);
      assert.deepEqual([idle[0]?.destroyed, idle[1]?.destroyed], [true, false]);
      const late = await sendRaw(t, port, head(port));
      assert.match(await late.until(/\r\n\r\n/), /^HTTP\/1\.1 200 /);
      assert.deepEqual([idle[1]?.destroyed, idle[2]?.destroyed], [true, false]);
      response.end("data: the end\n\n");
      await running.until(/the end[^]*\r\n0\r\n\r\n/);
    },

  "at the limit a new connection is closed when all others are busy": async (t) => {
    // Enough descriptors for a single client.
    const { upstream, held, gate } = await startGateWithHeldUpstream(t, { descriptorLimit: 66 });
    const running = await sendRaw(t, gate.port);
    const response = await held;
    const late = await sendRaw(t, gate.port);
    assert.equal(await late.closed, "");
    response.end("data: the end\n\n");
    await running.until(/the end[^]*\r\n0\r\n\r\n/);
    assert.equal(upstream.seen.length, 1);
  },

  "of sixty requests pipelined on one connection only one is forwarded": async (t) => {
    const { upstream, gate } = await startGateWithUpstream(t, () => {});
    const client = await sendRaw(t, gate.port, get(gate.port, "/v1/models").repeat(60));
    const [, response] = (await once(upstream.server, "request")) as [unknown, ServerResponse];
    await waitUntilStill(() => client.socket.writableLength + upstream.seen.length + upstream.sockets.size);
    assert.deepEqual([upstream.seen.length, upstream.sockets.size, gate.gate.openExchanges], [1, 1, 1]);
    sendJson(response, {});
    client.socket.end();
    const statuses = statusesOf(await client.closed);
    assert.equal(statuses[0], 200);
    assert.deepEqual([...new Set(statuses.slice(1))], [503]);
    assert.deepEqual([upstream.seen.length, gate.ledger.records.length], [1, 1]);
  },

  "a client that pipelines two thousand requests is disconnected, and the first of them is recorded as cut by it":
    async (t) => {
      const { upstream, gate } = await startGateWithUpstream(t, () => {});
      const client = await sendRaw(t, gate.port, get(gate.port, "/v1/models").repeat(2000));
      assert.equal(await client.closed, "");
      const { outcome, cut_by } = await gate.ledger.only();
      assert.deepEqual([outcome, cut_by, upstream.sockets.size <= 1], ["cut", "client", true]);
    },

  "a client that sends one refused request after another, and reads none of the refusals, is disconnected":
    async (t) => {
      const { gate } = await startGateWithUpstream(t, () => assert.fail("it was forwarded"));
      const client = await rawClient(t, gate.port);
      client.socket.pause();
      while (!client.socket.destroyed) {
        client.write(get(gate.port, "/nowhere").repeat(100));
        await setImmediate();
      }
      assert.equal(gate.ledger.records.length, 0);
    },

  "a request that comes together with the last one on its connection is not forwarded": async (t) => {
    const { upstream, gate } = await startGateWithUpstream(t, () => assert.fail("it was forwarded"));
    let connections = 0;
    upstream.server.on("connection", () => (connections += 1));
    const client = await sendRaw(t, gate.port, head(gate.port));
    await client.until(/\r\n\r\n/);
    const drained = gate.gate.drain();
    client.write(head(gate.port) + rawRequest(gate.port));
    assert.match(await client.closed, / 200 OK[^]* 200 OK[^]*connection: close/i);
    await drained;
    assert.deepEqual([connections, gate.ledger.records.length], [0, 0]);
  },

  "after a pipelined request was refused nothing more is forwarded, even while its body still arrives":
    async (t) => {
      const { upstream, held, gate } = await startGateWithHeldUpstream(t);
      const client = await sendRaw(
        t,
        gate.port,
        `${rawRequest(gate.port)}${beginRequest(gate.port, "Content-Length: 2")}{`,
      );
      (await held).end("data: the end\n\n");
      await client.until(
        /the end[^]*\r\nHTTP\/1\.1 503 [^]*x-tollkeeper-refusal: pipelined[^]*connection: close/i,
      );
      client.write(`}${rawRequest(gate.port)}`);
      await client.closed;
      assert.deepEqual([upstream.seen.length, gate.ledger.records.length], [1, 1]);
    },
};
