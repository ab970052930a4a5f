import type { Comparison, Overhead, Percentiles } from "../../../check/overhead.ts";
import type { GuaranteeResult } from "../../../check/run-guarantees.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatTable } from "../../terminal/table.ts";

/** Results of the checks on the running daemon. */
export interface DaemonReport {
  version: string;
  pid: number;
  port: number;
  checks: GuaranteeResult[];
}

/** Everything that `check` found, as `--json` prints it. */
export interface CheckReport {
  version: string;
  /** Path of the configuration file. */
  config: string;
  checks: GuaranteeResult[];
  /** null when a check failed: the times of a broken path mean nothing. */
  overhead: Overhead | null;
  /** null when no daemon is running. */
  daemon: DaemonReport | null;
  /** The newest warning or error that the checked request path logged; null when there was none. */
  lastError: string | null;
}

/** True when every check passed. */
export function hasPassed({ checks, daemon }: CheckReport): boolean {
  return [...checks, ...(daemon?.checks ?? [])].every(({ isOk }) => isOk);
}

/** Renders the report: a table of the checks, one for a running daemon, and the overhead. */
export function renderReport(report: CheckReport, isColoured: boolean): string {
  const { version, config, checks, daemon, overhead } = report;
  const blocks = [
    `tollkeeper ${version}, with ${toPrintable(config)}, in front of an upstream of its own; made-up keys, nothing leaves this machine`,
    renderChecks(checks, isColoured),
    daemon === null
      ? "no daemon of yours is running; nothing was tried on one"
      : `the running daemon, tollkeeper ${toPrintable(daemon.version)}, pid ${daemon.pid}, port ${daemon.port}:\n${renderChecks(daemon.checks, isColoured)}`,
    overhead === null
      ? "overhead: not measured, because a check failed"
      : renderOverhead(overhead, isColoured),
    summaryOf(report),
  ];
  return blocks.join("\n\n");
}

function renderChecks(checks: readonly GuaranteeResult[], isColoured: boolean): string {
  const rows = checks.map(({ name, proves, fault }) => [
    fault === null ? "ok" : "FAILED",
    name,
    toPrintable(fault ?? proves),
  ]);
  const heads = ["result", "check", "what it proves"].map((head) => ({ head, align: "left" as const }));
  return formatTable(heads, rows, isColoured);
}

/** Shows the times without a judgement: what is slow depends on the machine and its load. */
function renderOverhead({ request, firstByte }: Overhead, isColoured: boolean): string {
  const heads = ["p50", "p90", "p99"].map((head) => ({ head, align: "right" as const }));
  const rows = [...rowsOf("request", request), ...rowsOf("first byte of a stream", firstByte)];
  return `${formatTable([{ head: "milliseconds", align: "left" }, ...heads], rows, isColoured)}
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

function summaryOf({ checks, daemon, lastError }: CheckReport): string {
  const all = [...checks, ...(daemon?.checks ?? [])];
  const failed = all.filter(({ isOk }) => !isOk);
  if (failed.length === 0) return `all ${all.length} checks passed`;
  return [
    `${failed.length} of ${all.length} checks failed`,
    ...failed.map(({ name, remedy }) => `${name}: ${remedy}`),
    ...(lastError === null ? [] : [`meanwhile tollkeeper logged: ${toPrintable(lastError)}`]),
  ].join("\n");
}
