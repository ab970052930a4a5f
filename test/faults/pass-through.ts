import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { request } from "node:http";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { startUpstream, type ScriptedUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { CHUNK, repeat } from "./floods/scenario.ts";
import { measureGrowth } from "./measure-memory.ts";

/** Large enough to include the effect of late garbage collection. */
const USUAL_MIB = 200;

/** A response whose body is generated while it is sent. */
export interface LargeResponse {
  status?: number;
  head: Record<string, string>;
  chunks: Iterable<Buffer>;
}

/**
 * Starts an upstream that sends the response on the messages route, and a large plain one elsewhere. `sent` hashes the body as it
 * is sent.
 */
async function startLargeUpstream(t: TestContext, { status = 200, head, chunks }: LargeResponse) {
  const sent = createHash("sha256");
  const upstream: ScriptedUpstream = await startUpstream(t, ({ url }, res) => {
    if (url !== "/v1/messages") {
      Readable.from(repeat(CHUNK, USUAL_MIB)).pipe(res.writeHead(200));
      return;
    }
    res.writeHead(status, head);
    const body = Readable.from(chunks);
    body.on("data", (chunk: Buffer) => sent.update(chunk));
    body.pipe(res);
  });
  return { upstream, sent };
}

/** Sends a response through a gate. Fails unless the body arrives unchanged and the gate still serves. Returns the record. */
export async function passThrough(
  t: TestContext,
  head: Record<string, string>,
  chunks: Iterable<Buffer>,
): Promise<UsageRecord> {
  const { upstream, sent } = await startLargeUpstream(t, { head, chunks });
  const gate = await startGate(t, upstream.baseUrl);
  const received = await receive(`${gate.url}/v1/messages`);
  assert.equal(received.digest, sent.digest("hex"), "the body has changed");
  assert.equal((await fetch(`${gate.url}/`, { method: "HEAD" })).status, 200);
  const record = await gate.ledger.only();
  assert.equal(record.status, 200);
  return record;
}

/** The effects of a response that passed through its own daemon. */
export interface MeasuredResponse {
  /** Memory growth compared with a plain response of 200 MiB; see `measureGrowth`. */
  grownBytes: number;
  received: Received;
  /** True when the body arrived unchanged. */
  isSame: boolean;
  record: UsageRecord | undefined;
}

/** Sends a response through a daemon and measures the daemon's memory. */
export async function measurePassThrough(t: TestContext, response: LargeResponse): Promise<MeasuredResponse> {
  const { upstream, sent } = await startLargeUpstream(t, response);
  const seen: { received: Received; record: UsageRecord | undefined }[] = [];
  const grownBytes = await measureGrowth(
    t,
    upstream,
    async ({ url }) => void (await receive(`${url}/v1/responses`)),
    async ({ url, ledger }) => {
      const received = await receive(`${url}/v1/messages`);
      seen.push({ received, record: (await ledger()).at(-1) });
    },
  );
  const [{ received, record } = assert.fail("nothing was measured")] = seen;
  return { grownBytes, received, isSame: received.digest === sent.digest("hex"), record };
}

interface Received {
  status: number | undefined;
  bytes: number;
  /** Hash of the body as received. */
  digest: string;
}

function receive(url: string): Promise<Received> {
  return new Promise((resolve, reject) => {
    const hash = createHash("sha256");
    let bytes = 0;
    const headers = { "content-type": "application/json" };
    const sending = request(url, { method: "POST", headers, agent: false }, (res) => {
      res.on("data", (chunk: Buffer) => {
        hash.update(chunk);
        bytes += chunk.length;
      });
      res.on("end", () => resolve({ status: res.statusCode, bytes, digest: hash.digest("hex") }));
      res.on("error", reject);
    });
    sending.on("error", reject);
    sending.end(`{"model":"m"}`);
  });
}
