import { parentPort, workerData } from "node:worker_threads";
import { findDays, visitDay } from "../../adapters/ledger-file.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";
import { RecentSpending } from "../../core/ledger/recent-spending.ts";
import type { History, HistoryQuestion } from "./history.ts";

// A worker's program: reads the ledger and ends. Its heap goes with it; in the daemon's own heap, what the records of a busy day take
// while they are read would stay (docs/statusline.md).

const { directory, from, now, limits } = workerData as HistoryQuestion;

/** A record is written when its exchange ends, so one that ended earlier than this was there before the question. */
const MARGIN_MS = 60_000;

const recent = new RecentSpending(localCalendar(), now, limits);
const lastIds: string[] = [];
for (const day of await findDays(directory, { from })) {
  // Copies of a record are on the same day.
  const ids = new Set<string>();
  await visitDay(directory, day, (record) => {
    if ("unreadable" in record || ids.has(record.id)) return;
    ids.add(record.id);
    recent.add(record, now);
    if (Date.parse(record.ts) + record.duration_ms > now - MARGIN_MS) lastIds.push(record.id);
  });
}
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage({ recent: recent.toDocument(), lastIds } satisfies History);
