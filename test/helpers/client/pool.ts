import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import type { Outbound } from "../../../src/core/config/outbound.ts";
import { composeRequestHead } from "../../../src/core/http/request-head.ts";
import { createDialer } from "../../../src/proxy/upstream/dial.ts";
import type { IncomingResponse } from "../../../src/proxy/upstream/incoming-response.ts";
import { UpstreamPool } from "../../../src/proxy/upstream/pool.ts";
import type { RequestEvents, UpstreamRequest } from "../../../src/proxy/upstream/upstream-request.ts";
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

/** A request on a connection of a pool. */
export interface PooledRequest {
  request: UpstreamRequest;
  socket: Socket;
  /** Resolves with the response's head; rejects when the request fails before that. */
  response: Promise<IncomingResponse>;
  /** Rejects with the reason when the request fails, with or without a response. */
  failed: Promise<never>;
}

/** Sends a GET request over a connection of the pool. */
export function sendGet(pool: UpstreamPool): PooledRequest {
  let events: Pick<RequestEvents, "onResponse" | "onFailed"> | null = null;
  const head = composeRequestHead("GET", "/", ["host", "upstream"]);
  const request = pool.open(head, {
    onReady() {},
    onReconnect() {},
    onSent() {},
    onResponse: (response) => events?.onResponse(response),
    onFailed: (error) => events?.onFailed(error),
  });
  const failures: ((error: Error) => void)[] = [];
  const failed = new Promise<never>((_resolve, reject) => failures.push(reject));
  const response = new Promise<IncomingResponse>((onResponse, reject) => {
    failures.push(reject);
    events = { onResponse, onFailed: (error) => failures.forEach((fail) => fail(error)) };
  });
  for (const promise of [response, failed]) promise.catch(() => {});
  request.end();
  return { request, socket: request.connection.socket, response, failed };
}

/** Reads the whole response; returns its content. */
export async function readAll(response: IncomingResponse): Promise<string> {
  const pieces: Buffer[] = [];
  await new Promise<void>((resolve) => {
    response.onReadable = () => {
      const bytes = response.read();
      if (bytes !== null) pieces.push(bytes);
      if (response.isComplete) resolve();
    };
    response.onReadable();
  });
  return Buffer.concat(pieces).toString();
}

/** Reads the whole response; returns the connection once it is back in the pool or closed. */
export async function waitForRelease({ request, socket, response, failed }: PooledRequest): Promise<Socket> {
  const released = new Promise<void>((resolve) => request.once("close", resolve));
  await Promise.race([readAll(await response), failed]);
  await released;
  return socket;
}
