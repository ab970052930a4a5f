import { chartOf } from "../chart.ts";
import { meetProjects, nameProject } from "../project-names.ts";
import type { ChartMark } from "../chart/charted.ts";
import { card, copyable, element } from "../elements.ts";
import type { Miss, PricedRecord, Row } from "../feed-types.ts";
import { toneOf } from "../live/live-rows.ts";
import {
  formatCompact,
  formatCount,
  formatDollars,
  formatDollarsIn,
  formatMoment,
  formatSeconds,
  formatShare,
  formatTimeOfDay,
} from "../numbers.ts";
import { noteOf } from "../record/note.ts";
import { COST, countColumn, fromCacheColumn, NOTE, TIME } from "../requests/request-columns.ts";
import type { Change } from "../state.ts";
import { mapColumn, sortableTable, type TableColumn } from "../table.ts";
import { dayOf } from "../times.ts";
import { nameBriefly } from "../time-names.ts";
import { allOf, costOf, describeEndings, inputOf, nameIn } from "../usage-sums.ts";
import { agentTable, nameAgent } from "./agent-table.ts";
import { classBar } from "./class-bar.ts";
import { followSession, type SessionRequest } from "./session-requests.ts";
import { describeSession, formatFromTo, formatLength } from "./session-words.ts";

const SECOND_MS = 1_000;

/** What is known of a session. */
interface SessionFacts {
  id: string;
  /** Its sums, by tool. */
  tools: readonly Row[];
  /** Its sums, by agent and its kind. */
  agents: readonly Row[];
  /** Its last requests, the oldest first. */
  records: readonly PricedRecord[];
  /** Its first day; null if all of its requests are there. */
  firstDay: string | null;
}

/** What a session cost, and why. */
export function sessionOf(
  { id, tools, agents, records, firstDay }: SessionFacts,
  sort: string | undefined,
  change: Change,
): HTMLElement[] {
  const [first, last] = [records[0], records.at(-1)];
  if (tools.length === 0 || first === undefined || last === undefined)
    return [element("p", { class: "empty" }, "No request of this session is known.")];
  const all = tools.reduce((sum, row) => sum + allOf(row), 0);
  const before = Math.max(0, all - records.length);
  const requests = followSession(records, before);
  const isPart = before > 0;
  const part = isPart ? `the last ${formatCount(records.length)} of ${formatCount(all)}` : "";
  const when =
    isPart && firstDay !== null && !isSameDay(`${firstDay}T00:00`, first.ts)
      ? `${nameBriefly(firstDay, "day")} to ${formatFromTo(last.ts, last.ts)}`
      : formatFromTo(first.ts, last.ts);
  const projects = namesIn(records, "project");
  meetProjects(projects);
  const models = modelsIn(records);
  const [name, rest] = describeSession({
    tools: tools.map((row) => nameIn(row, "tool")),
    projects: projects.map(nameProject),
    branches: namesIn(records, "branch"),
    when: [...(models.length === 1 ? models : []), when].join(", "),
  });
  return [
    element("h2", { class: "session", title: projects.join(", ") }, name, element("small", {}, rest)),
    copyable(id),
    ...tools.map((row) =>
      sessionGlance(row, tools.length > 1, isPart ? null : Date.parse(last.ts) - Date.parse(first.ts)),
    ),
    ...classBar(records),
    element(
      "ul",
      { class: "reasons" },
      ...[
        isPart ? `The sentences and the chart are about ${part} requests.` : "",
        describeGrowth(records),
        describeMisses(requests),
      ]
        .filter((sentence) => sentence !== "")
        .map((sentence) => element("li", {}, sentence)),
    ),
    requestChart(requests, part),
    ...(agents.length > 1 ? [agentTable(agents, records)] : []),
    sortableTable(`Requests of this session${isPart ? `, ${part}` : ""}`, columnsOf(requests), requests, {
      // Its title has the day.
      class: `two-lines of-session${isSameDay(first.ts, last.ts) ? " of-day" : ""}`,
      sort: sort ?? "time",
      onSort: (chosen: string) => change({ sort: chosen }),
      days: isSameDay(first.ts, last.ts)
        ? undefined
        : { head: "time", dayOf: ({ record: { ts } }) => dayOf(new Date(ts)) },
      toneOf: ({ record }) => toneOf(record),
    }),
  ];
}

