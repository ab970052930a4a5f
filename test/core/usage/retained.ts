import { createMeter, type MeterSetup } from "../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";
import { measureUsedMemory } from "../../helpers/process/used-memory.ts";

const CHUNK_BYTES = 64 * 1024;

/** Four times a meter's documented limits, because the runtime allocates memory during the test, too. */
export const MAX_RETAINED_BYTES = 1024 * 1024;

/**
 * Feeds `head` and then `filler` repeatedly, up to `total` bytes, all in the same buffer. Returns how many more bytes the meter
 * holds after that, and its reading.
 */
export function feedRepeatedly(
  setup: MeterSetup,
  head: string | Buffer,
  filler: string,
  total: number,
): { retained: number; reading: MeterReading } {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const meter = createMeter(setup);
  meter.feed(typeof head === "string" ? Buffer.from(head) : head);
  meter.feed(chunk.fill(filler));
  const before = measureUsedMemory();
  for (let fed = CHUNK_BYTES; fed < total; fed += CHUNK_BYTES) meter.feed(chunk.fill(filler));
  const retained = measureUsedMemory() - before;
  return { retained, reading: meter.finish(false) };
}
