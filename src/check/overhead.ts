import { once } from "node:events";
import type { Installation } from "./check.ts";
import { Client, readRest } from "./client.ts";
import { type Echo, EVENT_STREAM } from "./echo.ts";
import { post } from "./send.ts";
import { EVENTS } from "./samples.ts";

/** How many of each are measured, one after another, and how many are sent before that. */
export interface Samples {
  requests: number;
  streams: number;
  /** Node runs new code slowly at first. */
  warmUp: number;
}

/** The share of times in percent → milliseconds: so many are not longer than that. */
export interface Percentiles {
  p50: number;
  p90: number;
  p99: number;
}

/** The same times without tollkeeper and with it, and by how much one with it exceeds the one right before, milliseconds. */
export interface Comparison {
  count: number;
  direct: Percentiles;
  through: Percentiles;
  added: Percentiles;
}

/** What tollkeeper adds on this machine, as measured: client, tollkeeper and upstream are one process, and share its time. */
export interface Overhead {
  /** A small request, to the end of its answer. */
  request: Comparison;
  /** A stream, to its first byte. */
  firstByte: Comparison;
}

/** Measures requests to the echo, directly and through tollkeeper in turn, so that a busy moment hits both. */
export async function measureOverhead(on: Installation, samples: Samples): Promise<Overhead> {
  const direct = new Client(on.echo.port);
  const compare = async (count: number, timeOne: (client: Client) => Promise<number>) => {
    const times: [direct: number, through: number][] = [];
    while (times.length < count) times.push([await timeOne(direct), await timeOne(on.client)]);
    return comparisonOf(times);
  };
  try {
    await compare(samples.warmUp, timeRequest);
    return {
      request: await compare(samples.requests, timeRequest),
      firstByte: await compare(samples.streams, (client) => timeFirstByte(client, on.echo)),
    };
  } finally {
    direct.close();
  }
}

async function timeRequest(client: Client): Promise<number> {
  const start = performance.now();
  await client.ask(post("/v1/messages"));
  return performance.now() - start;
}

async function timeFirstByte(client: Client, echo: Echo): Promise<number> {
  echo.answerNext((res) => res.writeHead(200, EVENT_STREAM).end(EVENTS.join("")));
  const start = performance.now();
  const answer = await client.open(post("/v1/messages"));
  await once(answer, "readable");
  const took = performance.now() - start;
  await readRest(answer);
  return took;
}

function comparisonOf(times: readonly [direct: number, through: number][]): Comparison {
  return {
    count: times.length,
    direct: percentilesOf(times.map(([direct]) => direct)),
    through: percentilesOf(times.map(([, through]) => through)),
    added: percentilesOf(times.map(([direct, through]) => through - direct)),
  };
}

/** By nearest rank, so that each is a time that was measured. */
export function percentilesOf(times: readonly number[]): Percentiles {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.ceil((share / 100) * sorted.length) - 1] ?? NaN;
  return { p50: at(50), p90: at(90), p99: at(99) };
}
