import type { CapturedExchange, CapturedMessage } from "../../../core/capture/captured.ts";
import type { Piece } from "../../../core/capture/content.ts";
import { readResponse } from "../../../core/capture/read-response.ts";
import { readRequest, type ReadMessage, type ReadRequest } from "../../../core/capture/read-request.ts";
import { toPrintable, toPrintableLines } from "../../../core/text/printable.ts";
import { hasColours, printStyled } from "../../terminal/console.ts";
import { formatNumber, pluralize } from "../../terminal/format.ts";
import { inTone } from "../../terminal/styles.ts";
import { shorten } from "../../terminal/width.ts";
import { countFacts } from "../live/explain/usage-facts.ts";
import { timeOf } from "../live/request-row.ts";

/** How many lines and messages are shown of what is long, unless all is wanted. */
const SHOWN_LINES = 6;
const SHOWN_MESSAGES = 8;
/** How long a line of what is folded may be where there is no terminal. */
const FOLDED_WIDTH = 120;

const INDENT = "  ";

/** What is shown. */
interface PageView {
  /** All of each text, instead of its beginning. */
  isFull: boolean;
  /** The headers, too. */
  withHeaders: boolean;
}

/** Returns the body of a message as text. */
export function textOfBody(base64: string): string {
  return Buffer.from(base64, "base64").toString();
}

/** Prints a captured request and its response as a person reads them. */
export function printExchange({ head, request, response }: CapturedExchange, view: PageView): void {
  const { record, method, path, tool } = head;
  const body = textOfBody(request);
  const read = readRequest(body);
  const title = `Request ${record.id} of ${tool} at ${timeOf(record.ts)}: ${method} ${path}`;
  const sections = [
    [strong(toPrintable(title)), ...describeMessage(head.request, body)],
    headerLines(head.request, view),
    ...(read === null ? [bodyLines("Body", body, view)] : requestSections(read, view)),
    responseLines(head, textOfBody(response), view),
    tokenLines(head.record),
  ];
  printStyled(
    sections
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join("\n"))
      .join("\n\n"),
  );
}

function requestSections(read: ReadRequest, view: PageView): string[][] {
  const { settings, system, tools, messages } = read;
  const toolBytes = tools.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    settings.map(([name, value]) => {
      const line = `  ${toPrintable(`${name}: ${value}`)}`;
      return view.isFull ? line : foldLine(line);
    }),
    system.length === 0
      ? []
      : [
          headed("System prompt", sumOf(system)),
          ...system.flatMap(({ text }) => indent(textLines(text, view))),
        ],
    tools.length === 0
      ? []
      : [
          headed(pluralize(tools.length, "tool"), toolBytes),
          ...tools.map(({ name, bytes }) => `${bytesColumn(bytes)}  ${toPrintable(name)}`),
        ],
    messages.length === 0 ? [] : messageLines(messages, view),
  ];
}

/** The last messages are what is new: those before them are one line each, and the oldest are left out. */
function messageLines(messages: ReadRequest["messages"], view: PageView): string[] {
  const head = headed(
    pluralize(messages.length, "message"),
    messages.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  const from = view.isFull ? 0 : Math.max(0, messages.length - SHOWN_MESSAGES);
  const left = from === 0 ? [] : [`  ${pluralize(from, "message")} before these; to see all, add: --full`];
  const shown = messages.slice(from).flatMap(({ role, pieces, bytes }, at) => {
    const name = `${from + at + 1} ${toPrintable(role)}`;
    if (!view.isFull) return foldMessage({ pieces, bytes }, name);
    const texts = pieces.flatMap((piece) => indent(indent(pieceLines(piece, view))));
    return [`${bytesColumn(bytes)}  ${name}`, ...texts];
  });
  return [head, ...left, ...shown];
}

/** Returns a line for each piece of a message. */
export function foldMessage(
  { pieces, bytes }: Pick<ReadMessage, "pieces" | "bytes">,
  name: string,
): string[] {
  if (pieces.length === 0) return [`${bytesColumn(bytes)}  ${name}`];
  return pieces.map((piece) =>
    foldLine(`${bytesColumn(piece.bytes)}  ${name}: ${toPrintable(inOneLine(piece))}`),
  );
}

function responseLines(head: CapturedExchange["head"], body: string, view: PageView): string[] {
  const { record, response } = head;
  const read = readResponse(body);
  const status = record.status === null ? record.outcome : `${record.status}, ${record.outcome}`;
  const stop = read?.stop === undefined || read.stop === null ? "" : `, ${read.stop}`;
  const events =
    read?.events === undefined || read.events === null ? "" : `, ${pluralize(read.events, "event")}`;
  const title = strong(`Response  ${toPrintable(`${status}${stop}${events}`)}`);
  const whole = { ...view, isFull: true };
  const content =
    read === null || read.pieces.length === 0
      ? indent(textLines(body, view))
      : read.pieces.flatMap((piece) => indent(pieceLines(piece, whole)));
  return [title, ...describeMessage(response, body), ...headerLines(response, view), ...content];
}

function pieceLines({ kind, text }: Piece, view: PageView): string[] {
  return textLines(kind === "text" ? text : `[${kind}] ${text}`, view);
}

function inOneLine({ kind, text }: Piece): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return kind === "text" ? line : `[${kind}] ${line}`;
}

function tokenLines({ tokens }: CapturedExchange["head"]["record"]): string[] {
  if (tokens === null) return [];
  const facts = countFacts(tokens).map(([, text]) => `  ${toPrintable(text)}`);
  return [strong("Tokens, as the service reports them"), ...facts];
}

function describeMessage({ wireBytes, lack }: CapturedMessage, body: string): string[] {
  const decoded = Buffer.byteLength(body);
  const decodedWords = decoded === wireBytes ? "" : `, ${formatNumber(decoded)} decoded`;
  const size = `  ${formatNumber(wireBytes)} bytes${decodedWords}`;
  return lack === null ? [size] : [size, `  not all of it is here: ${toPrintable(lack)}`];
}

function headerLines({ headers }: CapturedMessage, { withHeaders }: PageView): string[] {
  return withHeaders ? headers.map(([name, value]) => `  ${toPrintable(`${name}: ${value}`)}`) : [];
}

function bodyLines(title: string, body: string, view: PageView): string[] {
  return body === "" ? [] : [headed(title, Buffer.byteLength(body)), ...indent(textLines(body, view))];
}

/** Returns the lines of a text, or the first of them that are not empty and how many follow. */
function textLines(text: string, view: PageView): string[] {
  const lines = toPrintableLines(text.trimEnd()).split("\n");
  if (view.isFull) return lines;
  const filled = lines.filter((line) => line.trim() !== "");
  const shown = filled.slice(0, SHOWN_LINES).map((line) => foldLine(line, INDENT));
  const left = filled.length - shown.length;
  return left === 0 ? shown : [...shown, `… ${pluralize(left, "more line")}; add: --full`];
}

/** Cuts a line to the width of the terminal. @param before what will stand in front of it */
function foldLine(line: string, before = ""): string {
  return shorten(line, (process.stdout.columns || FOLDED_WIDTH) - before.length);
}

function headed(title: string, bytes: number): string {
  return strong(`${title}  ${formatNumber(bytes)} bytes`);
}

function strong(text: string): string {
  return inTone(text, "strong", hasColours());
}

function bytesColumn(bytes: number): string {
  return formatNumber(bytes).padStart(9);
}

function sumOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { bytes }) => sum + bytes, 0);
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => INDENT + line);
}
