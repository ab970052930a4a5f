import { localZoneName } from "../../../../adapters/time-zone.ts";
import { localCalendar } from "../../../../core/ledger/calendar.ts";
import { dayOf } from "../../../../core/ledger/day.ts";
import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { toPrintable } from "../../../../core/text/printable.ts";
import { formatCommand } from "../../../../core/text/shell-words.ts";
import { hasColours, printStyled } from "../../../terminal/console.ts";
import { layOutFacts, type Fact } from "../../../terminal/facts.ts";
import { labelledLine } from "../../../terminal/format.ts";
import { inTone } from "../../../terminal/styles.ts";
import { layOutProse } from "../../../terminal/prose.ts";
import { layOutTable, type Column } from "../../../terminal/table.ts";
import { MOST_CHARACTERS } from "../../../terminal/wrap.ts";
import { timeOf } from "../request-row.ts";
import { clientFacts } from "./client-facts.ts";
import { describeAmount, describeCosts, LINE_COLUMNS, SAID_BELOW } from "./cost-sections.ts";
import { destinationFacts } from "./destination-facts.ts";
import { formatDuration } from "./duration.ts";
import { describeOutcome, endingFacts } from "./ending-facts.ts";
import type { ExaminedRequest } from "./examine.ts";
import { describeRefused } from "./refusal-words.ts";
import { usageFacts } from "./usage-facts.ts";
import { describeTimes, describeUsual, timesUsualCost, USUAL_COLUMNS, usualRows } from "./usual-section.ts";
import { isOwnUpstream } from "../../../../core/plans/names.ts";

/** Reports are of the last 30 days unless they are asked for more. */
const USUAL_PERIOD_MS = 29 * 24 * 60 * 60 * 1000;

/** How the page is shown. */
interface View {
  /** Characters in a line; Infinity in a pipe. */
  width: number;
  isColoured: boolean;
}

/** Prints all about a request on one page. */
export function printPage(request: ExaminedRequest): void {
  const view = { width: process.stdout.columns || Infinity, isColoured: hasColours() };
  printStyled(renderPage(request, view));
}

