import { Worker } from "node:worker_threads";

/**
 * Runs a program in a thread of its own, so that requests wait for nothing, and resolves to its first message. A daemon that stops does
 * not wait for it. Rejects when it fails, or ends without a message.
 */
export function runThread<Answer>(program: string, workerData: unknown): Promise<Answer> {
  // What reads records has garbage at once.
  const worker = new Worker(program, { workerData, resourceLimits: { maxYoungGenerationSizeMb: 4 } });
  worker.unref();
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("a thread that reads the ledger ended without an answer")));
  });
}
