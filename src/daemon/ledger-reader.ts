import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Tasks } from "./ledger-reader/program.ts";

/** As it was built, also where the source runs: tsx does not compile what a worker loads. */
const PROGRAM = fileURLToPath(import.meta.resolve("#package/dist/daemon/ledger-reader/program.js"));

/**
 * Has a thread of its own read the ledger, so that requests wait for nothing, and resolves to what it makes of it. A daemon that stops does
 * not wait for it. Rejects when it fails.
 */
export function readInThread<Name extends keyof Tasks>(
  name: Name,
  ...given: Parameters<Tasks[Name]>
): Promise<Awaited<ReturnType<Tasks[Name]>>> {
  const workerData = { name, given };
  // What reads records has garbage at once.
  const worker = new Worker(PROGRAM, { workerData, resourceLimits: { maxYoungGenerationSizeMb: 4 } });
  worker.unref();
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("a thread that reads the ledger ended without an answer")));
  });
}