/** Whether two moments, or local days at their start, are on the same local day. */
function isSameDay(one: string, other: string): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

/** The names that requests have, each once, the latest last. */
function namesIn(records: readonly PricedRecord[], field: "project" | "branch"): string[] {
  return [...new Set(records.flatMap((record) => record[field] ?? []))];
}

/** A slot for each request, so that as much room means as many requests, however long the breaks between them were. */
function requestChart(requests: readonly SessionRequest[], part: string): HTMLElement {
  const series = (name: string, kind: "cache_read" | "cache_write" | "input_uncached", colour: number) => {
    const counts = requests.map(({ record }) => record.tokens?.[kind] ?? 0);
    const words = requests.map(({ record }, at) => wordFor(record, counts[at] ?? 0));
    return { name, colour, values: counts, words };
  };
  const places = (isMeant: (request: SessionRequest) => boolean) =>
    requests.flatMap((request, at) => (isMeant(request) ? [at] : []));
  const marks: ChartMark[] = [
    { name: "missed the cache", shape: "triangle", places: places(({ record }) => record.missed !== null) },
    {
      name: "failed, refused or cut short",
      shape: "cross",
      places: places(({ record }) => toneOf(record) !== ""),
    },
  ];
  return chartOf({
    title: `Input tokens of each request, and the cost so far${part === "" ? "" : ` (${part} requests)`}`,
    times: requests.map((request) => ({
      brief: formatTimeOfDay(request.record.ts),
      whole: [
        `Request ${formatCount(request.number)}, ${formatMoment(request.record.ts)}`,
        reasonFor(request),
      ]
        .filter((text) => text !== "")
        .join(": "),
    })),
    firstNumber: requests[0]?.number ?? 1,
    series: [
      series("from cache", "cache_read", 0),
      ...(writesToCache(requests) ? [series("to cache", "cache_write", 1)] : []),
      series("uncached", "input_uncached", 2),
    ],
    sumWords: requests.map(({ record }) => wordFor(record, record.tokens?.input_total ?? 0)),
    unit: "tokens",
    line: {
      name: "cost so far",
      values: requests.map(({ costSoFar }) => costSoFar ?? 0),
      words: requests.map((request) => describeCostSoFar(request)),
    },
    marks: marks.filter((mark) => mark.places.length > 0),
  });
}

/** Of services that have caches of their own, nothing is written to them. */
function writesToCache(requests: readonly SessionRequest[]): boolean {
  return requests.some(({ record: { tokens } }) => (tokens?.cache_write ?? 0) > 0);
}

/** What stands for a count that is at least that. */
function wordFor({ usage }: PricedRecord, count: number): string | undefined {
  return usage === "partial" && count > 0 ? `≥${formatCompact(count)}` : undefined;
}

function describeCostSoFar({ costSoFar, isExactSoFar }: SessionRequest, decimals?: number): string {
  return costSoFar === null ? "unknown" : `${isExactSoFar ? "" : "≥"}${formatDollarsIn(costSoFar, decimals)}`;
}

/** Why a request is marked; "" if it is not. */
function reasonFor({ record }: SessionRequest): string {
  return noteOf(record) || (record.tokens === null ? "no token counts" : "");
}

/** A session's sums, of all of its requests, as its list and its chart have them; how long it lasted, in milliseconds, if all of its requests are known. */
function sessionGlance(row: Row, hasOthers: boolean, lasted: number | null): HTMLElement {
  const tool = nameIn(row, "tool");
  return element(
    "section",
    { class: "glance even", ariaLabel: `the session at a glance: ${tool}` },
    card("Cost", costOf(row), ...(hasOthers ? [tool] : [])),
    card(
      "Requests",
      formatCount(allOf(row)),
      describeEndings(row),
      ...(lasted === null || lasted < SECOND_MS ? [] : [`in ${formatLength(lasted)}`]),
    ),
    card(
      "Tokens in",
      formatCount(inputOf(row)),
      `${formatShare(row.cache_read, inputOf(row)) || "0%"} from cache`,
    ),
    card("Tokens out", formatCount(row.output)),
  );
}

