import type { UsageRecord } from "./ledger/record.ts";
import { isOfUpstream } from "./refusals/of-upstream.ts";
import { WEB_PAGE } from "./usage/reading.ts";

/**
 * How an upstream fails:
 * - `unreachable`: no connection
 * - `errors`: responses with 5xx, truncated ones, or none
 * - `key_refused`: 401 or 403
 * - `web_page`: a page of another server, or of a login to the network
 * - `redirect`: 3xx, which is never followed (SECURITY.md B4)
 */
export type FaultKind = "unreachable" | "errors" | "key_refused" | "web_page" | "redirect";

/** How many requests in a row make an upstream count as failing. What a single request can cause, a single one does not show. */
const IN_A_ROW: Record<FaultKind, number> = {
  unreachable: 1,
  web_page: 1,
  redirect: 1,
  key_refused: 2,
  errors: 3,
};

/** How many requests a history remembers, in the bits of a number. */
const REMEMBERED = 20;

/** What is known of one upstream since the daemon's start. */
export interface UpstreamHistory {
  newest: UsageRecord;
  /** The newest one that worked. */
  worked: UsageRecord | null;
  /** The newest one that the upstream failed; null once it has responded to another. */
  failed: UsageRecord | null;
  /** How `failed` and how many before it in a row failed in the same way; null without it. */
  fault: { kind: FaultKind; inARow: number } | null;
  /** A bit for each of the last requests that show how the upstream is, the newest last: 1 where it failed. */
  failures: number;
  /** How many bits there are. */
  count: number;
}

/** An upstream that fails. */
export interface Failing {
  kind: FaultKind;
  /** So many of the last `of` requests failed. */
  failed: number;
  of: number;
  /** The whole of it in words that follow the upstream's name and "fails: ". */
  summary: string;
}

const NONE: Omit<UpstreamHistory, "newest"> = {
  worked: null,
  failed: null,
  fault: null,
  failures: 0,
  count: 0,
};

/** Continues a history, which is null before the first record. */
export function continueHistory(history: UpstreamHistory | null, record: UsageRecord): UpstreamHistory {
  const before = history ?? NONE;
  const shown = judge(record);
  if (shown === null) return { ...before, newest: record };
  const isFault = shown !== "worked" && shown !== "responded";
  const inARow = isFault && before.fault?.kind === shown ? before.fault.inARow + 1 : 1;
  return {
    newest: record,
    worked: shown === "worked" ? record : before.worked,
    failed: isFault ? record : null,
    fault: isFault ? { kind: shown, inARow } : null,
    failures: ((before.failures << 1) | Number(isFault)) & (2 ** REMEMBERED - 1),
    count: Math.min(before.count + 1, REMEMBERED),
  };
}

/**
 * Says what a record shows of its upstream; null for nothing: the request was aborted, or refused because of the request or a key.
 * A response with 4xx is about its request, such as a mistyped model.
 */
function judge(record: UsageRecord): FaultKind | "worked" | "responded" | null {
  const { outcome, status, cut_by: cutBy, error_type: type, flags } = record;
  if (cutBy === "client") return null;
  if (outcome === "rejected") return isOfUpstream(type) ? "unreachable" : null;
  if (outcome === "cut") return isOfUpstream(type) || cutBy === "upstream" ? "errors" : null;
  if (status !== null && status >= 500) return "errors";
  if (isRedirect(status)) return "redirect";
  if (flags.includes(WEB_PAGE)) return "web_page";
  if (status === 401 || status === 403) return "key_refused";
  if (outcome !== "error" && outcome !== "failed") return "worked";
  return status !== null && status >= 300 ? "responded" : "errors";
}

/**
 * Returns how an upstream fails; null for one that does not: connections fail, a web page responds, or several requests in a row
 * ended in errors. `words` are those of our refusal, if the newest failure was one. The one judgement for `status`, `doctor`, the
 * status line, the dashboard and metrics.
 */
export function findFailing(history: UpstreamHistory | null, words: string | null): Failing | null {
  if (history?.failed == null || history.fault === null) return null;
  const { failed: record, fault, failures, count } = history;
  const { kind, inARow } = fault;
  if (inARow < IN_A_ROW[kind]) return null;
  const failed = countBits(failures);
  const many = count === 1 ? "1 of 1 request" : `${failed} of the last ${count} requests`;
  return { kind, failed, of: count, summary: `${many} failed: ${describeFailure(record, words)}` };
}

/** Returns what the upstream did wrong. `words` are those of our refusal, if we sent one. */
export function describeFailure(record: UsageRecord, words: string | null): string {
  const { status, error_type: type, outcome, flags } = record;
  if (words !== null) return words;
  if (type === "upstream_broke") return "it closed the connection before it responded";
  if (outcome === "cut") return "its response was truncated";
  const response = `${status ?? "an error"}${type === null || type === WEB_PAGE ? "" : ` (${type})`}`;
  if (isRedirect(status))
    return `it responded with a redirect (${status}), which tollkeeper never follows; the base URL is wrong`;
  if (flags.includes(WEB_PAGE) && (status ?? 0) < 500)
    return `it responded with a web page (${response}); the base URL is wrong, or a proxy or a network login is in between`;
  if (status === 401 || status === 403) return `it refused the key: ${response}`;
  return `it responded with ${response}`;
}

/** True for a response that sends its reader to another address. A 304 says that nothing has changed. */
export function isRedirect(status: number | null): boolean {
  return status !== null && status >= 300 && status < 400 && status !== 304;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
