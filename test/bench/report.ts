import { renderComparison } from "./comparison.ts";
import type { FarResult } from "./far/far.ts";
import type { MeterResult } from "./meter/meter.ts";
import { type Base, BASES, type BenchResult, type ScenarioResult } from "./result.ts";
import { renderSessions } from "./sessions/render.ts";
import type { Figure } from "./scenarios/scenario.ts";
import type { Summary } from "./statistics.ts";
import { markdownTable } from "./table.ts";
import { describeTrust } from "./trust.ts";
import type { WebSocketResult } from "./websocket/websocket.ts";

const NOTHING = "–";

/** Renders the results for people and for docs/performance.md: ratios, figures, and how reliable they are. */
export function renderReport(result: BenchResult): string[] {
  const { machine, placement, rounds, versions, scenarios, far, meter, webSocket, sessions, faults } = result;
  const names = Object.entries(versions).filter(([, version]) => version !== "");
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, Node ${machine.node}; ${placement}.`,
    ...(names.length === 0 ? [] : [`${names.map(([name, version]) => `${name} ${version}`).join(", ")}.`]),
    `Medians of ${rounds} interleaved rounds.`,
    ...renderComparison(result, new Date()),
    ...BASES.flatMap((base) => renderRatios(scenarios, base)),
    ...scenarios.flatMap(renderScenario),
    ...(far === null ? [] : renderFar(far)),
    ...(meter.length === 0 ? [] : renderMeter(meter)),
    ...(webSocket === null ? [] : renderWebSocket(webSocket)),
    ...(sessions === null ? [] : renderSessions(sessions)),
    "",
    ...describeTrust(result),
    ...(faults.length === 0 ? [] : ["", "WRONG, and so no figure above means anything:"]),
    ...faults,
  ];
}

/** Renders one row per headline figure and one column per target. Below 1 means less than the base. */
function renderRatios(scenarios: readonly ScenarioResult[], base: Base): string[] {
  const measured = scenarios[0]?.targets.map(({ target }) => target) ?? [];
  const others = measured.filter((target) => target !== "direct" && target !== base);
  if (!measured.includes(base) || others.length === 0) return [];
  const rows = scenarios.flatMap((scenario) =>
    scenario.figures
      .filter(({ isHeadline }) => isHeadline)
      .map((figure) => [
        `${scenario.name}: ${figure.title}`,
        ...others.map((target) => number(ratioOf(scenario, figure, target, base), 2)),
      ]),
  );
  return ["", ...markdownTable([`times that of ${base}`, ...others], rows)];
}

function ratioOf({ targets }: ScenarioResult, { key }: Figure, target: string, base: Base): number {
  return targets.find((one) => one.target === target)?.figures[key]?.ratioTo[base] ?? Number.NaN;
}

/** Renders medians, with the minimum and maximum of all rounds in brackets. */
function renderScenario({ name, title, figures, targets }: ScenarioResult): string[] {
  const rows = targets.map((one) => [
    one.target,
    ...figures.map((figure) => spread(one.figures[figure.key], figure)),
  ]);
  return [
    "",
    `${name}: ${title}`,
    "",
    ...markdownTable(["", ...figures.map((figure) => figure.title)], rows),
  ];
}

function renderFar({ paths }: FarResult): string[] {
  const figure = { digits: 0 };
  const rows = paths.map((one) => [PATH_TITLES[one.path], number(one.ratioToDirect, 2), spread(one, figure)]);
  const title = "tls: a fresh client's first byte from an upstream over TLS, 40 ms of round trip away";
  return ["", title, "", ...markdownTable(["", "times direct", "ms"], rows)];
}

function renderMeter(results: readonly MeterResult[]): string[] {
  const rows = results.map(({ name, unit, ns, usPerMegabyte, allocatedBytes }) => [
    name,
    unit,
    spread(ns, { digits: 0 }),
    number(usPerMegabyte, 0),
    number(allocatedBytes, 0),
    number(1e9 / ns.median, 0),
  ]);
  const rounds = results[0]?.ns.rounds.length ?? 0;
  const title = `meter and ledger: on their own, without sockets, ${rounds} rounds; processor time, and memory that is allocated`;
  return ["", title, "", ...markdownTable(["", "per", "ns", "µs/MB", "bytes", "per second"], rows)];
}

function renderWebSocket({ turns, rest }: WebSocketResult): string[] {
  const rows = Object.entries(turns).map(([transport, { cpuUs, firstAddedUs }]) => [
    transport,
    number(cpuUs, 0),
    number(firstAddedUs, 0),
  ]);
  const resting = Object.entries(rest).flatMap(([name, { restKb, flatMb }]) => [
    `${name} at rest: ${number(restKb.open, 0)} KB, after a turn of 20 KB ${number(restKb.used, 0)} KB`,
    `1,000 of them, every 5 s: ${flatMb.map((mb) => number(mb, 0)).join(", ")} MB`,
  ]);
  const title = "websocket: a turn of 20 KB with 42 events, on one connection";
  return [
    "",
    title,
    "",
    ...markdownTable(["", "CPU µs/turn", "first byte, added µs (p50)"], rows),
    "",
    ...resting,
  ];
}

const PATH_TITLES: Record<FarResult["paths"][number]["path"], string> = {
  direct: "direct",
  cold: "tollkeeper, just started",
  warm: "tollkeeper, a connection in its pool",
  idle: "tollkeeper, after the upstream closed that",
};

function spread(result: Summary | undefined, { digits }: Pick<Figure, "digits">): string {
  if (result === undefined || Number.isNaN(result.median)) return NOTHING;
  const { median, min, max } = result;
  return `${number(median, digits)} (${number(min, digits)}–${number(max, digits)})`;
}

function number(value: number, digits: number): string {
  if (!Number.isFinite(value)) return NOTHING;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
