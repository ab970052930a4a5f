import { hasDaysToClose } from "../adapters/ledger-file.ts";
import { messageOf } from "../core/failure.ts";
import type { PriceSettings } from "../core/config/config.ts";
import type { LedgerLocation, Log } from "../ports.ts";
import type { ClosingQuestion } from "./housekeeping/close-ledger-days.ts";
import { readInThread } from "./ledger-reader.ts";

/**
 * Returns what closes the days of a ledger that are over, in a thread of its own, so that requests wait for nothing. It resolves when
 * that is done, and never rejects. One call waits for the one before.
 */
export function housekeepingFor(
  log: Log,
): (location: LedgerLocation, now: number, prices: PriceSettings) => Promise<void> {
  let last = Promise.resolve();
  return (location, now, prices) => {
    last = last.then(() => keepHouse({ ...location, now, prices }, log));
    return last;
  };
}

async function keepHouse(closing: ClosingQuestion, log: Log): Promise<void> {
  const { directory } = closing;
  try {
    if (!hasDaysToClose(closing)) return;
    const { compressed, deleted, problems } = await readInThread("housekeeping", closing);
    for (const file of deleted)
      log.info(
        { file, retainDays: closing.retainDays },
        "an old day of the ledger was deleted; its sums are kept",
      );
    if (compressed > 0) log.info({ days: compressed }, "days of the ledger that are over were compressed");
    for (const { day, reason } of problems)
      log.warn(
        { directory, day, reason },
        "a day of the ledger that is over could not be summed up, compressed or deleted",
      );
  } catch (error) {
    log.warn(
      { directory, reason: messageOf(error) },
      "the days of the ledger that are over stay as they are",
    );
  }
}
