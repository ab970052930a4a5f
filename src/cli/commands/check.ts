import { programVersion } from "../../adapters/program.ts";
import type { IsolatedProxy } from "../../check/guarantee.ts";
import { GUARANTEES, runGuarantees, type GuaranteeResult } from "../../check/guarantees.ts";
import { OWN_KEYS, SIGNED } from "../../check/guarantees/other-credentials.ts";
import { DAEMON_GUARANTEES } from "../../check/guarantees/refusals.ts";
import { measureOverhead } from "../../check/overhead.ts";
import type { Comparison, Overhead, Percentiles, SampleCounts } from "../../check/overhead.ts";
import type { Config } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import { CHECK_HEADER } from "../../proxy/refusals/check-pass.ts";
import { attempt } from "../attempt.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { askRunning, daemonStatus, listeningPort } from "../../daemon/running-daemon.ts";
import { trackLastError } from "../../daemon/last-error.ts";
import { systemClock } from "../../daemon/assemble-gate.ts";
import type { DaemonStatus } from "../../daemon/status.ts";
import type { Log } from "../../ports.ts";
import { reportOptions, type Command, type ReportArguments } from "../command.ts";
import { loadConfig, resolveConfigPath } from "../load-config.ts";
import { EXIT, hasColours, printJson, printStyled } from "../terminal/console.ts";
import { withProgramName } from "../terminal/program-name.ts";
import { formatTable } from "../terminal/table.ts";
import { hasOtherCredential, isolateCredentials } from "./check/isolate-config.ts";
import { openIsolatedProxy } from "./check/isolated-proxy.ts";

/** Time limit for each guarantee, far more than any of them takes. */
const LIMIT_MS = 5_000;

const SAMPLE_COUNTS: SampleCounts = { warmUp: 50, requests: 300, streams: 100 };

/** Prints nothing: failures show in the checks, and the newest warning is reported with them. */
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Everything that `check` found, as `--json` prints it. */
export interface CheckReport {
  version: string;
  /** Path of the configuration file. */
  config: string;
  checks: GuaranteeResult[];
  /** null when a check failed: the times of a broken path mean nothing. */
  overhead: Overhead | null;
  /** Results of the checks on the running daemon; null when none is running. */
  daemon: { version: string; pid: number; port: number; checks: GuaranteeResult[] } | null;
  /** The newest warning or error that the checked request path logged; null when there was none. */
  lastError: string | null;
}

/** `tollkeeper check`: verifies tollkeeper's guarantees on this installation. Exits with 0 when all of them hold, else 1. */
export const command: Command<ReportArguments> = {
  builder: reportOptions,
  handler: async ({ config, json }) => {
    const path = resolveConfigPath(config);
    const report = await check(path, await loadConfig(path), await daemonStatus());
    const passed = allResults(report).every(({ isOk }) => isOk);
    if (json) printJson({ passed, ...report });
    else printStyled(withProgramName(renderReport(report, hasColours())));
    if (!passed) process.exitCode = EXIT.failed;
  },
};

async function check(path: string, config: Config, daemon: DaemonStatus | null): Promise<CheckReport> {
  const { log, lastError } = trackLastError(SILENT, systemClock);
  const others = await checkOtherCredentials(config, log);
  const proxy = await openIsolatedProxy(config, log);
  try {
    const limitMs = LIMIT_MS + config.abort.graceMs;
    const { port, upstream } = proxy;
    const checks = [...(await runGuarantees<IsolatedProxy>(GUARANTEES, port, proxy, limitMs)), ...others];
    const canMeasure = checks.every(({ isOk }) => isOk);
    return {
      version: programVersion(),
      config: path,
      checks,
      overhead: canMeasure ? await measureOverhead(port, upstream, SAMPLE_COUNTS) : null,
      daemon: daemon === null ? null : await checkDaemon(daemon),
      lastError: lastError(() => false)?.message ?? null,
    };
  } finally {
    await proxy.close();
  }
}

