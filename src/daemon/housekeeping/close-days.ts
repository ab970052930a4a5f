import { parentPort, workerData } from "node:worker_threads";
import type { Closing } from "../../adapters/ledger-file.ts";
import { closeDays } from "../../adapters/ledger-file/closed-days.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";

// A worker's program: closes days and ends. Its heap goes with it.

const closed = await closeDays(workerData as Closing, localCalendar());
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(closed);
