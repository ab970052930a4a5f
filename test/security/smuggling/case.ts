/** One attack, as data. `@host` stands for the gate's own host and port. */
export interface SmugglingCase {
  name: string;
  /** Written one after the other, each once as many answers as stand before it have come. */
  parts: string[];
  /** Every answer that the attacker may get, by status. */
  answers: number[];
  /**
   * Bodies of the requests that the upstream may get to see whole, in this order: as many as are answered by 200 at
   * least, and no others.
   */
  forwarded: string[];
}

/** A request that nobody sent as one; were it taken for one, the foreign Host would give it away by a 403. */
export const HIDDEN = `POST /v1/responses HTTP/1.1\r\nHost: hidden.example\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;

/** A Messages request with these header lines, which are parted by CRLF, and this body. */
export function post(lines: string, body: string): string {
  return `POST /v1/messages HTTP/1.1\r\nHost: @host\r\nContent-Type: application/json\r\n${lines}\r\n\r\n${body}`;
}

/** A request for the models with these further header lines, each with its line end. */
export function get(lines = "", startLine = "GET /v1/models HTTP/1.1"): string {
  return `${startLine}\r\nHost: @host\r\n${lines}\r\n`;
}

/** Refused with one answer, and nothing of it reaches the upstream. */
export function refused(name: string, bytes: string, status = 400): SmugglingCase {
  return { name, parts: [bytes], answers: [status], forwarded: [] };
}

/** Allowed by the grammar: passes as one request with this body. */
export function passes(name: string, bytes: string, body: string): SmugglingCase {
  return { name, parts: [bytes], answers: [200], forwarded: [body] };
}

/** A text with its control characters made visible. */
export const show = (text: string) => JSON.stringify(text);

/** An empty chunked body, and a request hidden behind it. */
export const CHUNKED_HIDDEN = `0\r\n\r\n${HIDDEN}`;

/** A length that takes in both. */
export const LENGTH = `Content-Length: ${CHUNKED_HIDDEN.length}`;

export const CHUNKED_HELLO = "5\r\nhello\r\n0\r\n\r\n";
