import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { matchRecords } from "../match-records.ts";
import { outputTokens, type BookEntry, type Books } from "./books.ts";

/** A response that lasts this long is recorded whatever happens (`ledger.noteAfterMs`). */
export const NOTE_AFTER_MS = 150;

/** Each has to happen, or the run proves nothing. */
const EXPECTED = [
  "create",
  "warm-up",
  "steer",
  "forbidden",
  "accepted steer",
  "fragmented message",
  "fragmented event",
  "slow reader",
  "client left in mid-response",
  "cut by the upstream",
  "closed with 1012",
  "new key",
  "reload",
  "kill",
] as const;

/** What the comparison of all books found. */
export interface SocketReport {
  counts: ReadonlyMap<string, number>;
  messages: number;
  /** Ended at the client: each has one exact record. */
  answered: number;
  /** Begun at the upstream and not ended at the client: each has one record, unless it was young at a kill. */
  owed: { turns: number; recorded: number; final: number };
  young: { turns: number; recorded: number };
  /** Input tokens of what the upstream has ended and the ledger knows: by the upstream, and by the ledger. */
  tokens: { upstream: number; ledger: number };
  records: number;
  faults: string[];
}

/** Compares the ledger with the books of clients and upstream, turn by turn. */
export function checkBooks(books: Books, records: readonly UsageRecord[]): SocketReport {
  const report: SocketReport = {
    counts: books.counts,
    messages: books.entries.length,
    answered: 0,
    owed: { turns: 0, recorded: 0, final: 0 },
    young: { turns: 0, recorded: 0 },
    tokens: { upstream: 0, ledger: 0 },
    records: records.length,
    faults: [...books.faults],
  };
  for (const what of EXPECTED) if (!books.counts.has(what)) report.faults.push(`never happened: ${what}`);
  report.faults.push(
    ...matchRecords("message", books.entries, records, (entry, record) =>
      countEntry(report, books, entry, record),
    ),
  );
  return report;
}

/** Counts a message. Returns what is wrong with it, or null. */
function countEntry(
  report: SocketReport,
  books: Books,
  entry: BookEntry,
  record: UsageRecord | undefined,
): string | null {
  const round = books.rounds[entry.round];
  if (round === undefined) return "was sent after the last round";
  if (entry.arrivals > 1) return `reached the upstream ${entry.arrivals} times`;
  if (entry.kind === "forbidden") return faultOfForbidden(entry, record);
  // A steer has a turn once the daemon has read the beginning of its successor. That is certain once the client has it.
  const since = entry.kind === "steer" ? entry.seenAt : entry.arrivedAt;
  const isYoung =
    round.end === "kill" && since !== null && round.endedAt - since < NOTE_AFTER_MS + round.lagMs;
  if (entry.isAnswered) report.answered += 1;
  else if (since !== null) {
    const found = isYoung ? report.young : report.owed;
    found.turns += 1;
    if (record !== undefined) found.recorded += 1;
    if (record?.usage === "final") report.owed.final += isYoung ? 0 : 1;
  }
  if (record === undefined) {
    if (entry.isAnswered) return "was answered, and has no record";
    if (since === null || isYoung) return null;
    const age = Math.round(round.endedAt - since);
    return `was under way for ${age} ms at a ${round.end} (late by ${Math.round(round.lagMs)} ms), and has no record`;
  }
  if (entry.begunAt === null && entry.kind === "steer")
    return `began no response, and is recorded as ${record.outcome} (${record.error_type})`;
  if (record.cut_by === "crash" && round.end !== "kill") return "was cut by a crash, and there was none";
  return faultOfUsage(report, entry, record);
}

function faultOfForbidden(
  { arrivals, isAnswered }: BookEntry,
  record: UsageRecord | undefined,
): string | null {
  if (arrivals > 0) return "reached the upstream";
  if (record === undefined) return isAnswered ? "was refused, and has no record" : null;
  return record.outcome === "rejected" ? null : `is recorded as ${record.outcome}`;
}

function faultOfUsage(report: SocketReport, entry: BookEntry, record: UsageRecord): string | null {
  const { usage, tokens, outcome, flags, response_id: id } = record;
  const isBegun = entry.begunAt !== null;
  if (id !== null && id !== `resp_${entry.number}`) return `is recorded as the response ${id}`;
  const isWhole = entry.ending !== null && entry.ending !== "error";
  if (!entry.isAnswered && usage !== "final") return null;
  if (entry.ending === "error") return tokens === null ? null : "got an error, and has tokens";
  if (!isWhole || !isBegun) return `has usage ${usage}, and the upstream has not ended it`;
  report.tokens.upstream += entry.number;
  report.tokens.ledger += tokens?.input_total ?? 0;
  if (outcome !== entry.ending) return `ended as ${entry.ending}, and is recorded as ${outcome}`;
  if (usage !== "final") return `was answered, and its usage is ${usage}`;
  if (tokens?.input_total !== entry.number) return `has ${tokens?.input_total} input tokens`;
  if (flags.includes("warmup") !== (entry.kind === "warm-up")) return `has the flags ${flags.join()}`;
  return tokens.output === outputTokens(entry) ? null : `has ${tokens.output} output tokens`;
}
