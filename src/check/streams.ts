import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Check, expect, Fault, type Installation, REPORT } from "./check.ts";
import { readRest } from "./client.ts";
import { EVENT_STREAM } from "./echo.ts";
import { post } from "./send.ts";
import { EVENTS } from "./samples.ts";

const unbuffered: Check = {
  name: "unbuffered",
  proves: "each event of a stream arrives before the upstream sends the next one",
  remedy: `tools would show nothing until the answer is whole; ${REPORT}`,
  async run(on) {
    const { upstream, opened } = await openStream(on);
    for (const event of EVENTS) {
      upstream.write(event);
      const received = await nextBytes(await opened, Buffer.byteLength(event));
      expect(received.toString() === event, `"${event.slice(0, 20)}..." arrived as something else`);
    }
    upstream.end();
    expect((await readRest(await opened)).length === 0, "more arrived than was sent");
  },
};

const earlyHead: Check = {
  name: "early head",
  proves: "the head of a stream arrives before its first event",
  remedy: `tools would take a slow answer for a dead one; ${REPORT}`,
  async run(on) {
    const { upstream, opened } = await openStream(on);
    const answer = await opened;
    expect(answer.headers["content-type"] === EVENT_STREAM["content-type"], "its content-type was changed");
    upstream.end();
    await readRest(answer);
  },
};

const cancelled: Check = {
  name: "cancelled",
  proves:
    "a client that leaves ends the upstream's work, before the first byte and in the middle of a stream",
  remedy: `the service would go on generating, and billing; look at "abort": tollkeeper config check`,
  async run(on) {
    const waiting = await hold(on);
    const streaming = await openStream(on);
    streaming.upstream.write(EVENTS[0]);
    await streaming.opened;
    const ends = [waiting, streaming].map(({ upstream }) => once(upstream, "close"));
    on.client.close();
    await Promise.all(ends);
  },
};

/** A request that has reached the upstream and waits there: what will answer it, and the answer's head once it comes. */
interface Held {
  upstream: ServerResponse;
  opened: Promise<IncomingMessage>;
}

async function hold({ client, echo }: Installation): Promise<Held> {
  const held = echo.holdNext();
  const opened = client.open(post("/v1/messages"));
  const tooEarly = opened.then(({ statusCode }) => {
    throw new Fault(`answered ${statusCode} before the upstream did`);
  });
  return { upstream: await Promise.race([held, tooEarly]), opened };
}

/** The same, with the head of a stream sent by the upstream. */
async function openStream(on: Installation): Promise<Held> {
  const held = await hold(on);
  held.upstream.writeHead(200, EVENT_STREAM).flushHeaders();
  return held;
}

/** The next `count` bytes of an answer, or more where more has come. */
async function nextBytes(answer: IncomingMessage, count: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let length = 0; length < count;) {
    const chunk: unknown = answer.read();
    if (Buffer.isBuffer(chunk)) {
      chunks.push(chunk);
      length += chunk.length;
    } else await once(answer, "readable");
  }
  return Buffer.concat(chunks);
}

/** Streams are handed on as they come, and end when their client does. */
export const STREAM_CHECKS: readonly Check[] = [unbuffered, earlyHead, cancelled];
