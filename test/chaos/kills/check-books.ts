import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { matchRecords } from "../match-records.ts";
import { outputTokens, type BookEntry, type Books } from "./books.ts";

/** A request that lasts this long is recorded whatever happens (`ledger.noteAfterMs`). */
const NOTE_AFTER_MS = 1000;
/** Usage that the upstream sent in the first so many milliseconds is in the first note, unless the machine was busy. */
const USAGE_IN_NOTE_MS = 500;

/** What the comparison of all books found. */
export interface KillReport {
  kills: number;
  requests: number;
  /** Answered in full: each has one exact record. */
  answered: number;
  /** Not answered, and older than a second at the kill: each has one record. */
  owed: { requests: number; recorded: number; final: number; partial: number; absent: number };
  /** Not answered, and younger: each may have one record. */
  young: { requests: number; recorded: number };
  /** The age of the oldest request without a record, in milliseconds. */
  oldestUnrecordedMs: number;
  /** Input and output tokens of all requests whose usage the daemon had seen for sure: by the upstream and by the ledger. */
  tokens: { upstream: number; ledger: number };
  /** Records that were made of notes. */
  recovered: number;
  /** Lines that a kill tore. */
  torn: number;
  faults: string[];
}

/** Compares the ledger with the books of clients and upstream. */
export function checkBooks(books: Books, records: readonly UsageRecord[], torn: number): KillReport {
  const report: KillReport = {
    kills: books.rounds.length,
    requests: books.entries.length,
    answered: 0,
    owed: { requests: 0, recorded: 0, final: 0, partial: 0, absent: 0 },
    young: { requests: 0, recorded: 0 },
    oldestUnrecordedMs: 0,
    tokens: { upstream: 0, ledger: 0 },
    recovered: records.filter(({ cut_by: cutBy }) => cutBy === "crash").length,
    torn,
    faults: [],
  };
  report.faults.push(
    ...matchRecords("request", books.entries, records, (entry, record) =>
      countEntry(report, books, entry, record),
    ),
  );
  return report;
}

/** Counts a request. Returns what is wrong with its record, or null. */
function countEntry(
  report: KillReport,
  books: Books,
  entry: BookEntry,
  record: UsageRecord | undefined,
): string | null {
  const round = books.rounds[entry.round];
  if (round === undefined) return "was sent after the last kill";
  const age = entry.receivedAt === null ? 0 : round.killedAt - entry.receivedAt;
  if (entry.isAnswered) {
    report.answered += 1;
    if (record?.usage !== "final")
      return `was answered in full, and its usage is ${record?.usage ?? "not recorded"}`;
  } else if (age >= NOTE_AFTER_MS) {
    report.owed.requests += 1;
    if (record !== undefined) report.owed.recorded += 1;
    if (record?.usage === "final" || record?.usage === "partial" || record?.usage === "absent")
      report.owed[record.usage] += 1;
  } else {
    report.young.requests += 1;
    if (record !== undefined) report.young.recorded += 1;
  }
  if (record === undefined) {
    report.oldestUnrecordedMs = Math.max(report.oldestUnrecordedMs, Math.round(age));
    return age < NOTE_AFTER_MS + round.lagMs
      ? null
      : `was ${Math.round(age)} ms under way, and has no record`;
  }
  const sawUsage =
    entry.isAnswered || (age >= NOTE_AFTER_MS + round.lagMs && wasUsageEarly(entry, round.lagMs));
  if (sawUsage) {
    report.tokens.upstream += entry.number;
    report.tokens.ledger += record.tokens?.input_total ?? 0;
  }
  return faultOfRecord(entry, record, sawUsage);
}

function wasUsageEarly({ receivedAt, usageAt }: BookEntry, lagMs: number): boolean {
  return receivedAt !== null && usageAt !== null && usageAt - receivedAt < USAGE_IN_NOTE_MS - lagMs;
}

function faultOfRecord(
  entry: BookEntry,
  { tokens, usage, outcome, cut_by: cutBy }: UsageRecord,
  sawUsage: boolean,
): string | null {
  if (cutBy === "crash" && entry.isAnswered) return "was answered, and is recorded as cut by a crash";
  if (outcome === "cut" && cutBy !== "crash") return `was cut by ${cutBy}, which nothing but kills did`;
  if (tokens === null) return sawUsage ? `has no usage (${usage}), which the upstream had sent` : null;
  if (tokens.input_total !== entry.number) return `has ${tokens.input_total} input tokens`;
  const output = usage === "final" ? outputTokens(entry.number) : 1;
  return tokens.output === output ? null : `has ${tokens.output} output tokens, not ${output}`;
}
