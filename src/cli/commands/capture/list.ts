import type { CapturedSummary, CaptureStatus } from "../../../core/capture/captured.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { hasColours, print, printStyled } from "../../terminal/console.ts";
import { pluralize } from "../../terminal/format.ts";
import { printProse } from "../../terminal/prose.ts";
import { layOutTable, type Column } from "../../terminal/table.ts";
import { formatBytes, timeOf } from "../live/request-row.ts";

/** So much of an id tells requests apart. */
const ID_LENGTH = 8;

const COLUMNS: Column[] = [
  { head: "Id", align: "left" },
  { head: "Time", align: "left" },
  { head: "Kind", align: "left" },
  { head: "Model", align: "left" },
  { head: "Status", align: "right" },
  { head: "Request", align: "right" },
  { head: "Response", align: "right" },
];

const SESSION: Column = { head: "Session", align: "left", order: 1, long: "cut" };

/** Said where nothing is captured. */
const NONE = [
  "Nothing is captured. To capture the requests of a tool for 10 minutes, type for example:",
  "  tollkeeper capture codex",
];

/** Prints the captures, each with its requests. */
export function printCaptures(
  captures: readonly CaptureStatus[],
  requests: readonly CapturedSummary[],
): void {
  if (captures.length === 0) return printProse(NONE);
  const view = { width: process.stdout.columns || Infinity, isColoured: hasColours() };
  captures.forEach((capture, at) => {
    if (at > 0) print();
    print(`Capture ${describeCapture(capture)}`);
    const own = requests.filter(({ capture: id }) => id === capture.id);
    const sessions = [...new Set(own.flatMap(({ session }) => session ?? []))];
    const [only] = sessions;
    if (sessions.length === 1 && only !== undefined) print(`Session ${toPrintable(only)}`);
    const columns = sessions.length > 1 ? [...COLUMNS, SESSION] : COLUMNS;
    const rows = own.map((request) => toRow(request).slice(0, columns.length));
    if (rows.length > 0) printStyled(layOutTable(columns, rows, view).text);
  });
}

/** Returns what a capture is, and when it ends and is deleted. */
export function describeCapture(capture: CaptureStatus): string {
  const { id, tool, state, until, ended, requests, most, bytes, deletedAt } = capture;
  const count = `${pluralize(requests, "request")}${most === null ? "" : ` of ${most}`}`;
  const end = state === "running" ? `running until ${timeOf(until)}` : `ended at ${timeOf(until)}`;
  const why = ended === null ? "" : ` (${ended})`;
  return `${id} of ${toPrintable(tool)}: ${end}${why}, ${count}, ${formatBytes(bytes)}, deleted at ${timeOf(deletedAt)}`;
}

function toRow(request: CapturedSummary): string[] {
  const { id, at, agentKind, model, method, path, status, outcome } = request;
  return [
    id.slice(0, ID_LENGTH),
    timeOf(at),
    toPrintable(agentKind ?? ""),
    // What names no model asks for something else.
    toPrintable(model ?? `${method} ${path}`),
    status === null ? toPrintable(outcome) : String(status),
    formatBytes(request.requestBytes),
    formatBytes(request.responseBytes),
    toPrintable(request.session ?? ""),
  ];
}
