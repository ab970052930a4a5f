import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { BY_NODE } from "./answer-reader.ts";
import type { Books, KnownTokens, Seen, SeenAnswer, Sent, Truth } from "./books.ts";
import type { Check } from "./verdict.ts";

/** Refusals that come before a request has a route, and so a record. */
const BEFORE_RECORDS = new Set([
  "host_not_allowed",
  "origin_not_allowed",
  "peer_not_allowed",
  "bad_request",
  "http_version",
  "not_found",
  "method_not_allowed",
  "content_type",
  "upgrade_not_supported",
]);

/** What the daemon had ended so shortly before it was killed may not have reached it, or it may not have reached others. */
const IN_FLIGHT_MS = 500;

/** The ledger beside the books of clients and upstream. */
export class Ledgers {
  readonly #books: Books;
  readonly #records = new Map<string, UsageRecord[]>();

  constructor(books: Books, records: readonly UsageRecord[]) {
    this.#books = books;
    for (const record of records) {
      const nonce = record.session ?? "no session";
      this.#records.set(nonce, [...this.#recordsOf(nonce), record]);
    }
  }

  /** Every answer that a client saw end has its one record, with the same figures and bytes; or none, where none is due. */
  completeAnswers(): Check {
    const complete = [...this.#books.sent.values()].filter(({ answer }) => answer?.isComplete === true);
    const faults = complete.flatMap((sent) => {
      const fault = this.#faultOfAnswer(sent);
      return fault === null ? [] : [`${sent.nonce} ${fault}`];
    });
    const refused = complete.filter(({ answer }) => answer?.refusal !== null).length;
    const figure = `${complete.length} seen complete, ${refused} of them refusals`;
    return { rule: "an answer seen complete has one record, equal to it", figure, faults };
  }

  /** Every request that the upstream saw has one record, but for those that a killed daemon was at work on. */
  seenRequests(): Check {
    let excused = 0;
    const faults = [...this.#books.seen.values()].flatMap(({ nonce }) => {
      const count = this.#recordsOf(nonce).length;
      if (count === 1) return [];
      if (count === 0 && this.#wasInFlightAtKill(nonce)) {
        excused += 1;
        return [];
      }
      return [`${nonce} has ${count} records`];
    });
    const { seen, killedAt } = this.#books;
    const figure = `${seen.size} seen, ${excused} in flight at one of ${killedAt.length} kills`;
    return { rule: "a request that the upstream saw has one record", figure, faults };
  }

  /** No record without a request that may have one, none twice, and none that says more than was there. */
  honestRecords(): Check {
    const faults = [...this.#records].flatMap(([nonce, records]) => {
      const sent = this.#books.sent.get(nonce);
      if (sent === undefined) return [`${nonce} was sent by nobody`];
      if (sent.mustRefuse !== null) return [`${nonce} was to be refused`];
      if (records.length > 1) return [`${nonce} has ${records.length} records`];
      return records.flatMap((record) => {
        const fault = faultOfRecord(record, sent, this.#books.seen.get(nonce));
        return fault === null ? [] : [`${nonce} ${fault}`];
      });
    });
    return { rule: "a record says what was", figure: `${this.#records.size} records`, faults };
  }