/** A request is charged for all that was said before it. */
function describeGrowth(records: readonly PricedRecord[]): string {
  const inputs = records.flatMap(({ tokens }) => (tokens === null ? [] : [tokens.input_total]));
  const [first, last] = [inputs[0], inputs.at(-1)];
  if (first === undefined || last === undefined || inputs.length < 2) return "";
  const most = Math.max(...inputs);
  const peak = most > last ? `, with a peak of ${formatCount(most)}` : "";
  return `The input per request went from ${formatCount(first)} to ${formatCount(last)} tokens${peak}. Each is charged for all of its input.`;
}

/** Why the session cost what it did, as far as the cache is the reason. */
function describeMisses(requests: readonly SessionRequest[]): string {
  const isUncached = requests.every(({ record: { tokens } }) => {
    return tokens === null || tokens.cache_read + tokens.cache_write === 0;
  });
  if (isUncached) return "No request read from the cache or wrote to it.";
  const missed = requests.flatMap(({ record }) => record.missed ?? []);
  if (missed.length === 0) return "No request is known to have missed the cache.";
  const cost = missed.reduce((sum, { cost_usd: usd }) => sum + Number(usd), 0);
  const worth = missed.reduce((sum, { plan_worth_usd: usd }) => sum + Number(usd), 0);
  const bound = missed.every(({ is_exact: isExact }) => isExact) ? "" : "≥";
  const plan = worth === 0 ? "" : `, and (${bound}${formatDollars(worth)}) of a plan`;
  const counted = requests.filter(({ record }) => record.tokens !== null);
  return `${formatCount(missed.length)} of ${formatCount(counted.length)} requests with token counts missed the cache. Hits would have cost ${bound}${formatDollars(cost)} less${plan}. The main reason: ${mainReason(missed)}.`;
}

/** The reason that cost most. */
function mainReason(missed: readonly Miss[]): string {
  const losses = new Map<string, number>();
  for (const { meaning, cost_usd: cost, plan_worth_usd: worth } of missed)
    losses.set(meaning, (losses.get(meaning) ?? 0) + Number(cost) + Number(worth));
  return [...losses].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? "";
}

const REQUEST_COLUMNS: readonly TableColumn<SessionRequest>[] = [
  ofRecord(TIME),
  { head: "request", value: ({ number }) => number },
  { head: "agent", value: ({ record }) => nameAgent(record.agent, record.agent_kind), isWords: true },
  ofRecord(COST),
  {
    head: "cost so far",
    money: "other",
    value: ({ costSoFar }) => costSoFar ?? 0,
    text: describeCostSoFar,
    exact: ({ costSoFar }) => String(costSoFar ?? ""),
  },
  ofRecord(countColumn("tokens in", ({ tokens }) => tokens?.input_total)),
  ofRecord(fromCacheColumn(({ tokens }) => tokens)),
  ofRecord(countColumn("to cache", ({ tokens }) => tokens?.cache_write)),
  ofRecord(countColumn("tokens out", ({ tokens }) => tokens?.output)),
  { head: "model", value: ({ record }) => record.model ?? record.model_requested ?? "", isWords: true },
  {
    head: "took",
    value: ({ record }) => record.duration_ms,
    text: ({ record }) => formatSeconds(record.duration_ms),
  },
  ofRecord(NOTE),
];

/** Most sessions have one model, which their title names. Many write nothing to a cache. */
function columnsOf(requests: readonly SessionRequest[]): readonly TableColumn<SessionRequest>[] {
  const records = requests.map(({ record }) => record);
  const isNeeded: Readonly<Record<string, boolean>> = {
    model: modelsIn(records).length > 1,
    "to cache": writesToCache(requests),
  };
  return REQUEST_COLUMNS.filter(({ head }) => isNeeded[head] ?? true);
}

/** The models that requests were for, each once. */
function modelsIn(records: readonly PricedRecord[]): string[] {
  return [...new Set(records.flatMap(({ model, model_requested: requested }) => model ?? requested ?? []))];
}

/** A column of requests, for those of a session. */
function ofRecord(column: TableColumn<PricedRecord>): TableColumn<SessionRequest> {
  return mapColumn(column, ({ record }: SessionRequest) => record);
}
