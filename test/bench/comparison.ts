import type { BenchResult, ScenarioResult } from "./result.ts";
import { markdownTable } from "./table.ts";
import { tollkeeper } from "./targets/tollkeeper.ts";

/** A row of the comparison. Each figure is named by its scenario and its key, whose end is its unit. */
interface Row {
  title: string;
  figures: readonly (readonly [scenario: string, key: string])[];
}

const ROWS: readonly Row[] = [
  { title: "processor time per small request, 1 connection", figures: [["small1", "cpuUs"]] },
  { title: "… 16 connections", figures: [["small16", "cpuUs"]] },
  { title: "… 64 connections", figures: [["small64", "cpuUs"]] },
  { title: "time added to a small request, 1 connection (p50)", figures: [["small1", "addedUs"]] },
  { title: "… on 8 fresh connections at once", figures: [["burst0", "firstByteUs"]] },
  { title: "… after 10,000 ended ones", figures: [["burst10000", "firstByteUs"]] },
  { title: "time added to each event of a stream (p50)", figures: [["stream", "delayP50Us"]] },
  { title: "processor time per event of a fast stream", figures: [["firehose", "cpuUs"]] },
  { title: "… of Chat Completions", figures: [["chat", "cpuUs"]] },
  { title: "processor time per event, 1,000 slow streams", figures: [["slow1000", "cpuUs"]] },
  { title: "most memory, 1,000 slow streams", figures: [["slow1000", "peakMb"]] },
  { title: "64 KB request, processor time", figures: [["large64", "cpuUs"]] },
  { title: "1 MB request, processor time", figures: [["large", "cpuUs"]] },
  {
    title: "start to first response; memory then",
    figures: [
      ["start", "startMs"],
      ["start", "idleMb"],
    ],
  },
];

/** Other configurations of ours, which have no column of their own. */
const isVariant = (name: string) => name.startsWith(`${tollkeeper.name}-`);
const MICROSECONDS_SHOWN = 10_000;

/** Renders the table of docs/performance.md, with its date and versions, from whatever was measured. */
export function renderComparison(
  { machine, versions, rounds, scenarios }: BenchResult,
  date: Date,
): string[] {
  const targets = Object.entries(versions).filter(([, version]) => version !== "");
  const columns = targets.map(([name]) => name).filter((name) => !isVariant(name));
  const rows = ROWS.filter(({ figures }) =>
    figures.some(([name]) => find(scenarios, name) !== undefined),
  ).map(({ title, figures }) => [
    title,
    ...columns.map((target) => figures.map((figure) => read(scenarios, figure, target)).join("; ")),
  ]);
  if (columns.length < 2 || rows.length === 0) return [];
  const measured = columns.map((name) => `${name} ${versions[name]}`).join(", ");
  return [
    "",
    `Measured on ${date.toISOString().slice(0, 10)}: ${measured}; Node ${machine.node.slice(1)}, ${machine.kernel}, ${machine.cpu};`,
    `medians of ${rounds} interleaved rounds.`,
    "",
    ...markdownTable(["", ...columns], rows),
  ];
}

function find(scenarios: readonly ScenarioResult[], name: string): ScenarioResult | undefined {
  return scenarios.find((scenario) => scenario.name === name);
}

function read(
  scenarios: readonly ScenarioResult[],
  [name, key]: Row["figures"][number],
  target: string,
): string {
  const measured = find(scenarios, name)?.targets.find((one) => one.target === target);
  return withUnit(measured?.figures[key]?.median ?? Number.NaN, key);
}

/** The key's end says the unit: `cpuUs` is in microseconds. */
function withUnit(value: number, key: string): string {
  if (!Number.isFinite(value)) return "–";
  if (key.endsWith("Mb")) return `${digits(value, 0)} MB`;
  if (key.endsWith("Ms")) return `${digits(value, 0)} ms`;
  if (value >= MICROSECONDS_SHOWN) return `${digits(value / 1_000, 0)} ms`;
  return `${digits(value, Math.abs(value) < 10 ? 1 : 0)} µs`;
}

function digits(value: number, count: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: count, maximumFractionDigits: count });
}
