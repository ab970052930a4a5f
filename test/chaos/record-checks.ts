import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { NOTE_AFTER_MS } from "./daemon-under-chaos.ts";
import { BY_NODE } from "./observed-response.ts";
import type {
  Observations,
  KnownTokens,
  ReceivedRequest,
  ObservedResponse,
  SentRequest,
  ExpectedResponse,
} from "./observations.ts";
import type { Check } from "./verdict.ts";

/** Refusals that come before a request has a route, and so a record. */
const BEFORE_RECORDS = new Set([
  "host_not_allowed",
  "origin_not_allowed",
  "browser_not_allowed",
  "peer_not_allowed",
  "bad_request",
  "pipelined",
  "http_version",
  "not_found",
  "method_not_allowed",
  "content_type",
  "upgrade_not_supported",
]);

/** What ended so shortly before a kill may have been unknown to the daemon, or to the other parties. */
const IN_FLIGHT_MS = 500;

/** Compares the ledger with the observations of clients and upstream. */
export class RecordChecks {
  readonly #observations: Observations;
  readonly #records = new Map<string, UsageRecord[]>();

  constructor(observations: Observations, records: readonly UsageRecord[]) {
    this.#observations = observations;
    for (const record of records) {
      const nonce = record.session ?? "no session";
      this.#records.set(nonce, [...this.#recordsOf(nonce), record]);
    }
  }

  /** Every response that a client received completely has exactly one equal record, or none where none is due. */
  completeResponses(): Check {
    const complete = [...this.#observations.sent.values()].filter(
      ({ response }) => response?.isComplete === true,
    );
    const faults = complete.flatMap((sent) => {
      const fault = this.#faultOfAnswer(sent);
      return fault === null ? [] : [`${sent.nonce} ${fault}`];
    });
    const refused = complete.filter(({ response }) => response?.refusal !== null).length;
    const figure = `${complete.length} complete, ${refused} of them refusals`;
    return { rule: "a complete response has one equal record", figure, faults };
  }

  /** Every request that the upstream received has one record, except young ones that were in flight at a kill. */
  receivedRequests(): Check {
    let excused = 0;
    const faults = [...this.#observations.received.values()].flatMap(({ nonce, receivedAt }) => {
      const count = this.#recordsOf(nonce).length;
      if (count === 1) return [];
      const kill = this.#killInFlight(nonce);
      if (count === 0 && kill !== null && kill - receivedAt < NOTE_AFTER_MS + IN_FLIGHT_MS) {
        excused += 1;
        return [];
      }
      const age = kill === null ? "" : `, ${Math.round(kill - receivedAt)} ms before a kill`;
      return [`${nonce} has ${count} records${age}`];
    });
    const { received, killedAt } = this.#observations;
    const noted = [...this.#records.values()].flat().filter(({ cut_by: cutBy }) => cutBy === "crash");
    const figure = `${received.size} seen; at ${killedAt.length} kills ${noted.length} noted, ${excused} young ones lost`;
    return { rule: "a request that the upstream received has one record", figure, faults };
  }

  /** No record without a request that may have one, no duplicates, and no record that claims more than happened. */
  truthfulRecords(): Check {
    const faults = [...this.#records].flatMap(([nonce, records]) => {
      const sent = this.#observations.sent.get(nonce);
      if (sent === undefined) return [`${nonce} was never sent`];
      if (sent.expectedRefusal !== null) return [`${nonce} was to be refused`];
      if (records.length > 1) return [`${nonce} has ${records.length} records`];
      return records.flatMap((record) => {
        if (record.cut_by === "crash" && this.#killInFlight(nonce) === null)
          return [`${nonce} was recorded as cut by a crash, and ended before`];
        const fault = faultOfRecord(record, sent, this.#observations.received.get(nonce));
        return fault === null ? [] : [`${nonce} ${fault}`];
      });
    });
    return { rule: "a record says what happened", figure: `${this.#records.size} records`, faults };
  }

  /** A client that waits receives every complete response completely, unless the daemon was stopped or killed meanwhile. */
  deliveredResponses(): Check {
    const due = [...this.#observations.received.values()].flatMap(({ nonce, ending }) => {
      const sent = this.#observations.sent.get(nonce);
      return ending === "complete" && sent?.isWaiting === true ? [sent] : [];
    });
    const lost = due.filter((sent) => sent.response?.isComplete !== true);
    const unexcused = lost.filter(
      ({ nonce }) => this.#killInFlight(nonce) === null && !this.#wasInFlightAtStop(nonce),
    );
    const faults = unexcused.map(({ nonce }) => `${nonce} did not get its whole response`);
    const figure = `${due.length} complete responses, ${lost.length - faults.length} lost in stops and kills`;
    return { rule: "a client that waits gets the whole response", figure, faults };
  }

