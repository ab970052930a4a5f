import { tokensOfModel } from "../../../../core/usage/batch/model-tokens.ts";
import type { UsageRecord } from "../../../../core/ledger/record.ts";
import type { RunningRequest } from "../../../../core/ledger/running-request.ts";
import { element } from "../elements.ts";
import type { FeedEntry, Refusal } from "../feed-types.ts";
import { formatBytes, formatCount, formatSeconds, formatShare } from "../numbers.ts";
import type { RowTone } from "../table.ts";

/** The texts of a row, in the order of {@link RUNNING_HEADS} or {@link ENDED_HEADS}. */
export type Cells = readonly [
  time: string,
  tool: string,
  model: string,
  input: string,
  cached: string,
  output: string,
  took: string,
  end: string,
];

const SHARED_HEADS = ["tool", "model", "tokens in", "from cache", "tokens out"];
export const RUNNING_HEADS: readonly string[] = ["since", ...SHARED_HEADS, "age", "state"];
export const ENDED_HEADS: readonly string[] = ["time", ...SHARED_HEADS, "took", "outcome"];

/** A row whose first cell opens the whole record. */
export function rowOf([time, ...cells]: Cells, onclick: () => void, tone: RowTone = ""): HTMLElement {
  return element(
    "tr",
    { class: tone },
    element("th", { attributes: { scope: "row" } }, element("button", { class: "link", onclick }, time)),
    ...cells.map((cell) => element("td", { title: cell }, cell)),
  );
}

/** A table of rows; its head is shown where there are some. */
export function tableOf(caption: HTMLElement, heads: readonly string[], body: HTMLElement): HTMLElement {
  const cells = heads.map((head) => element("th", { attributes: { scope: "col" } }, head));
  return element("table", {}, caption, element("thead", {}, element("tr", {}, ...cells)), body);
}

export function runningCells(request: RunningRequest): Cells {
  const { ts, tool, model, model_requested: requested, duration_ms: age } = request;
  const used = usedCells(request);
  return [timeOf(ts), tool, model ?? requested ?? "", ...used, formatSeconds(age), describeState(request)];
}

/** Services say how many tokens there are at the end: until then, bytes show that a response goes on. */
function describeState({ ttft_ms: ttft, bytes_out: bytes }: RunningRequest): string {
  if (ttft === null) return "waiting for the first token";
  return `first token after ${formatSeconds(ttft)}, ${formatBytes(bytes)} so far`;
}

export function endedCells(entry: FeedEntry): Cells {
  if ("notice" in entry) return [timeOf(entry.ts), "", "", "", "", "", "", entry.notice];
  if ("refused" in entry) return refusalCells(entry);
  const { ts, tool, model, model_requested: requested, duration_ms: took } = entry;
  return [
    timeOf(ts),
    tool,
    model ?? requested ?? "",
    ...usedCells({ ...entry, tokens: tokensOfModel(entry) }),
    formatSeconds(took),
    describeEnd(entry),
  ];
}

/** Says how a request ended: `200 ok`, `429 refused (budget_spent)`. */
export function describeEnd({ outcome, status, error_type: type }: UsageRecord): string {
  if (outcome === "rejected") return refusedAs(status, type ?? "");
  return [status ?? "", outcome, type ?? ""].join(" ").trim();
}

function refusalCells({ ts, tool, status, refused, method, path }: Refusal): Cells {
  const end = `${refusedAs(status, refused)}: ${method} ${path}`;
  return [timeOf(ts), tool ?? "unknown", "", "", "", "", "", end];
}

function refusedAs(status: number | null, code: string): string {
  return `${status ?? ""} refused (${code})`.trim();
}

/** How a row stands out. */
export function toneOf(entry: FeedEntry): RowTone {
  if ("notice" in entry) return "warning";
  if ("refused" in entry) return "failure";
  if (entry.outcome === "error" || entry.outcome === "failed" || entry.outcome === "rejected")
    return "failure";
  return entry.outcome === "cut" ? "warning" : "";
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

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

function timeOf(iso: string): string {
  return TIME.format(new Date(iso));
}
