import assert from "node:assert/strict";
import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { post, withLimits } from "../../helpers/gate/gate.ts";
import { beginRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { MESSAGE, respondWithEmptyJson, sendJson } from "../../helpers/upstream/scripted-upstream.ts";
import { measureGrowth, cannotMeasureMemory } from "../measure-memory.ts";
import { MIB, CHUNK, repeat, type Scenario } from "./scenario.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";

/** What the system buffers, and what the gate reads and discards. */
const MAX_BUFFERED_BYTES = 48 * MIB;

/** Allowed beyond an upload of half the size, because the time of garbage collection varies. */
const MAX_GROWTH_BYTES = 48 * MIB;

/** Starts an upstream that hashes each upload. */
async function startHashingUpstream(t: TestContext) {
  const received: string[] = [];
  const upstream = createServer((req, res) => {
    const hash = createHash("sha256");
    req.on("data", (chunk: Buffer) => hash.update(chunk));
    req.on("end", () => {
      received.push(hash.digest("hex"));
      sendJson(res, MESSAGE);
    });
  });
  upstream.listen(0, "127.0.0.1");
  t.after(() => upstream.close());
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, received };
}

/** Uploads so many mebibytes. Returns their hash once the response has arrived. */
async function upload(url: string, mebibytes: number): Promise<Hash> {
  const sent = createHash("sha256");
  const headers = { "content-type": "application/json" };
  const uploading = request(`${url}/v1/messages`, { method: "POST", headers, agent: false });
  const body = Readable.from(repeat(CHUNK, mebibytes), { highWaterMark: 1 });
  body.on("data", (chunk: Buffer) => sent.update(chunk));
  body.pipe(uploading);
  const [response] = (await once(uploading, "response")) as [IncomingMessage];
  await once(response.resume(), "end");
  return sent;
}

/** Bodies up to the limit and beyond. */
export const LARGE_BODIES: Record<string, Scenario> = {
  "an upload of 200 MiB passes unchanged and in constant memory": async (t) => {
    if (cannotMeasureMemory !== false) {
      t.diagnostic(cannotMeasureMemory);
      t.skip(cannotMeasureMemory);
      return;
    }
    const { baseUrl, received } = await startHashingUpstream(t);
    const sent: string[] = [];
    let grown = Infinity;
    // On a busy machine V8 may collect its garbage late. What is really kept is kept each time.
    for (let attempt = 0; attempt < 3 && grown >= MAX_GROWTH_BYTES; attempt += 1) {
      grown = await measureGrowth(
        t,
        { baseUrl, limits: { bodyBytes: 256 * MIB } },
        async ({ url }) => void (await upload(url, 100)),
        async ({ url, ledger }) => {
          sent.push((await upload(url, 200)).digest("hex"));
          assert.equal((await ledger()).at(-1)?.bytes_in, 200 * MIB);
        },
      );
    }
    assert.ok(grown < MAX_GROWTH_BYTES, `${grown / MIB} MiB`);
    // Every second one: each attempt uploads the smaller body first.
    assert.deepEqual(
      received.filter((_, i) => i % 2 === 1),
      sent,
    );
  },

  "a body whose announced length exceeds the limit is refused before it is read, and the client receives the refusal":
    async (t) => {
      const { upstream, gate } = await startGateWithUpstream(
        t,
        respondWithEmptyJson,
        withLimits({ bodyBytes: 1000 }),
      );
      const res = await post(gate, "/v1/responses", { input: "x".repeat(500_000) });
      assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [413, "body_too_large"]);
      const client = await sendRaw(t, gate.port, beginRequest(gate.port, "Content-Length: 1001"));
      assert.match(await client.until(/body_too_large/), /^HTTP\/1\.1 413 /);
      assert.equal(upstream.sockets.size, 0);
    },

  "a chunked body that exceeds the limit is refused while it arrives, and the upstream is freed": async (
    t,
  ) => {
    const { upstream, gate } = await startGateWithUpstream(
      t,
      respondWithEmptyJson,
      withLimits({ bodyBytes: 1000 }),
    );
    const requested = once(upstream.server, "request") as Promise<[IncomingMessage]>;
    const client = await sendRaw(t, gate.port, beginRequest(gate.port, "Transfer-Encoding: chunked"));
    client.write(`1f4\r\n${"x".repeat(500)}\r\n`);
    const [{ socket }] = await requested;
    const freed = new Promise((resolve) => socket.once("close", resolve));
    client.write(`1f5\r\n${"x".repeat(501)}\r\n`);
    assert.match(await client.until(/body_too_large/), /^HTTP\/1\.1 413 /);
    await freed;
    assert.equal((await gate.ledger.only()).error_type, "body_too_large");
    assert.deepEqual([upstream.seen.length, socket.bytesRead < 1200], [0, true]);
  },

  "an endless body is not read forever after it was refused": async (t) => {
    const { gate } = await startGateWithUpstream(t, respondWithEmptyJson, withLimits({ bodyBytes: 1000 }));
    const client = await sendRaw(t, gate.port, beginRequest(gate.port, `Content-Length: ${1000 * MIB}`));
    await client.until(/body_too_large/);
    let taken = 0;
    for (let i = 0; i < 100; i += 1) client.socket.write(CHUNK, (error) => (taken += error ? 0 : MIB));
    await client.closed;
    assert.ok(taken < MAX_BUFFERED_BYTES, `${taken / MIB} MiB`);
  },
};
