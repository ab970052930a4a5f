import assert from "node:assert/strict";
import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { post, startGate, withLimits } from "../../helpers/gate/gate.ts";
import { beginRequest, rawClient } from "../../helpers/client/raw-client.ts";
import { answerJson, MESSAGE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { measureGrowth, noMeasure } from "../measured-daemon.ts";
import { MIB, PIECE, repeat, type Play } from "./play.ts";

/** What the system takes before anybody reads it, and what is read to be forgotten. */
const UNDER_WAY_BYTES = 48 * MIB;

/** More than an upload of half the size takes: what chance makes of when garbage is collected. */
const MAY_COST_BYTES = 48 * MIB;

/** An upstream that keeps the hash of each upload. */
async function startHashingUpstream(t: TestContext) {
  const received: string[] = [];
  const upstream = createServer((req, res) => {
    const hash = createHash("sha256");
    req.on("data", (chunk: Buffer) => hash.update(chunk));
    req.on("end", () => {
      received.push(hash.digest("hex"));
      answerJson(res, MESSAGE);
    });
  });
  upstream.listen(0, "127.0.0.1");
  t.after(() => upstream.close());
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, received };
}

/** Uploads so many mebibytes; resolves with their hash once that is answered. */
async function upload(url: string, mebibytes: number): Promise<Hash> {
  const sent = createHash("sha256");
  const headers = { "content-type": "application/json" };
  const uploading = request(`${url}/v1/messages`, { method: "POST", headers, agent: false });
  const body = Readable.from(repeat(PIECE, mebibytes), { highWaterMark: 1 });
  body.on("data", (piece: Buffer) => sent.update(piece));
  body.pipe(uploading);
  const [answer] = (await once(uploading, "response")) as [IncomingMessage];
  await once(answer.resume(), "end");
  return sent;
}

/** Bodies of any size, up to the limit and beyond. */
export const LARGE_BODIES: Record<string, Play> = {
  "an upload of 200 MiB passes in flat memory, byte for byte": async (t) => {
    if (noMeasure !== false) {
      t.diagnostic(noMeasure);
      t.skip(noMeasure);
      return;
    }
    const { baseUrl, received } = await startHashingUpstream(t);
    const sent: string[] = [];
    const grown = await measureGrowth(
      t,
      { baseUrl, limits: { bodyBytes: 256 * MIB } },
      async ({ url }) => void (await upload(url, 100)),
      async ({ url, ledger }) => {
        sent.push((await upload(url, 200)).digest("hex"));
        assert.equal((await ledger()).at(-1)?.bytes_in, 200 * MIB);
      },
    );
    assert.ok(grown < MAY_COST_BYTES, `${grown / MIB} MiB`);
    assert.deepEqual(received.slice(1), sent);
  },

  "a body announced as too large is refused before it is read, and the answer arrives": async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyBytes: 1000 }));
    const res = await post(gate, "/v1/responses", { input: "x".repeat(500_000) });
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [413, "body_too_large"]);
    const client = await rawClient(t, gate.port);
    client.write(beginRequest(gate.port, "Content-Length: 1001"));
    assert.match(await client.until(/body_too_large/), /^HTTP\/1\.1 413 /);
    assert.equal(upstream.sockets.size, 0);
  },

  "a chunked body that grows too large is refused while it comes, and the upstream is freed": async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyBytes: 1000 }));
    const requested = once(upstream.server, "request") as Promise<[IncomingMessage]>;
    const client = await rawClient(t, gate.port);
    client.write(beginRequest(gate.port, "Transfer-Encoding: chunked"));
    client.write(`1f4\r\n${"x".repeat(500)}\r\n`);
    const [{ socket }] = await requested;
    const freed = new Promise((resolve) => socket.once("close", resolve));
    client.write(`1f5\r\n${"x".repeat(501)}\r\n`);
    assert.match(await client.until(/body_too_large/), /^HTTP\/1\.1 413 /);
    await freed;
    assert.equal((await gate.ledger.only()).error_type, "body_too_large");
    assert.deepEqual([upstream.seen.length, socket.bytesRead < 1200], [0, true]);
  },

  "a body without end is not read for ever after it was refused": async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyBytes: 1000 }));
    const client = await rawClient(t, gate.port);
    client.write(beginRequest(gate.port, `Content-Length: ${1000 * MIB}`));
    await client.until(/body_too_large/);
    let taken = 0;
    for (let i = 0; i < 100; i += 1) client.socket.write(PIECE, (error) => (taken += error ? 0 : MIB));
    await client.closed;
    assert.ok(taken < UNDER_WAY_BYTES, `${taken / MIB} MiB`);
  },
};
