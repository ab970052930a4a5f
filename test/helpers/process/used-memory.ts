import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Returns how many bytes are in use after garbage collection: the heap and the buffers outside it. */
export function measureUsedMemory(): number {
  // Buffers are freed in the background, and reliably only when the next collection starts.
  collectGarbage();
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
