/** One attack. `@host` stands for the gate's own host and port. */
export interface SmugglingCase {
  name: string;
  /** Sent in order, each once there are as many responses as parts before it. */
  parts: string[];
  /** The status of every response that the attacker gets. */
  responses: number[];
  /** Bodies of the complete requests that may reach the upstream, in order: at least one per response with status 200. */
  forwarded: string[];
}

/** A request hidden in a body. If it were taken for a request, its foreign Host would cause a 403. */
export const HIDDEN = `POST /v1/responses HTTP/1.1\r\nHost: hidden.example\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;

/** A Messages request with these header lines, separated by CRLF, and this body. */
export function post(lines: string, body: string): string {
  return `POST /v1/messages HTTP/1.1\r\nHost: @host\r\nContent-Type: application/json\r\n${lines}\r\n\r\n${body}`;
}

/** A request for the models with these additional header lines, each with its line end. */
export function get(lines = "", startLine = "GET /v1/models HTTP/1.1"): string {
  return `${startLine}\r\nHost: @host\r\n${lines}\r\n`;
}

/** A case that is refused with one response and does not reach the upstream. */
export function refused(name: string, bytes: string, status = 400): SmugglingCase {
  return { name, parts: [bytes], responses: [status], forwarded: [] };
}

/** A case that the grammar allows: it passes as one request with this body. */
export function passes(name: string, bytes: string, body: string): SmugglingCase {
  return { name, parts: [bytes], responses: [200], forwarded: [body] };
}

/** Makes control characters visible. */
export const show = (text: string) => JSON.stringify(text);

/** An empty chunked body, and a request hidden behind it. */
export const CHUNKED_HIDDEN = `0\r\n\r\n${HIDDEN}`;

/** A length that includes both. */
export const LENGTH = `Content-Length: ${CHUNKED_HIDDEN.length}`;

export const CHUNKED_HELLO = "5\r\nhello\r\n0\r\n\r\n";
