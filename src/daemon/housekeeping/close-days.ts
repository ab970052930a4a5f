import { parentPort, workerData } from "node:worker_threads";
import { closeDays } from "../../adapters/ledger-file/closed-days.ts";
import { loadPriceBook } from "../../adapters/price-table.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";
import type { ClosingQuestion } from "../housekeeping.ts";

// A worker's program: closes days and ends. Its heap goes with it.

const { prices, ...closing } = workerData as ClosingQuestion;
const limits = (await loadPriceBook(prices)).allLimits();
const closed = await closeDays({ ...closing, limits }, localCalendar());
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(closed);
