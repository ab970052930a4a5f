import { tokensOfModel } from "../../../core/usage/batch/model-tokens.ts";
import { describeCost } from "./cost.ts";
import { choice, element, replaceContents } from "./elements.ts";
import type { PricedRecord } from "./feed-types.ts";
import { readRecords } from "./feeds.ts";
import { describeEnd, lastPart, toneOf } from "./live/live-rows.ts";
import { formatCount, formatMoment, formatSeconds, formatShare } from "./numbers.ts";
import { filterControls, periodControls } from "./period.ts";
import { showRecord } from "./record-dialog.ts";
import { OUTCOMES, questionOf, type Change, type State } from "./state.ts";
import { sortableTable, type TableColumn } from "./table.ts";
import { TIME_ZONE } from "./times.ts";

/** More would take the browser longer than a person waits. */
const MOST_REQUESTS = 1_000;

/** Shows the requests of a period: each opens, and what a cell names narrows the view. */
export async function renderRequests(
  parent: HTMLElement,
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const question = { timezone: TIME_ZONE, ...questionOf(state), lines: String(MOST_REQUESTS) };
  const records = await readRecords(question, signal);
  if (signal.aborted) return;
  const shown = records.filter((record) => isMeant(record, state.outcome));
  replaceContents(
    parent,
    shown.length === 0
      ? element("p", { class: "empty" }, "No request in this period matches.")
      : sortableTable(titleOf(state.outcome, records.length), columnsOf(state, change), shown, {
          class: "two-lines",
          sort: state.sort ?? "time",
          onSort: (sort) => change({ sort }),
          toneOf,
        }),
  );
}

/** Controls for the period, how requests ended, and the filters. */
export function requestsControls(state: State, change: Change): HTMLElement[] {
  const outcomes = OUTCOMES.map((outcome) => [outcome, outcome] as const);
  return [
    ...periodControls(state, change),
    choice("Outcome", outcomes, state.outcome, (outcome) => change({ outcome })),
    ...filterControls(state, change),
  ];
}

function isMeant({ outcome }: PricedRecord, wanted: State["outcome"]): boolean {
  if (wanted === "all") return true;
  if (wanted === "refused") return outcome === "rejected";
  return wanted === "cut" ? outcome === "cut" : outcome === "error" || outcome === "failed";
}

function titleOf(outcome: State["outcome"], read: number): string {
  const what = outcome === "all" ? "Requests" : `Requests: ${outcome}`;
  return read < MOST_REQUESTS ? what : `${what}, among the last ${formatCount(MOST_REQUESTS)} of this period`;
}

function columnsOf({ filter }: State, change: Change): TableColumn<PricedRecord>[] {
  /** A name that narrows the view to itself. */
  const named = (
    head: "tool" | "model" | "project",
    nameOf: (record: PricedRecord) => string | null,
    shorten = (name: string) => name,
  ): TableColumn<PricedRecord> => ({
    head,
    value: (record) => nameOf(record) ?? "",
    exact: (record) => nameOf(record) ?? "",
    isWords: true,
    contents: (record) => {
      const name = nameOf(record);
      if (name === null) return [];
      const narrow = () => change({ filter: { ...filter, [head]: name } });
      return [element("button", { class: "link", title: `only ${name}`, onclick: narrow }, shorten(name))];
    },
  });
  return [
    {
      head: "time",
      value: ({ ts }) => ts,
      contents: (record) => [
        element("button", { class: "link", onclick: () => showRecord(record) }, formatMoment(record.ts)),
      ],
    },
    {
      head: "cost",
      value: ({ cost }) => Number(cost.amount_usd),
      text: (record) => describeCost(record.cost, record),
      exact: ({ cost }) => cost.amount_usd ?? "",
    },
    {
      head: "outcome",
      value: (record) => (record.outcome === "completed" ? "completed" : describeEnd(record)),
      isWords: true,
      isVerdict: true,
    },
    named("tool", ({ tool }) => tool),
    named("model", ({ model, model_requested: requested }) => model ?? requested),
    named("project", ({ project }) => project, lastPart),
    counted("tokens in", (record) => tokensOfModel(record)?.input_total),
    {
      head: "from cache",
      value: (record) => cachedOf(record) / (tokensOfModel(record)?.input_total || 1),
      text: (record) => formatShare(cachedOf(record), tokensOfModel(record)?.input_total ?? 0),
    },
    counted("tokens out", (record) => tokensOfModel(record)?.output),
    {
      head: "first token",
      value: ({ ttft_ms: ttft }) => ttft ?? 0,
      text: ({ ttft_ms: ttft }) => (ttft === null ? "" : formatSeconds(ttft)),
    },
    {
      head: "took",
      value: ({ duration_ms: took }) => took,
      text: ({ duration_ms: took }) => formatSeconds(took),
    },
    {
      head: "tokens/s",
      value: (record) => speedOf(record) ?? 0,
      text: (record) => formatSpeed(speedOf(record)),
    },
  ];
}

function cachedOf(record: PricedRecord): number {
  return tokensOfModel(record)?.cache_read ?? 0;
}

/** Tokens; `≥` where a response was cut off before its last count, and nothing where none is known. */
function counted(
  head: string,
  countOf: (record: PricedRecord) => number | undefined,
): TableColumn<PricedRecord> {
  return {
    head,
    value: (record) => countOf(record) ?? 0,
    text(record) {
      const count = countOf(record);
      return count === undefined ? "" : `${record.usage === "partial" ? "≥" : ""}${formatCount(count)}`;
    },
  };
}

/** Shorter than that, what came is what had been buffered. */
const LEAST_MS = 50;

/** Tokens a second from the first token on; null where that cannot be said. */
function speedOf({ tokens, ttft_ms: ttft, duration_ms: took }: PricedRecord): number | null {
  if (tokens === null || tokens.output === 0 || ttft === null || took - ttft < LEAST_MS) return null;
  return (1_000 * tokens.output) / (took - ttft);
}

function formatSpeed(speed: number | null): string {
  return speed === null ? "" : formatCount(Math.round(speed));
}
