import type { Calendar } from "../ledger/calendar.ts";
import type { SummableRecord } from "../ledger/record.ts";

/** A window that a service had, in milliseconds since 1970. `until` is the first moment after it. */
export interface WindowSpan {
  from: number;
  until: number;
}

/** The windows that a service had for an account. `upstream` and `key` are those of the records whose requests the account paid. */
export interface AccountWindows {
  account: string;
  upstream: string;
  key: string;
  /** The earliest first; none overlaps another. */
  spans: readonly WindowSpan[];
}

/** Names the window that a request belongs to; null where none is known. */
export type WindowNamer = (record: Pick<SummableRecord, "ts" | "upstream" | "key">) => string | null;

/** Prepares the names of windows, which begin with their time: `2026-11-29 11:40 to 16:40 default`. */
export function nameWindows(accounts: readonly AccountWindows[], calendar: Calendar): WindowNamer {
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone: calendar.zone,
    hour: "2-digit",
    minute: "2-digit",
  });
  const write = ({ from, until }: WindowSpan, account: string) => {
    const [day, last] = [calendar.dayOf(from), calendar.dayOf(until)];
    const end = last === day ? clock.format(until) : `${last} ${clock.format(until)}`;
    return `${day} ${clock.format(from)} to ${end} ${account}`;
  };
  const named = new Map(
    accounts.map(({ account, upstream, key, spans }) => [
      `${upstream} ${key}`,
      spans.map((span) => ({ ...span, name: write(span, account) })),
    ]),
  );
  return ({ ts, upstream, key }) => {
    const time = Date.parse(ts);
    const span = named.get(`${upstream} ${key}`)?.findLast(({ from }) => from <= time);
    return span !== undefined && time < span.until ? span.name : null;
  };
}
