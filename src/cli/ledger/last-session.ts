import { findDays, readLedger } from "../../adapters/ledger-file.ts";
import { Failure } from "../../core/failure.ts";
import type { Period } from "../../core/ledger/period.ts";
import { isWanted, type RecordFilter } from "../../core/ledger/record-filter.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { LAST } from "../last-id.ts";
import { daysOf } from "./records-of-period.ts";

const ALL_TIME: Period = { since: 0, until: null, title: "any day" };

/**
 * Returns a filter with the id of a session in place of `last`: the session of the newest request of the period that all else of the
 * filter admits. Other filters stay as they are.
 * @throws Failure where no such request has a session
 */
export async function nameLastSession<Given extends RecordFilter>(
  given: Given,
  directory: string,
  period: Period = ALL_TIME,
): Promise<Given> {
  if (given.session !== LAST) return given;
  return { ...given, session: await findLastSession(directory, { ...given, session: undefined }, period) };
}

/** What of a record says to which session it belongs. */
interface Step extends Pick<UsageRecord, "session" | "agent"> {
  isWanted: boolean;
}

/** Goes back from the newest request. The days are read whole, newest first, until it is known which session has no parent. */
async function findLastSession(directory: string, filter: RecordFilter, period: Period): Promise<string> {
  let session: string | null = null;
  for (const day of findDays(directory, daysOf(period)).toReversed()) {
    for (const step of (await readSteps(directory, day, filter, period)).toReversed()) {
      if (session === null) session = step.isWanted ? step.session : null;
      // A child of a child session names only the child.
      else if (step.agent === session) session = step.session;
      // A child session's own requests name its parent.
      if (session !== null && step.session === session && step.agent === null) return session;
    }
  }
  if (session !== null) return session;
  throw new Failure(
    `no request with a session is recorded for ${period.title}`,
    "to see the sessions that are, type: tollkeeper usage --by session",
  );
}

async function readSteps(
  directory: string,
  day: string,
  filter: RecordFilter,
  { since, until }: Period,
): Promise<Step[]> {
  const firstTs = new Date(since).toISOString();
  const endTs = until === null ? null : new Date(until).toISOString();
  const steps: Step[] = [];
  for await (const entry of readLedger(directory, { from: day, to: day })) {
    if ("unreadable" in entry || entry.session === null) continue;
    const { ts, session, agent } = entry;
    const isInPeriod = ts >= firstTs && (endTs === null || ts < endTs);
    steps.push({ session, agent, isWanted: isInPeriod && isWanted(filter, entry, entry) });
  }
  return steps;
}