/** Returns the page. Control characters are escaped, and no line is wider than the terminal but for commands and names that are longer. */
export function renderPage(request: ExaminedRequest, view: View): string {
  const { record, usual } = request;
  const next = nextFacts(request);
  const sections = [
    [layOutProse([toPrintable(headline(request))], view.width)],
    layOut(endingFacts(record), view),
    costLines(request, view),
    layOut(usageFacts(request), view),
    layOut(destinationFacts(request), view),
    layOut(clientFacts(record), view),
    [
      ...layOut(usual === null ? [] : [["compared", describeUsual(usual, record)]], view),
      ...indentedTable(USUAL_COLUMNS, usualRows(request), view),
    ],
    layOut(next, view),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** Returns what a request cost, line by line. */
function costLines(request: ExaminedRequest, view: View): string[] {
  const { facts, rows, notes } = describeCosts(request);
  const [[label, text] = ["", ""]] = facts;
  const table = indentedTable(LINE_COLUMNS, rows, view);
  const above = text === SAID_BELOW ? labelled(label, table, view) : [...layOut(facts, view), ...table];
  return [...above, ...layOut(notes, view)];
}

/** Puts a label beside the first line of a table, or above it where that begins further to the left. */
function labelled(label: string, [head = "", ...others]: readonly string[], { isColoured }: View): string[] {
  const space = labelledLine(label, "").slice(label.length);
  const shown = inTone(label, "strong", isColoured);
  const indent = label + space;
  return head.startsWith(" ".repeat(indent.length))
    ? [shown + space + head.slice(indent.length), ...others]
    : [...(label === "" ? [] : [shown]), head, ...others].filter((line) => line !== "");
}

/** Returns the lines of the page that say what a request used, why it missed the cache and how it compares; its costs line by line apart. */
export function explainBriefly(request: ExaminedRequest, view: View): { facts: string[]; costs: string[] } {
  const { record, usual } = request;
  return {
    facts: [
      toPrintable(headline(request)),
      ...layOut(usageFacts(request), view),
      ...layOut(usual === null ? [] : [["compared", describeUsual(usual, record)]], view),
    ],
    costs: costLines(request, view),
  };
}

/** Returns who asked for what, how that ended, and how that compares. */
function headline(request: ExaminedRequest): string {
  const { record } = request;
  const at = `${localCalendar(localZoneName).dayOf(Date.parse(record.ts))} at ${timeOf(record.ts)}`;
  const wanted = record.model_requested ?? record.model ?? record.route;
  const asked = `${record.tool} asked for ${wanted} on ${at}`;
  const refused = describeRefused(record);
  const end =
    refused === null
      ? `${describeOutcome(record)}${record.error_type === null ? "" : ` (${record.error_type})`} after ${formatDuration(record.duration_ms)}`
      : `${describeOutcome(record)}, because ${refused.reason}`;
  return `${asked}: ${[end, ...costWords(request)].join(" ")}.`;
}

function costWords(request: ExaminedRequest): string[] {
  const { kind, cost, worth } = request;
  if (kind !== "request" || cost === null || cost.kind === "unknown") return [];
  if (worth !== null && isOwnUpstream(request.record.upstream))
    return [`and the tool's own key paid ${describeAmount(worth)}`];
  if (worth !== null) return [`and a plan paid it, which was worth ${describeAmount(worth)}`];
  if (cost.kind === "priced" && cost.from === "free") return ["and was free"];
  const times = describeTimes(timesUsualCost(request));
  return [`and cost ${describeAmount(cost)}${times === "" ? "" : ` (${times})`}`];
}

/** Says where more is to be read. */
function nextFacts({ record, routing }: ExaminedRequest): Fact[] {
  const { id } = record;
  const session = sessionCommand(record);
  const texts = [
    session !== null && `to see the whole session, type: ${session}`,
    routing !== null && `to see what decides where it goes, type: tollkeeper route --explain ${shortId(id)}`,
  ];
  return texts.filter((text) => text !== false).map((text, at) => [at === 0 ? "more" : "", text]);
}

/** The first two parts of a UUID are typed more easily than all of it, and no other record or session is likely to have them. */
function shortId(id: string): string {
  return UUID.test(id) ? id.slice(0, SHORT_ID) : id;
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const SHORT_ID = 13;

/** null without a session, and for one whose id would be taken for an option. */
function sessionCommand({ session, ts }: UsageRecord): string | null {
  if (session === null || session.startsWith("-")) return null;
  const words = ["tollkeeper", "usage", "session", shortId(toPrintable(session))];
  const isOld = Date.now() - Date.parse(ts) > USUAL_PERIOD_MS;
  return formatCommand(isOld ? [...words, "--since", dayOf(ts)] : words);
}

/** Longer lines are hard to read. */
function layOut(facts: readonly Fact[], { width, isColoured }: View): string[] {
  const most = width === Infinity ? Infinity : Math.min(width, MOST_CHARACTERS);
  return layOutFacts(facts, most, isColoured);
}

/** Lays out a table under the texts of facts, without columns that are empty, and without its head where that says nothing. */
function indentedTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, isColoured }: View,
): string[] {
  if (rows.length === 0) return [];
  const used = columns.flatMap((_, at) => (rows.some((row) => row[at] !== "") ? [at] : []));
  const indent = width < NARROW ? "  " : labelledLine("", "");
  const { text } = layOutTable(
    used.flatMap((at) => columns[at] ?? []),
    rows.map((row) => used.map((at) => row[at] ?? "")),
    { width: width - indent.length, isColoured },
  );
  return text.split("\n").map((line) => `${indent}${line}`);
}

/** On a narrower terminal, tables begin further to the left. */
const NARROW = 80;
