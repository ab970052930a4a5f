import { parentPort, workerData } from "node:worker_threads";
import type { Count, CountQuestion } from "./count.ts";
import { Counter } from "./counter.ts";
import { budgetSettings } from "./settings.ts";

// A thread's program: counts what the ledger says was spent, and ends. Its heap goes with it.

const question = workerData as CountQuestion;
const counter = new Counter(question, await budgetSettings(question.config, () => null));
await counter.count();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage({ book: counter.book.encode(), lastIds: counter.lastIds } satisfies Count);