  #wasInFlightAtStop(nonce: string): boolean {
    const { startedAt = 0, endedAt } = this.#observations.sent.get(nonce) ?? {};
    return this.#observations.stops.some(({ from, to }) => startedAt < to && (endedAt ?? Infinity) > from);
  }

  #recordsOf(nonce: string): UsageRecord[] {
    return this.#records.get(nonce) ?? [];
  }

  #faultOfAnswer({ nonce, response, expectedRefusal, isSentCompletely }: SentRequest): string | null {
    if (response === null) return "has no response";
    if (response.refusal === BY_NODE && !isSentCompletely) return null;
    const [record, second] = this.#recordsOf(nonce);
    const received = this.#observations.received.get(nonce);
    const { refusal } = response;
    if (expectedRefusal !== null && refusal !== expectedRefusal)
      return `got ${response.status} ${refusal}, not ${expectedRefusal}`;
    if (refusal !== null && BEFORE_RECORDS.has(refusal)) {
      return record === undefined && received === undefined
        ? null
        : `${refusal}, and was recorded or forwarded`;
    }
    if (record === undefined || second !== undefined) return "has no record, or two";
    if (refusal !== null) return faultOfRefusal(record, response);
    if (received?.expected == null || received.ending === "truncated")
      return `looks complete after "${received?.behaviour}"`;
    return faultOfResponse(record, response, received.expected);
  }

  /** Returns when a kill hit the request; null when none did. */
  #killInFlight(nonce: string): number | null {
    const sent = this.#observations.sent.get(nonce);
    if (sent === undefined) return null;
    // Node's own response to a client that stopped within its body precedes the record.
    if (sent.response?.isComplete === true && sent.response.refusal !== BY_NODE) return null;
    const receivedUntil = this.#observations.received.get(nonce)?.endedAt ?? Infinity;
    const until = Math.max(sent.endedAt ?? Infinity, receivedUntil);
    const isHit = (at: number) => sent.startedAt < at && until > at - IN_FLIGHT_MS;
    return this.#observations.killedAt.find(isHit) ?? null;
  }
}

function faultOfRefusal(record: UsageRecord, { status, refusal }: ObservedResponse): string | null {
  const isOurs = record.outcome === "rejected" || record.outcome === "cut";
  const isSame = record.status === status && record.error_type === refusal;
  if (isOurs && isSame && record.tokens === null) return null;
  return `refused with ${status} ${refusal}, recorded ${record.status} ${record.outcome} ${record.error_type}`;
}

function faultOfResponse(
  record: UsageRecord,
  response: ObservedResponse,
  expected: ExpectedResponse,
): string | null {
  if (response.status !== expected.status) return `status ${response.status}, sent ${expected.status}`;
  if (expected.digest !== undefined && response.digest !== expected.digest)
    return "other bytes than the upstream sent";
  if (record.bytes_out !== response.bodyBytes)
    return `bytes_out ${record.bytes_out}, not ${response.bodyBytes}`;
  if (record.upstream_request_id !== `req_${record.session}`)
    return `upstream id ${record.upstream_request_id}`;
  const recorded = {
    status: record.status,
    outcome: record.outcome,
    usage: record.usage,
    responseId: record.response_id,
    errorType: record.error_type,
  };
  for (const [name, value] of Object.entries(recorded)) {
    const wanted = expected[name as keyof typeof recorded];
    if (wanted !== undefined && value !== wanted) return `recorded ${name} ${value}, not ${wanted}`;
  }
  return expected.tokens === undefined || isSameTokens(record, expected.tokens) ? null : "other tokens";
}

function faultOfRecord(
  record: UsageRecord,
  { mark, bodyBytes, response }: SentRequest,
  received: ReceivedRequest | undefined,
): string | null {
  if (mark !== null && (record.tool !== mark || record.tool_by !== "path")) return `tool ${record.tool}`;
  if (record.bytes_in > bodyBytes) return `bytes_in ${record.bytes_in} of ${bodyBytes}`;
  // Where the upstream broke off before its response, the client's connection breaks off, too.
  const isReset = record.error_type === "upstream_broke";
  if (isReset && response !== null && response.refusal !== BY_NODE) return `got ${response.status}`;
  const isOurs = record.outcome === "rejected" || record.outcome === "cut";
  if (!isOurs && received === undefined) return `${record.outcome}, and never forwarded`;
  if (record.usage !== "final") return null;
  const expected = received?.expected ?? (record.outcome === "cut" ? received?.expectedIfCut : null) ?? null;
  if (expected === null) return `final usage after "${received?.behaviour}"`;
  return expected.tokens === undefined || isSameTokens(record, expected.tokens) ? null : "other tokens";
}

function isSameTokens({ tokens }: UsageRecord, expected: KnownTokens | null): boolean {
  if (tokens === null || expected === null) return tokens === expected;
  const names = Object.keys(expected) as (keyof KnownTokens)[];
  const total = names.reduce((sum, name) => sum + expected[name], 0);
  return tokens.total === total && names.every((name) => tokens[name] === expected[name]);
}
