import type { Tokens } from "../../../../core/usage/reading.ts";
import { tokensOfModel } from "../../../../core/usage/batch/model-tokens.ts";
import { costInList } from "../cost.ts";
import { element } from "../elements.ts";
import type { PricedRecord } from "../feed-types.ts";
import { formatCount, momentParts, formatSeconds, formatShare } from "../numbers.ts";
import { nameProject } from "../project-names.ts";
import { describeEnd } from "../record/ending.ts";
import { noteOf, noteParts } from "../record/note.ts";
import { openRecord } from "../record.ts";
import type { Change, State } from "../state.ts";
import { RECORD, type TableColumn } from "../table.ts";
import { tokensPerSecond } from "../../../../core/ledger/times/tokens-per-second.ts";
import { signOf } from "./sign.ts";
import { formatSpeed } from "./speed.ts";

/** How a list is sorted where the most expensive requests come first. */
export const DEAREST = "cost";

/** Columns of the view of requests. A name that is clicked narrows the view to itself. */
export function requestColumns({ filter }: State, change: Change): TableColumn<PricedRecord>[] {
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
    { ...TIME, contents: (record) => [...signOf(record), ...timeContents(record)] },
    COST,
    named("tool", ({ tool }) => tool),
    named("model", ({ model, model_requested: requested }) => model ?? requested),
    named("project", ({ project }) => project, nameProject),
    countColumn("tokens in", (record) => tokensOfModel(record)?.input_total),
    fromCacheColumn(tokensOfModel),
    countColumn("tokens out", (record) => tokensOfModel(record)?.output),
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
      value: (record) => tokensPerSecond(record) ?? 0,
      text: (record) => formatSpeed(tokensPerSecond(record)),
    },
    NOTE,
  ];
}

/** What is always there: when, what it cost, and what is said of it. */
const LASTING: readonly string[] = [DEAREST, "time", "tool", "model", "note"];

/** Leaves out the columns in which none of the rows has anything: what failed has no tokens and no speed. */
export function columnsWithValues(
  columns: readonly TableColumn<PricedRecord>[],
  rows: readonly PricedRecord[],
): TableColumn<PricedRecord>[] {
  const has = ({ text, value }: TableColumn<PricedRecord>) =>
    rows.some((row) => (text === undefined ? value(row) !== "" : text(row) !== ""));
  return columns.filter((column) => LASTING.includes(column.head) || has(column));
}

/** The share of the input that was read from the cache. A request that missed it stands out. */
export function fromCacheColumn(
  tokensOf: (record: PricedRecord) => Pick<Tokens, "cache_read" | "input_total"> | null,
): TableColumn<PricedRecord> {
  return {
    head: "from cache",
    value(record) {
      const tokens = tokensOf(record);
      return (tokens?.cache_read ?? 0) / (tokens?.input_total || 1);
    },
    text(record) {
      const tokens = tokensOf(record);
      return formatShare(tokens?.cache_read ?? 0, tokens?.input_total ?? 0);
    },
    contents: (record, text) => [element("span", record.missed === null ? {} : { class: "missed" }, text)],
  };
}

export const TIME: TableColumn<PricedRecord> = {
  head: "time",
  value: ({ ts }) => ts,
  contents: timeContents,
};

function timeContents(record: PricedRecord): HTMLElement[] {
  const [day, time] = momentParts(record.ts);
  const date = element("span", { class: "date" }, day);
  return [
    element(
      "button",
      { class: "link", onclick: () => openRecord(record), attributes: { [RECORD]: record.id } },
      date,
      time,
    ),
  ];
}

export const COST: TableColumn<PricedRecord> = {
  head: DEAREST,
  money: "spent",
  value: ({ cost }) => Number(cost.amount_usd),
  text: (record, decimals) => costInList(record.cost, record, decimals),
  exact: ({ cost }) => cost.amount_usd ?? "",
};

/** What makes a request stand out; nothing for most. */
export const NOTE: TableColumn<PricedRecord> = {
  head: "note",
  value: noteOf,
  contents(record) {
    const { end, miss } = noteParts(record);
    const missed = miss === "" ? [] : [element("span", { class: "missed" }, miss)];
    return [...(end === "" ? [] : [miss === "" ? end : `${end}; `]), ...missed];
  },
  // CSV says of each how it ended.
  exact: (record) => noteOf(record) || describeEnd(record),
  isWords: true,
  isVerdict: true,
};

/** Tokens; `≥` where a response was cut off before its last count, and nothing where none is known. At least none is nothing, too. */
export function countColumn(
  head: string,
  countOf: (record: PricedRecord) => number | undefined,
): TableColumn<PricedRecord> {
  return {
    head,
    value: (record) => countOf(record) ?? 0,
    text(record) {
      const count = countOf(record);
      const isPart = record.usage === "partial";
      return count === undefined || (isPart && count === 0)
        ? ""
        : `${isPart ? "≥" : ""}${formatCount(count)}`;
    },
  };
}
