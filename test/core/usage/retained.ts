import { createMeter } from "../../../src/core/usage/meter.ts";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import type { Reading } from "../../../src/core/usage/reading.ts";
import { measureUsed } from "../../helpers/process/used-memory.ts";

const CHUNK_BYTES = 64 * 1024;

/** Four times what a meter states, in bytes: room for what the runtime itself allocates while the test runs. */
export const MAY_RETAIN_BYTES = 1024 * 1024;

/**
 * Feeds `head` and then `filler` over and over until `total` bytes, all in one and the same buffer; tells how many bytes
 * more the meter holds then, and what it makes of them.
 */
export function feedOnAndOn(
  setup: MeterSetup,
  head: string,
  filler: string,
  total: number,
): { retained: number; reading: Reading } {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const meter = createMeter(setup);
  meter.feed(Buffer.from(head));
  meter.feed(chunk.fill(filler));
  const before = measureUsed();
  for (let fed = CHUNK_BYTES; fed < total; fed += CHUNK_BYTES) meter.feed(chunk.fill(filler));
  const retained = measureUsed() - before;
  return { retained, reading: meter.finish(false) };
}
