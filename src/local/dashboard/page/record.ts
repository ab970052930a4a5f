import type { RunningRequest } from "../../../core/ledger/running-request.ts";
import type { FeedEntry } from "./feed-types.ts";
import { load } from "./later.ts";
import type { showRecord } from "./record-dialog.ts";

/** Sent where a record cannot be shown, because no daemon sends the dialog. */
export const NO_RECORD = "tollkeeper-no-record";

/** Opens an entry in the dialog, which is loaded the first time. */
export function openRecord(entry: FeedEntry | RunningRequest): void {
  load<{ showRecord: typeof showRecord }>("record").then(
    (part) => part.showRecord(entry),
    () => dispatchEvent(new Event(NO_RECORD)),
  );
}
