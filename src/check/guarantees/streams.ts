import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { post, readBody } from "../client.ts";
import { REPORT_IT, type Guarantee, type IsolatedProxy } from "../guarantee.ts";
import { EVENT_STREAM } from "../recording-upstream.ts";
import { EVENTS } from "../samples.ts";

/** Streams are forwarded without delay, and end when their client disconnects. */
export const STREAM_GUARANTEES: readonly Guarantee[] = [
  {
    name: "unbuffered",
    proves: "each event of a stream arrives before the upstream sends the next one",
    remedy: `tools would show nothing until the response is complete; ${REPORT_IT}`,
    async verify(proxy) {
      const { upstreamResponse, clientResponse } = await openStream(proxy);
      for (const event of EVENTS) {
        upstreamResponse.write(event);
        const received = await readAtLeast(await clientResponse, Buffer.byteLength(event));
        assert.ok(received.toString() === event, `"${event.slice(0, 20)}..." arrived as something else`);
      }
      upstreamResponse.end();
      assert.ok((await readBody(await clientResponse)).length === 0, "more arrived than was sent");
    },
  },
  {
    name: "early head",
    proves: "the head of a stream arrives before its first event",
    remedy: `tools would take a slow response for a dead one; ${REPORT_IT}`,
    async verify(proxy) {
      const { upstreamResponse, clientResponse } = await openStream(proxy);
      const response = await clientResponse;
      const type = response.headers["content-type"];
      assert.ok(type === EVENT_STREAM["content-type"], "its content-type was changed");
      upstreamResponse.end();
      await readBody(response);
    },
  },
  {
    name: "cancelled",
    proves: "when a client disconnects, the upstream request ends, before the first byte and within a stream",
    remedy: `the API would continue to generate and bill; check "abort" with: tollkeeper config check`,
    async verify(proxy) {
      const waiting = await holdRequest(proxy);
      const streaming = await openStream(proxy);
      streaming.upstreamResponse.write(EVENTS[0]);
      await streaming.clientResponse;
      const closed = [waiting, streaming].map(({ upstreamResponse }) => once(upstreamResponse, "close"));
      proxy.client.close();
      await Promise.all(closed);
    },
  },
];

/** A request that the upstream has received and not responded to. */
interface HeldRequest {
  upstreamResponse: ServerResponse;
  /** Resolves with the head of the response. */
  clientResponse: Promise<IncomingMessage>;
}

async function holdRequest({ client, upstream }: IsolatedProxy): Promise<HeldRequest> {
  const held = upstream.holdNext();
  const clientResponse = client.open(post("/v1/messages"));
  const tooEarly = clientResponse.then(({ statusCode }) =>
    assert.fail(`responded ${statusCode} before the upstream did`),
  );
  return { upstreamResponse: await Promise.race([held, tooEarly]), clientResponse };
}

/** Sends a request to which the upstream responds with the head of a stream. */
async function openStream(proxy: IsolatedProxy): Promise<HeldRequest> {
  const held = await holdRequest(proxy);
  held.upstreamResponse.writeHead(200, EVENT_STREAM).flushHeaders();
  return held;
}

/** Reads the next `count` bytes of a response, or more if more have arrived. */
async function readAtLeast(response: IncomingMessage, count: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let length = 0; length < count;) {
    const chunk: unknown = response.read();
    if (Buffer.isBuffer(chunk)) {
      chunks.push(chunk);
      length += chunk.length;
    } else await once(response, "readable");
  }
  return Buffer.concat(chunks);
}