  /** A client that waits gets all of an answer that ended well, unless the daemon itself was ended meanwhile. */
  answersDelivered(): Check {
    const due = [...this.#books.seen.values()].flatMap(({ nonce, ending }) => {
      const sent = this.#books.sent.get(nonce);
      return ending === "whole" && sent?.isStaying === true ? [sent] : [];
    });
    const lost = due.filter((sent) => sent.answer?.isComplete !== true);
    const unexcused = lost.filter(
      ({ nonce }) => !this.#wasInFlightAtKill(nonce) && !this.#wasInFlightAtStop(nonce),
    );
    const faults = unexcused.map(({ nonce }) => `${nonce} did not get all of its answer`);
    const figure = `${due.length} whole answers, ${lost.length - faults.length} lost in stops and kills`;
    return { rule: "a client that waits gets the whole answer", figure, faults };
  }

  #wasInFlightAtStop(nonce: string): boolean {
    const { startedAt = 0, endedAt } = this.#books.sent.get(nonce) ?? {};
    return this.#books.stops.some(({ from, to }) => startedAt < to && (endedAt ?? Infinity) > from);
  }

  #recordsOf(nonce: string): UsageRecord[] {
    return this.#records.get(nonce) ?? [];
  }

  #faultOfAnswer({ nonce, answer, mustRefuse, isSentWhole }: Sent): string | null {
    if (answer === null) return "has no answer";
    if (answer.refusal === BY_NODE && !isSentWhole) return null;
    const [record, second] = this.#recordsOf(nonce);
    const seen = this.#books.seen.get(nonce);
    const { refusal } = answer;
    if (mustRefuse !== null && refusal !== mustRefuse)
      return `got ${answer.status} ${refusal}, not ${mustRefuse}`;
    if (refusal !== null && BEFORE_RECORDS.has(refusal)) {
      return record === undefined && seen === undefined ? null : `${refusal}, and was recorded or forwarded`;
    }
    if (record === undefined || second !== undefined) return "has no record, or two";
    if (refusal !== null) return faultOfRefusal(record, answer);
    if (seen?.truth == null || seen.ending === "broken") return `looks complete after "${seen?.behaviour}"`;
    return faultOfWhole(record, answer, seen.truth);
  }

  #wasInFlightAtKill(nonce: string): boolean {
    const sent = this.#books.sent.get(nonce);
    if (sent === undefined) return false;
    // What Node says by itself, to a client that stopped within its body, comes before the record.
    if (sent.answer?.isComplete === true && sent.answer.refusal !== BY_NODE) return false;
    const seenUntil = this.#books.seen.get(nonce)?.endedAt ?? Infinity;
    const until = Math.max(sent.endedAt ?? Infinity, seenUntil);
    return this.#books.killedAt.some((at) => sent.startedAt < at && until > at - IN_FLIGHT_MS);
  }
}

function faultOfRefusal(record: UsageRecord, { status, refusal }: SeenAnswer): string | null {
  const isOurs = record.outcome === "rejected" || record.outcome === "cut";
  const isSame = record.status === status && record.error_type === refusal;
  if (isOurs && isSame && record.tokens === null) return null;
  return `refused with ${status} ${refusal}, recorded ${record.status} ${record.outcome} ${record.error_type}`;
}

function faultOfWhole(record: UsageRecord, answer: SeenAnswer, truth: Truth): string | null {
  if (answer.status !== truth.status) return `status ${answer.status}, sent ${truth.status}`;
  if (truth.digest !== undefined && answer.digest !== truth.digest)
    return "other bytes than the upstream sent";
  if (record.bytes_out !== answer.bodyBytes) return `bytes_out ${record.bytes_out}, not ${answer.bodyBytes}`;
  if (record.upstream_request_id !== `req_${record.session}`)
    return `upstream id ${record.upstream_request_id}`;
  const said = {
    status: record.status,
    outcome: record.outcome,
    usage: record.usage,
    responseId: record.response_id,
    errorType: record.error_type,
  };
  for (const [name, value] of Object.entries(said)) {
    const expected = truth[name as keyof typeof said];
    if (expected !== undefined && value !== expected) return `recorded ${name} ${value}, not ${expected}`;
  }
  return truth.tokens === undefined || isSameTokens(record, truth.tokens) ? null : "other tokens";
}

function faultOfRecord(
  record: UsageRecord,
  { mark, bodyBytes }: Sent,
  seen: Seen | undefined,
): string | null {
  if (mark !== null && (record.tool !== mark || record.tool_by !== "path")) return `tool ${record.tool}`;
  if (record.bytes_in > bodyBytes) return `bytes_in ${record.bytes_in} of ${bodyBytes}`;
  const isOurs = record.outcome === "rejected" || record.outcome === "cut";
  if (!isOurs && seen === undefined) return `${record.outcome}, and never forwarded`;
  if (record.usage !== "final") return null;
  const truth = seen?.truth ?? (record.outcome === "cut" ? seen?.begun : null) ?? null;
  if (truth === null) return `final usage after "${seen?.behaviour}"`;
  return truth.tokens === undefined || isSameTokens(record, truth.tokens) ? null : "other tokens";
}

function isSameTokens({ tokens }: UsageRecord, truth: KnownTokens | null): boolean {
  if (tokens === null || truth === null) return tokens === truth;
  const names = Object.keys(truth) as (keyof KnownTokens)[];
  const total = names.reduce((sum, name) => sum + truth[name], 0);
  return tokens.total === total && names.every((name) => tokens[name] === truth[name]);
}
