import type { ServerResponse } from "node:http";
import type { HeaderIndex } from "../../core/http/header-index.ts";
import { ATTEMPTS_HEADER } from "../../core/http/header-policy.ts";
import { buildDownstreamHeaders } from "../../core/http/build-headers.ts";
import { leadThroughUs, type OwnAddress } from "../../core/http/gemini/own-links.ts";
import type { Secret } from "../../core/secrets/secret.ts";

/** What Node's `writeHead` accepts as a reason phrase; it throws on anything else. */
const REASON_PHRASE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Says how much was spent, when the request was admitted, of the budget of which the most was: `82%`. */
const BUDGET_HEADER = "x-tollkeeper-budget";

/** The head of an upstream's response. */
export interface Head {
  status: number;
  reason: string;
  headers: HeaderIndex;
  /** Value of {@link ATTEMPTS_HEADER}; null where another upstream was never needed. */
  attempts: string | null;
  /** For {@link BUDGET_HEADER}; null where no budget is for the request. */
  budgetPercent: number | null;
  /** Where the client reaches us, if the response may say where to go on; null on nearly every route. */
  own: OwnAddress | null;
  /** True when the body has no framing, and so ends with the client's connection. */
  endsWithConnection: boolean;
}

/** Writes the upstream's response to the client. */
export interface ResponseWriter {
  /** Body bytes taken so far, including those that are held back. */
  readonly bytes: number;
  /** Sends the head of a stream now if it has not been sent: it must not wait for the first event. */
  flush(): void;
  /** Writes the next chunk of the body. */
  write(chunk: Buffer): void;
  /** Counts the bytes that are still held back. Call it before the record is written, and {@link ResponseWriter.end} after. */
  complete(): void;
  /** Sends what is held back, and ends the response. */
  end(): void;
}

/** Writes the head of a response, redacted and without what Node would refuse, so that it never throws. */
export function writeHead(res: ServerResponse, head: Head, secret: Secret): void {
  const { status, reason, attempts, budgetPercent, own } = head;
  const sent = buildDownstreamHeaders(head.headers, secret);
  const headers = own === null ? sent : leadThroughUs(sent, own);
  if (attempts !== null) headers.push(ATTEMPTS_HEADER, attempts);
  if (budgetPercent !== null) headers.push(BUDGET_HEADER, `${budgetPercent}%`);
  // Node then sends `Connection: close`, and closes the connection after the body.
  if (head.endsWithConnection) res.useChunkedEncodingByDefault = false;
  const text = secret.redactText(reason);
  res.writeHead(status, REASON_PHRASE.test(text) ? text : "", headers);
}
