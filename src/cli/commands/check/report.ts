import type { Comparison, Overhead, Percentiles } from "../../../check/overhead.ts";
import type { CheckResult } from "../../../check/run.ts";
import { printable } from "../../../core/text/printable.ts";
import { layOut } from "../../terminal/table.ts";

/** The running daemon, and how it took what was tried on it. */
export interface CheckedDaemon {
  version: string;
  pid: number;
  port: number;
  checks: CheckResult[];
}

/** What `check` found. */
export interface CheckReport {
  version: string;
  /** Path of the configuration that was used. */
  config: string;
  checks: CheckResult[];
  /** null when a check failed: the times of a broken path say nothing. */
  overhead: Overhead | null;
  /** null when none runs. */
  daemon: CheckedDaemon | null;
  /** The newest warning or error of the request path that was checked. */
  lastError: string | null;
}

/** Does everything hold that was checked? */
export function hasPassed({ checks, daemon }: CheckReport): boolean {
  return [...checks, ...(daemon?.checks ?? [])].every(({ isOk }) => isOk);
}

/** The report for people: a table of the checks, one for a running daemon, and the overhead. */
export function renderReport(report: CheckReport, isColoured: boolean): string {
  const { version, config, checks, daemon, overhead } = report;
  const blocks = [
    `tollkeeper ${version}, with ${printable(config)}, in front of an upstream of its own; made-up keys, nothing leaves this machine`,
    renderChecks(checks, isColoured),
    daemon === null
      ? "no daemon of yours is running; nothing was tried on one"
      : `the running daemon, tollkeeper ${printable(daemon.version)}, pid ${daemon.pid}, port ${daemon.port}:\n${renderChecks(daemon.checks, isColoured)}`,
    overhead === null
      ? "overhead: not measured, because a check failed"
      : renderOverhead(overhead, isColoured),
    verdictOn(report),
  ];
  return blocks.join("\n\n");
}

function renderChecks(checks: readonly CheckResult[], isColoured: boolean): string {
  const rows = checks.map(({ name, proves, fault }) => [
    fault === null ? "ok" : "FAILED",
    name,
    printable(fault ?? proves),
  ]);
  const heads = ["result", "check", "what it proves"].map((head) => ({ head, align: "left" as const }));
  return layOut(heads, rows, isColoured);
}

/** As measured: what is much depends on the machine and on what else it does. */
function renderOverhead({ request, firstByte }: Overhead, isColoured: boolean): string {
  const heads = ["p50", "p90", "p99"].map((head) => ({ head, align: "right" as const }));
  const rows = [...rowsOf("request", request), ...rowsOf("first byte of a stream", firstByte)];
  return `${layOut([{ head: "milliseconds", align: "left" }, ...heads], rows, isColoured)}
as measured now, ${request.count} requests and ${firstByte.count} streams of each kind, one after another; client, tollkeeper and upstream share one process`;
}

function rowsOf(what: string, { direct, through, added }: Comparison): string[][] {
  return [
    [`${what}, without tollkeeper`, ...cellsOf(direct)],
    [`${what}, through tollkeeper`, ...cellsOf(through)],
    [`${what}, added`, ...cellsOf(added)],
  ];
}

function cellsOf({ p50, p90, p99 }: Percentiles): string[] {
  return [p50, p90, p99].map((ms) => ms.toFixed(2));
}

function verdictOn({ checks, daemon, lastError }: CheckReport): string {
  const all = [...checks, ...(daemon?.checks ?? [])];
  const failed = all.filter(({ isOk }) => !isOk);
  if (failed.length === 0) return `all ${all.length} checks passed`;
  return [
    `${failed.length} of ${all.length} checks failed`,
    ...failed.map(({ name, remedy }) => `${name}: ${remedy}`),
    ...(lastError === null ? [] : [`meanwhile tollkeeper logged: ${printable(lastError)}`]),
  ].join("\n");
}
