import { isOfUpstream } from "../../../../core/refusals/of-upstream.ts";
import { tokensOfModel } from "../../../../core/usage/batch/model-tokens.ts";
import type { UsageRecord } from "../../../../core/ledger/record.ts";
import type { RunningRequest } from "../../../../core/ledger/running-request.ts";
import { isOwnUpstream, isPlanUpstream } from "../../../../core/plans/names.ts";
import { toPrintable } from "../../../../core/text/printable.ts";
import { costInList } from "../cost.ts";
import { element } from "../elements.ts";
import type { FeedEntry, Refusal } from "../feed-types.ts";
import { nameProject } from "../project-names.ts";
import { endOf } from "./pace.ts";
import { describeStream, formatAge, LONG_WAIT_MS, toneOfStream } from "./progress.ts";
import { wordsOf } from "../record/ending.ts";
import { noteOf, noteParts } from "../record/note.ts";
import { dateFormat, formatCount, formatDollars, formatSeconds, formatShare } from "../numbers.ts";
import { COLUMN, RECORD, type RowTone } from "../table.ts";

/** The contents of a row, in the order of {@link RUNNING_HEADS} or {@link ENDED_HEADS}. */
export type Cells = readonly [
  time: string,
  tool: string,
  model: string,
  project: string,
  input: string,
  cached: string,
  output: string,
  took: string,
  cost: string,
  end: string,
];

const SHARED_HEADS = ["tool", "model", "project", "tokens in", "from cache"];
/** Most services count the tokens out at the end: in their place is what came so far. */
export const RUNNING_HEADS: readonly string[] = [
  "since",
  ...SHARED_HEADS,
  "out so far",
  "age",
  "cost",
  "state",
];
export const ENDED_HEADS: readonly string[] = ["time", ...SHARED_HEADS, "tokens out", "took", "cost", "note"];
const PROJECT_AT = ENDED_HEADS.indexOf("project");

/** How a row stands out: what streams has a dot that pulses, and what missed the cache says so. */
type LiveTone = RowTone | "streaming" | "missed";

/** A row whose first cell opens the whole record. */
export function rowOf(
  [time, ...cells]: Cells,
  { onclick, id }: { onclick: () => void; id: string | null },
  tone: LiveTone = "",
): HTMLElement {
  const attributes = id === null ? {} : { [RECORD]: id };
  return element(
    "tr",
    { class: tone },
    element(
      "th",
      { scope: "row", attributes: columnAt(0) },
      element("button", { class: "link", onclick, attributes }, time),
    ),
    ...cells.map((cell, at) =>
      element("td", { title: cell, attributes: columnAt(at + 1) }, textOf(cell, at + 1)),
    ),
  );
}

/** Both tables have the same columns under other heads. */
function columnAt(at: number): Record<string, string> {
  return { [COLUMN]: ENDED_HEADS[at] ?? "" };
}

/** Writes other contents into a row; its first cell stays. */
export function rewrite(row: HTMLElement, cells: Cells, tone: LiveTone): void {
  row.className = tone;
  row.querySelectorAll("td").forEach((cell, column) => {
    const content = toPrintable(cells[column + 1] ?? "");
    cell.textContent = textOf(content, column + 1);
    cell.title = content;
  });
}

/** What is read of a cell; the whole is its title. */
function textOf(cell: string, at: number): string {
  return at === PROJECT_AT && cell !== "" ? nameProject(cell) : cell;
}

/** A table of rows; its head is shown where there are some. */
export function tableOf(
  caption: HTMLElement,
  heads: readonly string[],
  body: HTMLElement,
  className: string,
): HTMLElement {
  const cells = heads.map((head, at) => element("th", { scope: "col", attributes: columnAt(at) }, head));
  return element(
    "table",
    { class: className },
    caption,
    element("thead", {}, element("tr", {}, ...cells)),
    body,
  );
}

/** What the page has found out of a running request. */
export interface Found {
  /** What it costs at least, in dollars; null where that is not known. */
  cost: number | null;
  /** What came so far, in words. */
  soFar: string;
  /** For how many milliseconds nothing came. */
  quietMs: number;
}

export function runningCells(request: RunningRequest, { cost, soFar, quietMs }: Found): Cells {
  const { ts, tool, model, model_requested: requested, project, upstream, duration_ms: age } = request;
  const { ttft_ms: ttft } = request;
  const [input, cached] = usedCells(request);
  return [
    timeOf(ts),
    tool,
    model ?? requested ?? "",
    project ?? "",
    input,
    cached,
    soFar,
    formatAge(age),
    costCell(upstream, cost),
    ttft === null ? "waiting" : describeStream(quietMs),
  ];
}

function costCell(upstream: string, cost: number | null): string {
  if (isOwnUpstream(upstream)) return "own";
  if (isPlanUpstream(upstream)) return "plan";
  return cost === null ? "" : `≥${formatDollars(cost)}`;
}

/** How a running request stands out. */
export function toneOfRunning(
  { ttft_ms: ttft, duration_ms: age }: RunningRequest,
  { quietMs }: Found,
): LiveTone {
  if (ttft !== null) return toneOfStream(quietMs);
  return age >= LONG_WAIT_MS ? "warning" : "";
}

export function endedCells(entry: FeedEntry): Cells {
  if ("notice" in entry) return [timeOf(entry.ts), "", "", "", "", "", "", "", "", entry.notice];
  if ("refused" in entry) return refusalCells(entry);
  const { tool, model, model_requested: requested, project, duration_ms: took, cost } = entry;
  return [
    // By this, they are in order.
    timeOf(endOf(entry)),
    tool,
    model ?? requested ?? "",
    project ?? "",
    ...usedCells({ ...entry, tokens: tokensOfModel(entry) }),
    formatSeconds(took),
    cost === undefined ? "…" : costInList(cost, entry),
    noteOf(entry),
  ];
}

function refusalCells({ ts, tool, refused, method, path }: Refusal): Cells {
  const end = `refused: ${wordsOf(refused)} (${method} ${path})`;
  return [timeOf(ts), tool ?? "unknown", "", "", "", "", "", "", "", end];
}

/** How the row of one that ended stands out. */
export function toneOfEnded(entry: FeedEntry): LiveTone {
  const tone = toneOf(entry);
  if (tone !== "" || !("outcome" in entry)) return tone;
  const { end, miss } = noteParts(entry);
  return end === "" && miss !== "" ? "missed" : tone;
}

/** How the row of a request stands out in a list, by how it ended. */
export function toneOf(entry: FeedEntry): RowTone {
  if ("notice" in entry || "refused" in entry) return "warning";
  const { outcome, error_type: type } = entry;
  // What was refused here never went out: nothing has failed.
  if (outcome === "rejected") return isOfUpstream(type) ? "failure" : "warning";
  if (outcome === "error" || outcome === "failed") return "failure";
  return outcome === "cut" ? "warning" : "";
}

/** `≥` where a response was cut off before its last count. */
function usedCells({
  tokens,
  usage,
}: Partial<Pick<UsageRecord, "usage">> & { tokens: ReturnType<typeof tokensOfModel> }): [
  string,
  string,
  string,
] {
  if (tokens === null) return ["", "", ""];
  const { input_total: input, cache_read: cached, output } = tokens;
  const mark = usage === "partial" ? "≥" : "";
  return [`${mark}${formatCount(input)}`, formatShare(cached, input), `${mark}${formatCount(output)}`];
}

const TIME = dateFormat({ timeStyle: "medium" });

function timeOf(time: string | number): string {
  return TIME.format(new Date(time));
}
