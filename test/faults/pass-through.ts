import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { request } from "node:http";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { startUpstream, type ScriptedUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { PIECE, repeat } from "./floods/play.ts";
import { measureGrowth } from "./measured-daemon.ts";

/** Enough to see how late garbage is collected. */
const USUAL_MIB = 200;

/** An answer whose body is made while it is sent. */
export interface BulkyAnswer {
  status?: number;
  head: Record<string, string>;
  pieces: Iterable<Buffer>;
}

/** Sends it to who asks for messages; `sent` is the hash of its body so far. Others get a large one that is nothing in particular. */
async function startBulkyUpstream(t: TestContext, { status = 200, head, pieces }: BulkyAnswer) {
  const sent = createHash("sha256");
  const upstream: ScriptedUpstream = await startUpstream(t, ({ url }, res) => {
    if (url !== "/v1/messages") {
      Readable.from(repeat(PIECE, USUAL_MIB)).pipe(res.writeHead(200));
      return;
    }
    res.writeHead(status, head);
    const body = Readable.from(pieces);
    body.on("data", (piece: Buffer) => sent.update(piece));
    body.pipe(res);
  });
  return { upstream, sent };
}

/** Sends an answer through a gate; fails unless its body arrives byte for byte and the gate still serves. Returns the record. */
export async function passThrough(
  t: TestContext,
  head: Record<string, string>,
  pieces: Iterable<Buffer>,
): Promise<UsageRecord> {
  const { upstream, sent } = await startBulkyUpstream(t, { head, pieces });
  const gate = await startGate(t, upstream.baseUrl);
  const received = await receive(`${gate.url}/v1/messages`);
  assert.equal(received.digest, sent.digest("hex"), "other bytes than were sent");
  assert.equal((await fetch(`${gate.url}/`, { method: "HEAD" })).status, 200);
  const record = await gate.ledger.only();
  assert.equal(record.status, 200);
  return record;
}

/** What came of an answer that went through a daemon of its own. */
export interface MeasuredAnswer {
  /** As `measureGrowth` has it, beside a plain answer of 200 MiB. */
  grown: number;
  received: Received;
  /** Did its body arrive byte for byte? */
  isSame: boolean;
  record: UsageRecord | undefined;
}

/** Sends an answer through a daemon and measures what that costs it. */
export async function measureThrough(t: TestContext, answer: BulkyAnswer): Promise<MeasuredAnswer> {
  const { upstream, sent } = await startBulkyUpstream(t, answer);
  const seen: { received: Received; record: UsageRecord | undefined }[] = [];
  const grown = await measureGrowth(
    t,
    upstream,
    async ({ url }) => void (await receive(`${url}/v1/responses`)),
    async ({ url, ledger }) => {
      const received = await receive(`${url}/v1/messages`);
      seen.push({ received, record: (await ledger()).at(-1) });
    },
  );
  const [{ received, record } = assert.fail("nothing was measured")] = seen;
  return { grown, received, isSame: received.digest === sent.digest("hex"), record };
}

interface Received {
  status: number | undefined;
  bytes: number;
  /** Hash of the body as it is on the wire. */
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
