import { notifyDesktop } from "../../adapters/desktop-notifier.ts";
import type { Clock, Log } from "../../ports.ts";
import type { RecordFeed } from "../record-feed.ts";

/** Where notices go. */
interface NoticeParts {
  feed: Pick<RecordFeed, "notify">;
  clock: Pick<Clock, "now">;
  log: Log;
}

/** Publishes a notice: in the log, to `tail` and the dashboard, and on the desktop if it is to be shown there. */
export function announce({ feed, clock, log }: NoticeParts, notice: string, onDesktop: boolean): void {
  log.warn({}, notice);
  feed.notify({ ts: new Date(clock.now()).toISOString(), notice });
  if (onDesktop) notifyDesktop(notice, log);
}
