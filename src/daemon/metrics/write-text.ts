import { setImmediate } from "node:timers/promises";
import type { Metric } from "../../core/metrics/metric.ts";
import { writeMetrics, type TextFormat } from "../../core/metrics/prometheus-text.ts";

/** How many points are written at once: about 1 ms. */
const SLICE = 100;

/** Writes metrics as text. Yields to other work. */
export async function writeText(metrics: readonly Metric[], format: TextFormat): Promise<Buffer> {
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