/** Checks the upstreams whose requests are signed, or carry the keys of tools, on a request path that has only these. */
async function checkOtherCredentials(config: Config, log: Log): Promise<GuaranteeResult[]> {
  const found = Object.values(config.upstreams).filter(hasOtherCredential);
  if (found.length === 0) return [];
  const guarantees = [
    ...(found.some(({ auth }) => auth === "sigv4") ? [SIGNED] : []),
    ...(found.some(({ credential }) => credential === "client") ? [OWN_KEYS] : []),
  ];
  const proxy = await openIsolatedProxy(config, log, isolateCredentials);
  try {
    return await runGuarantees<IsolatedProxy>(guarantees, proxy.port, proxy, LIMIT_MS);
  } finally {
    await proxy.close();
  }
}

/** Checks the user's own daemon, with requests that it refuses before it contacts an upstream or writes a record. */
async function checkDaemon(status: DaemonStatus): Promise<CheckReport["daemon"]> {
  const { version, pid } = status;
  const port = listeningPort(status);
  const pass = await findPass();
  return { version, pid, port, checks: await runGuarantees(DAEMON_GUARANTEES, port, {}, LIMIT_MS, pass) };
}

/** Returns the header by which the daemon counts its refusals of the checks apart. A daemon of an earlier version has none. */
async function findPass(): Promise<[name: string, value: string][]> {
  const { value } = await attempt(Failure, () => askRunning("check-pass"));
  return value === null ? [] : [[CHECK_HEADER, value.pass]];
}

function allResults({ checks, daemon }: CheckReport): GuaranteeResult[] {
  return [...checks, ...(daemon?.checks ?? [])];
}

/** Renders the report: a table of the checks, one for a running daemon, and the overhead. */
function renderReport(report: CheckReport, isColoured: boolean): string {
  const { version, config, checks, daemon, overhead } = report;
  const blocks = [
    `tollkeeper ${version}, configuration ${toPrintable(config)}, with a test upstream and made-up keys; nothing leaves this machine`,
    renderChecks(checks, isColoured),
    daemon === null
      ? "no daemon is running, so none was tested"
      : `the running daemon, tollkeeper ${toPrintable(daemon.version)}, pid ${daemon.pid}, port ${daemon.port}:\n${renderChecks(daemon.checks, isColoured)}`,
    overhead === null
      ? "overhead: not measured, because a check failed"
      : renderOverhead(overhead, isColoured),
    summaryOf(report),
  ];
  return blocks.join("\n\n");
}

function renderChecks(checks: readonly GuaranteeResult[], isColoured: boolean): string {
  const rows = checks.map(({ name, isOk, proves, fault }) => {
    return [isOk ? "ok" : "FAILED", name, toPrintable(fault ?? proves)];
  });
  return formatTable(["result", "check", "what it proves"], rows, isColoured);
}

/** Shows the times without a judgement: what is slow depends on the machine and its load. */
function renderOverhead({ request, firstByte }: Overhead, isColoured: boolean): string {
  const heads = ["p50", "p90", "p99"].map((head) => ({ head, align: "right" as const }));
  const rows = [...rowsOf("request", request), ...rowsOf("first byte of a stream", firstByte)];
  return `${formatTable(["milliseconds", ...heads], rows, isColoured)}
measured just now: ${request.count} requests and ${firstByte.count} streams of each kind, in sequence; client, tollkeeper and upstream share one process`;
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

function summaryOf(report: CheckReport): string {
  const { lastError } = report;
  const all = allResults(report);
  const failed = all.filter(({ isOk }) => !isOk);
  if (failed.length === 0) return `all ${all.length} checks passed`;
  return [
    `${failed.length} of ${all.length} checks failed`,
    ...failed.map(({ name, remedy }) => `${name}: ${remedy}`),
    ...(lastError === null ? [] : [`during the checks tollkeeper logged: ${toPrintable(lastError)}`]),
  ].join("\n");
}
