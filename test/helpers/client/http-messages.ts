/** A request or response as it was on the wire. */
export interface RawMessage {
  /** The request line or status line. */
  start: string;
  /** Lower-case names and values, in wire order. */
  headers: [name: string, value: string][];
  /** Without the transfer coding. */
  body: string;
}

/** What a strict parser finds in the bytes of a connection. */
export interface RawReading {
  messages: RawMessage[];
  /** An incomplete message at the end. */
  rest: string;
  /** The first violation of the grammar; parsing stops there. */
  fault: string | null;
}

const START = /^(?:[A-Z]+ [!-~]+ HTTP\/1\.1|HTTP\/1\.1 [1-5][0-9]{2} [ -~]*)$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~\x80-\xff]*?)[ \t]*$/;

/**
 * Parses HTTP/1.1 messages (latin1) strictly by RFC 9112: every parser must understand tollkeeper's output the same way.
 * Chunk extensions and trailers are faults because tollkeeper sends none. The body of a response without
 * Content-Length or Transfer-Encoding is everything that follows.
 */
export function readMessages(bytes: string): RawReading {
  const messages: RawMessage[] = [];
  let rest = bytes;
  try {
    for (;;) {
      const head = readHead(rest);
      if (head === null) return { messages, rest, fault: null };
      const body = readBody(head.message, rest.slice(head.length));
      if (body === null) return { messages, rest, fault: null };
      messages.push({ ...head.message, body: body.content });
      rest = rest.slice(head.length + body.length);
    }
  } catch (error) {
    return { messages, rest, fault: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns every value of the header `name` (lower case). */
export function valuesOf({ headers }: Pick<RawMessage, "headers">, name: string): string[] {
  return headers.filter(([known]) => known === name).map(([, value]) => value);
}

/** Returns the status codes in order, and `fault` last when the bytes are not complete, valid responses only. */
export function statusesOf(bytes: string): (number | "fault")[] {
  const { messages, rest, fault } = readMessages(bytes);
  const statuses = messages.map(({ start }) => Number(start.split(" ")[1]));
  return rest === "" && fault === null ? statuses : [...statuses, "fault"];
}

/** Parses the first head in `bytes`; null while it is incomplete. The body need not be there yet. */
export function readHead(bytes: string): { message: RawMessage; length: number } | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [start = "", ...lines] = bytes.slice(0, end).split("\r\n");
  if (!START.test(start)) throw new Error(`first line: ${JSON.stringify(start)}`);
  const headers = lines.map((line): [string, string] => {
    const match = FIELD.exec(line);
    if (match === null) throw new Error(`header line: ${JSON.stringify(line)}`);
    return [(match[1] ?? "").toLowerCase(), match[2] ?? ""];
  });
  return { message: { start, headers, body: "" }, length: end + 4 };
}

/** Parses the body after `head`; null while it is incomplete. */
function readBody(head: RawMessage, bytes: string): { content: string; length: number } | null {
  const lengths = valuesOf(head, "content-length");
  const encodings = valuesOf(head, "transfer-encoding");
  if (lengths.length + encodings.length > 1) throw new Error("framed twice");
  const [length, encoding] = [lengths[0], encodings[0]];
  if (encoding !== undefined) {
    if (encoding !== "chunked") throw new Error(`transfer-encoding: ${encoding}`);
    return readChunks(bytes);
  }
  if (length === undefined) {
    const content = head.start.startsWith("HTTP/") && hasBody(head.start) ? bytes : "";
    return { content, length: content.length };
  }
  if (!/^(?:0|[1-9][0-9]*)$/.test(length)) throw new Error(`content-length: ${length}`);
  const size = Number(length);
  return bytes.length < size ? null : { content: bytes.slice(0, size), length: size };
}

function hasBody(statusLine: string): boolean {
  return !/^HTTP\/1\.1 (?:1..|204|304) /.test(statusLine);
}

function readChunks(bytes: string): { content: string; length: number } | null {
  let content = "";
  let at = 0;
  for (;;) {
    const end = bytes.indexOf("\r\n", at);
    if (end === -1) return null;
    const size = bytes.slice(at, end);
    if (!/^(?:0|[1-9a-f][0-9a-f]*)$/i.test(size)) throw new Error(`chunk size: ${JSON.stringify(size)}`);
    const next = end + 2 + Number.parseInt(size, 16);
    if (bytes.length < next + 2) return null;
    if (bytes.slice(next, next + 2) !== "\r\n") throw new Error("no line end after a chunk");
    content += bytes.slice(end + 2, next);
    at = next + 2;
    if (size === "0") return { content, length: at };
  }
}
