import { InvalidResponse, isFramingName, readFraming, type BodyFraming } from "./framing.ts";
import { HeaderIndex } from "./header-index.ts";
import { hasStrayLineEnd, parseHeaderLines } from "./header-lines.ts";

/** The head of an upstream's response. */
export interface ResponseHead {
  status: number;
  /** May be any text without line ends. */
  reason: string;
  headers: HeaderIndex;
  framing: BodyFraming;
  /** True when the connection may be used again after the response (RFC 9112 section 9.3). */
  isPersistent: boolean;
}

const STATUS_LINE = /^HTTP\/([0-9](?:\.[0-9])?) ([0-9]{3})(?: (.*))?$/s;
const HEAD_START = "HTTP/1.";
const NO_STATUS_LINE = "it does not begin with a status line of HTTP";

/**
 * Parses the head of a response: everything before the empty line, decoded as latin1. Strictly: what parsers are known to read
 * differently is refused (RFC 9112 sections 2 to 6; SECURITY.md C6). `isUpgrade`: the request has asked for another protocol.
 * @throws InvalidResponse
 */
export function parseResponseHead(text: string, isUpgrade: boolean): ResponseHead {
  const lineEnd = text.indexOf("\r\n");
  const { version, status, reason } = parseStatusLine(lineEnd === -1 ? text : text.slice(0, lineEnd));
  const headers = new HeaderIndex(lineEnd === -1 ? [] : parseHeaderLines(text.slice(lineEnd + 2)));
  const framing = readFraming({ status, version, headers, isUpgrade });
  return { status, reason, headers, framing, isPersistent: isPersistent(version, framing, headers) };
}

interface StatusLine {
  /** `1.1` or whatever else it is. */
  version: string;
  status: number;
  reason: string;
}

/** @throws InvalidResponse */
function parseStatusLine(line: string): StatusLine {
  const [, version = "", digits = "", reason = ""] = STATUS_LINE.exec(line) ?? [];
  if (digits === "" || /[\r\n]/.test(reason)) throw new InvalidResponse(NO_STATUS_LINE);
  return { version, status: Number(digits), reason };
}

/**
 * The beginning of a head whose end has not arrived yet. Each line is judged once it has been read: the client must not wait for the rest of a head
 * that is invalid already, because it may never come (SECURITY.md C6).
 */
export class PartialHead {
  /** What has arrived, decoded as latin1. */
  text = "";
  /** Where the first line begins that was not judged yet. */
  #judged = 0;
  #statusLine: StatusLine | null = null;
  /** Names and values of the headers that say where the body ends. */
  readonly #framing: string[] = [];
  readonly #isUpgrade: boolean;

  /** `isUpgrade` as for {@link parseResponseHead}. */
  constructor(isUpgrade: boolean) {
    this.#isUpgrade = isUpgrade;
  }

  /** Takes what has arrived so far: the text of before, and more. @throws InvalidResponse */
  grow(text: string): void {
    // A line end may have begun with the last byte of before.
    const start = Math.max(this.#judged, this.text.length - 1);
    if (hasStrayLineEnd(text.slice(start))) throw new InvalidResponse("a line of its head has no proper end");
    this.text = text;
    if (this.#statusLine === null && !HEAD_START.startsWith(text.slice(0, HEAD_START.length)))
      throw new InvalidResponse(NO_STATUS_LINE);
    const end = text.lastIndexOf("\r\n");
    if (end < this.#judged) return;
    this.#judge(text.slice(this.#judged, end));
    this.#judged = end + 2;
  }

  /** Judges whole lines, without the end of the last one. */
  #judge(lines: string): void {
    if (this.#statusLine !== null) {
      this.#judgeHeaders(lines, this.#statusLine);
      return;
    }
    const end = lines.indexOf("\r\n");
    this.#statusLine = parseStatusLine(end === -1 ? lines : lines.slice(0, end));
    readFraming({ ...this.#statusLine, headers: new HeaderIndex([]), isUpgrade: this.#isUpgrade });
    if (end !== -1) this.#judgeHeaders(lines.slice(end + 2), this.#statusLine);
  }

  #judgeHeaders(lines: string, statusLine: StatusLine): void {
    const parsed = parseHeaderLines(lines);
    const before = this.#framing.length;
    for (let i = 0; i + 1 < parsed.length; i += 2) {
      const [name = "", value = ""] = [parsed[i], parsed[i + 1]];
      if (isFramingName(name)) this.#framing.push(name, value);
    }
    if (this.#framing.length > before)
      readFraming({
        ...statusLine,
        headers: new HeaderIndex(this.#framing),
        isUpgrade: this.#isUpgrade,
      });
  }
}

function isPersistent(version: string, framing: BodyFraming, headers: HeaderIndex): boolean {
  if (version !== "1.1" || framing === "until-close") return false;
  const options = headers.all("connection");
  return options === undefined || !/(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(options);
}
