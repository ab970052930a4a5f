import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import type { Outbound } from "../../../src/core/config/outbound.ts";
import { createDialer } from "../../../src/proxy/upstream/dial.ts";
import { UpstreamPool } from "../../../src/proxy/upstream/pool.ts";
import { ManualClock } from "../gate/memory.ts";

/** A pool of connections to one upstream, which ends with the test, and the clock that it goes by. */
export function openPool(
  t: TestContext,
  origin: string,
  outbound: Outbound = defaultConfig.outbound,
): { pool: UpstreamPool; clock: ManualClock } {
  const clock = new ManualClock();
  const pool = new UpstreamPool(createDialer(outbound)(origin), clock);
  t.after(() => pool.destroy());
  return { pool, clock };
}

/** Sends a GET over a connection of the pool's. */
export function sendGet(pool: UpstreamPool): ClientRequest {
  return request({ agent: pool, path: "/" }).end();
}

/** The connection that a request was lent, once it is answered in full and the connection given back or closed. */
export async function waitForRelease(asked: ClientRequest): Promise<Socket> {
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const { socket } = asked;
  assert.ok(socket);
  const released = once(asked, "close");
  answer.resume();
  await released;
  return socket;
}
