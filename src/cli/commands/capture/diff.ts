import type { CapturedExchange } from "../../../core/capture/captured.ts";
import { compareRequests, type Comparison } from "../../../core/capture/compare.ts";
import { readRequest, type ReadRequest } from "../../../core/capture/read-request.ts";
import { Failure } from "../../../core/failure.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { hasColours, printStyled } from "../../terminal/console.ts";
import { formatNumber, pluralize } from "../../terminal/format.ts";
import { inTone } from "../../terminal/styles.ts";
import { shorten } from "../../terminal/width.ts";
import { timeOf } from "../live/request-row.ts";
import { foldMessage, textOfBody } from "./page.ts";

/** A setting's value takes at most so many characters. */
const VALUE_WIDTH = 60;
/** How many of the added messages are shown. */
const SHOWN_MESSAGES = 8;

/** Prints what a second captured request has otherwise than a first. @throws Failure when one of them is no request to a model */
export function printDifference(first: CapturedExchange, second: CapturedExchange): void {
  const now = readModelRequest(second);
  const found = compareRequests(readModelRequest(first), now);
  const sections = [
    [strong(`From ${describe(first)}`), strong(`to   ${describe(second)}`), ...sessionLines(first, second)],
    settingLines(found),
    toolLines(found),
    systemLines(found),
    messageLines(found, now),
    [conclude(found), ...cacheLines(first, second)],
  ];
  printStyled(
    sections
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join("\n"))
      .join("\n\n"),
  );
}

/** @throws Failure for what has no body with a prompt, such as a list of models */
function readModelRequest({ head, request }: CapturedExchange): ReadRequest {
  const read = readRequest(textOfBody(request));
  if (read !== null) return read;
  const { record, method, path } = head;
  throw new Failure(
    toPrintable(`${record.id} is ${method} ${path}, and no request to a model`),
    "to see which requests have a model, type: tollkeeper capture list",
  );
}

function describe({ head: { record, method, path } }: CapturedExchange): string {
  const model = record.model ?? record.model_requested ?? "";
  return toPrintable(`${record.id} at ${timeOf(record.ts)}: ${method} ${path} ${model}`.trimEnd());
}

function sessionLines(first: CapturedExchange, second: CapturedExchange): string[] {
  const [one, other] = [first.head.record.session, second.head.record.session];
  return one === other ? [] : ["  They are of different sessions."];
}

function settingLines({ settings }: Comparison): string[] {
  if (settings.length === 0) return [];
  const lines = settings.map(({ name, before, after }) => {
    const [old, now] = [before, after].map((value) =>
      value === null ? "none" : shorten(toPrintable(value), VALUE_WIDTH),
    );
    return `  ${toPrintable(name)}: ${old} → ${now}`;
  });
  return [strong("Settings"), ...lines];
}

function toolLines({ tools: { added, removed, changed, isReordered } }: Comparison): string[] {
  const lines = [
    ...added.map(({ name, bytes }) => `  + ${toPrintable(name)}, ${formatNumber(bytes)} bytes`),
    ...removed.map(({ name, bytes }) => `  - ${toPrintable(name)}, ${formatNumber(bytes)} bytes`),
    ...changed.map(
      ({ before, after }) =>
        `  changed: ${toPrintable(after.name)}, ${formatNumber(before.bytes)} → ${formatNumber(after.bytes)} bytes`,
    ),
    ...(isReordered ? ["  They come in another order."] : []),
  ];
  return lines.length === 0 ? [] : [strong("Tools"), ...lines];
}

function systemLines({ system }: Comparison): string[] {
  return system === null ? [] : [strong("System prompt"), ...textLines(system)];
}

function messageLines(
  { messages: { same, before, after, changed } }: Comparison,
  now: ReadRequest,
): string[] {
  const kept =
    same === 0
      ? "none is the same"
      : same === 1
        ? "the first is the same"
        : `the first ${formatNumber(same)} are the same`;
  const title = `${strong("Messages")}  ${formatNumber(before)} → ${formatNumber(after)}: ${kept}`;
  if (changed !== null)
    return [title, `  ${same + 1} ${toPrintable(changed.role)}:`, ...textLines(changed.text)];
  if (after <= before) return [after < before ? `${title}, ${formatNumber(before - after)} gone` : title];
  const added = now.messages.slice(before);
  const shown = added
    .slice(0, SHOWN_MESSAGES)
    .flatMap((message, at) => foldMessage(message, `${before + at + 1} ${toPrintable(message.role)}`));
  return [`${title}, ${formatNumber(added.length)} added`, ...shown];
}

function textLines({ same, before, after }: NonNullable<Comparison["system"]>): string[] {
  return [
    `  the same for ${pluralize(same, "character")}, then:`,
    `  - ${inTone(oneLine(before), "failure", hasColours())}`,
    `  + ${inTone(oneLine(after), "running", hasColours())}`,
  ];
}

/** Services cache the tools, then the system prompt, then the messages (Anthropic's and OpenAI's pages on prompt caching). */
function conclude({ breaksAt }: Comparison): string {
  const said = {
    settings: "the settings. Services keep what they cache for other settings apart.",
    tools:
      "the tools. Services cache these first, so the system prompt and the messages cannot be read from the cache.",
    "system prompt":
      "the system prompt. Services cache it before the messages, so these cannot be read from the cache.",
    messages: "the messages. Services can read from the cache what comes before the difference.",
  };
  return breaksAt === null
    ? "The second request continues the first: nothing before its end has changed."
    : `They first differ in ${said[breaksAt]}`;
}

function cacheLines(...both: CapturedExchange[]): string[] {
  const read = both.map(({ head }) => head.record.tokens?.cache_read ?? null);
  if (read.includes(null)) return [];
  return [
    `Tokens that the service read from its cache: ${read.map((count) => formatNumber(count ?? 0)).join(" → ")}`,
  ];
}

function oneLine(text: string): string {
  return toPrintable(text.replaceAll(/\s+/g, " "));
}

function strong(text: string): string {
  return inTone(text, "strong", hasColours());
}
