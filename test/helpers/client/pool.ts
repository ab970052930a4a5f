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

/** Opens a pool of connections to one upstream, with a manual clock. Ends with the test. */
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

/** Sends a GET request over a connection of the pool. */
export function sendGet(pool: UpstreamPool): ClientRequest {
  return request({ agent: pool, path: "/" }).end();
}

/** Reads the whole response; returns the connection once it is back in the pool or closed. */
export async function waitForRelease(req: ClientRequest): Promise<Socket> {
  const [res] = (await once(req, "response")) as [IncomingMessage];
  const { socket } = req;
  assert.ok(socket);
  const released = once(req, "close");
  res.resume();
  await released;
  return socket;
}
