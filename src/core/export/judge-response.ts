/** What a receiver responded with. */
interface OtlpResponse {
  status: number;
  contentType: string;
  retryAfter: string | undefined;
}

/**
 * What a response means for the data that was sent (https://opentelemetry.io/docs/specs/otlp/#failures-1).
 * - `accepted`: the receiver has it, but for what it says that it rejected
 * - `later`: it may be accepted later; not before `afterMs`, if the receiver said so
 * - `never`: this data is not accepted, whenever it is sent
 */
export type Verdict =
  | { kind: "accepted" }
  | { kind: "later"; reason: string; hint: string | null; afterMs: number | null }
  | { kind: "never"; reason: string };

/** The statuses by which a receiver says that it is not ready. */
const NOT_READY: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/**
 * The specification says to drop data after such a response. The cause here is a wrong setting, and the ledger still has
 * everything once that is corrected.
 */
const WRONG_SETTING: Readonly<Record<number, string>> = {
  401: "it requires other credentials: store them with: tollkeeper export header NAME",
  403: "it does not accept data with these credentials: store others with: tollkeeper export header NAME",
  404: "it accepts no OTLP at this path: correct export.otlp.endpoint with: tollkeeper config edit",
  405: "it does not accept OTLP: correct export.otlp.endpoint with: tollkeeper config edit",
  407: "the proxy requires credentials: set them in outbound.httpsProxy with: tollkeeper config edit",
};

const WRONG_ENDPOINT = "correct export.otlp.endpoint with: tollkeeper config edit";

/** The longest wait that a receiver may ask for. */
const LONGEST_WAIT_MS = 3_600_000;

/** Judges a response. `now` in milliseconds since 1970. */
export function judgeResponse({ status, contentType, retryAfter }: OtlpResponse, now: number): Verdict {
  if (status >= 200 && status < 300) {
    if (!contentType.startsWith("text/html")) return { kind: "accepted" };
    return { kind: "later", reason: "it responded with a web page", hint: WRONG_ENDPOINT, afterMs: null };
  }
  const reason = `it responded with ${status}`;
  if (NOT_READY.has(status))
    return { kind: "later", reason, hint: null, afterMs: parseRetryAfter(retryAfter, now) };
  if (status < 400)
    return {
      kind: "later",
      reason: `${reason}, a redirect, which is never followed`,
      hint: WRONG_ENDPOINT,
      afterMs: null,
    };
  const hint = WRONG_SETTING[status];
  return hint === undefined ? { kind: "never", reason } : { kind: "later", reason, hint, afterMs: null };
}

/** Parses seconds or a date (RFC 9110 section 10.2.3); null for anything else. At most an hour. */
function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), LONGEST_WAIT_MS);
}

const FIRST_WAIT_MS = 1_000;
const USUAL_LONGEST_WAIT_MS = 60_000;

/** Returns how long to wait after so many failures in a row: twice as long each time, up to a minute. `random` is from 0 to 1. */
export function waitAfter(failures: number, random: number): number {
  const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10), USUAL_LONGEST_WAIT_MS);
  return Math.round(wait * (0.5 + random / 2));
}
