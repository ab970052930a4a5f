import { once } from "node:events";
import { Client, post, readBody } from "./client.ts";
import { EVENT_STREAM, type RecordingUpstream } from "./recording-upstream.ts";
import { EVENTS } from "./samples.ts";

/** How many requests are measured, one after another. */
export interface SampleCounts {
  /** Sent first and not measured, because Node runs new code slowly. */
  warmUp: number;
  requests: number;
  streams: number;
}

/** Percentiles of measured times, milliseconds. */
export interface Percentiles {
  p50: number;
  p90: number;
  p99: number;
}

/** Times without tollkeeper and through it, and the difference between each pair of consecutive requests. */
export interface Comparison {
  count: number;
  direct: Percentiles;
  through: Percentiles;
  added: Percentiles;
}

/** What tollkeeper adds on this machine. Client, tollkeeper and upstream share one process and its CPU time. */
export interface Overhead {
  /** A small request, to the end of its response. */
  request: Comparison;
  /** A stream, to its first byte. */
  firstByte: Comparison;
}

/**
 * Sends requests to the upstream alternately directly and through tollkeeper, so that a busy moment affects both.
 * @param port tollkeeper's
 */
export async function measureOverhead(
  port: number,
  upstream: RecordingUpstream,
  counts: SampleCounts,
): Promise<Overhead> {
  const [direct, through] = [new Client(upstream.port), new Client(port)];
  const compare = async (count: number, timeOne: (client: Client) => Promise<number>) => {
    const times: [direct: number, through: number][] = [];
    while (times.length < count) times.push([await timeOne(direct), await timeOne(through)]);
    return comparisonOf(times);
  };
  try {
    await compare(counts.warmUp, timeRequest);
    return {
      request: await compare(counts.requests, timeRequest),
      firstByte: await compare(counts.streams, (client) => timeFirstByte(client, upstream)),
    };
  } finally {
    direct.close();
    through.close();
  }
}

async function timeRequest(client: Client): Promise<number> {
  const start = performance.now();
  await client.send(post("/v1/messages"));
  return performance.now() - start;
}

async function timeFirstByte(client: Client, upstream: RecordingUpstream): Promise<number> {
  upstream.respondOnce((res) => res.writeHead(200, EVENT_STREAM).end(EVENTS.join("")));
  const start = performance.now();
  const response = await client.open(post("/v1/messages"));
  await once(response, "readable");
  const elapsed = performance.now() - start;
  await readBody(response);
  return elapsed;
}

function comparisonOf(times: readonly [direct: number, through: number][]): Comparison {
  return {
    count: times.length,
    direct: percentilesOf(times.map(([direct]) => direct)),
    through: percentilesOf(times.map(([, through]) => through)),
    added: percentilesOf(times.map(([direct, through]) => through - direct)),
  };
}

/** Computes percentiles by nearest rank, so that each is one of the given times. */
export function percentilesOf(times: readonly number[]): Percentiles {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.ceil((share / 100) * sorted.length) - 1] ?? NaN;
  return { p50: at(50), p90: at(90), p99: at(99) };
}
