import { setImmediate } from "node:timers/promises";
import type { Metric } from "../../core/metrics/metric.ts";
import { writeMetrics, type TextFormat } from "../../core/metrics/prometheus-text.ts";
import type { StatusParts } from "../status.ts";
import { describeDaemonMetrics } from "./describe-daemon.ts";

/** How many points are written at once: about 1 ms. */
const SLICE = 100;

/** Writes what was counted, and what a daemon that has started knows of itself. Yields to other work. */
export async function writeText(
  counted: readonly Metric[],
  daemon: StatusParts | null,
  format: TextFormat,
): Promise<Buffer> {
  const metrics = [...counted, ...(daemon === null ? [] : describeDaemonMetrics(daemon))];
  const pieces: Buffer[] = [];
  let slice = "";
  let points = 0;
  for (const lines of writeMetrics(metrics, format)) {
    slice += lines;
    points += 1;
    if (points % SLICE !== 0) continue;
    pieces.push(Buffer.from(slice));
    slice = "";
    await setImmediate();
  }
  return Buffer.concat([...pieces, Buffer.from(slice)]);
}
