/** What a proxy answers to CONNECT. */
export interface ConnectResponse {
  status: number;
  /** May basic authentication be a way to be let in? Where it does not say how, it may. */
  takesBasic: boolean;
  /** Length of its head; what follows is the tunnel's. */
  headBytes: number;
}

/** Node's own limit for the head of an answer. */
const MAX_HEAD_BYTES = 16 * 1024;

const START = "HTTP/1.";

/**
 * Reads the answer from all bytes so far; null while its head is not whole. Where the status is 2xx it has no body,
 * whatever its fields say (RFC 9110 section 9.3.6).
 * @returns "not-http" as soon as it is clear that no such answer will come of them
 */
export function readConnectResponse(bytes: Buffer): ConnectResponse | "not-http" | null {
  const text = bytes.toString("latin1", 0, MAX_HEAD_BYTES);
  // Whoever waits for us to speak first, or said something else, is told from who is slow.
  if (text.slice(0, START.length) !== START.slice(0, text.length)) return "not-http";
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return bytes.length < MAX_HEAD_BYTES ? null : "not-http";
  const status = /^HTTP\/1\.[01] (\d{3})(?=[ \r])/.exec(text)?.[1];
  if (status === undefined) return "not-http";
  const head = text.slice(0, end);
  const takesBasic =
    /^proxy-authenticate:(?:.*,)?[ \t]*basic\b/im.test(head) || !/^proxy-authenticate:/im.test(head);
  return { status: Number(status), takesBasic, headBytes: end + 4 };
}
