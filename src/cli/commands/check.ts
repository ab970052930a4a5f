import type { IsolatedProxy } from "../../check/guarantee.ts";
import { GUARANTEES } from "../../check/guarantees.ts";
import { DAEMON_GUARANTEES } from "../../check/guarantees/refusals.ts";
import { measureOverhead, type SampleCounts } from "../../check/overhead.ts";
import { runGuarantees } from "../../check/run-guarantees.ts";
import { programVersion } from "../../adapters/program.ts";
import type { Config } from "../../core/config/config.ts";
import { daemonStatus, listeningPort } from "../../daemon/client.ts";
import { trackLastError } from "../../daemon/last-error.ts";
import { systemClock } from "../../daemon/request-path.ts";
import type { DaemonStatus } from "../../daemon/status-types.ts";
import type { Log } from "../../ports.ts";
import { reportOptions, type Command, type ReportArguments } from "../command.ts";
import { loadConfig, resolveConfigPath } from "../load-config.ts";
import { EXIT, hasColours, print, printStyled } from "../terminal/console.ts";
import { openIsolatedProxy } from "./check/isolated-proxy.ts";
import { hasPassed, renderReport, type CheckReport, type DaemonReport } from "./check/report.ts";

/** Time limit for each guarantee, far more than any of them takes. */
const LIMIT_MS = 5_000;

const SAMPLE_COUNTS: SampleCounts = { warmUp: 50, requests: 300, streams: 100 };

/** `tollkeeper check`: verifies tollkeeper's guarantees on this installation. Exits with 0 when all of them hold, else 1. */
export const command: Command<ReportArguments> = {
  builder: reportOptions,
  handler: async ({ config, json }) => {
    const path = resolveConfigPath(config);
    const report = await check(path, await loadConfig(path), await daemonStatus());
    const passed = hasPassed(report);
    if (json) print(JSON.stringify({ passed, ...report }, null, 2));
    else printStyled(renderReport(report, hasColours()));
    if (!passed) process.exitCode = EXIT.failed;
  },
};

async function check(path: string, config: Config, daemon: DaemonStatus | null): Promise<CheckReport> {
  const { log, lastError } = trackLastError(SILENT, systemClock);
  const proxy = await openIsolatedProxy(config, log);
  try {
    const limitMs = LIMIT_MS + config.abort.graceMs;
    const { port, upstream } = proxy;
    const checks = await runGuarantees<IsolatedProxy>(GUARANTEES, port, proxy, limitMs);
    const canMeasure = checks.every(({ isOk }) => isOk);
    return {
      version: programVersion(),
      config: path,
      checks,
      overhead: canMeasure ? await measureOverhead(port, upstream, SAMPLE_COUNTS) : null,
      daemon: daemon === null ? null : await checkDaemon(daemon),
      lastError: lastError()?.message ?? null,
    };
  } finally {
    await proxy.close();
  }
}

/** Checks the user's own daemon, with requests that it refuses before it contacts an upstream or writes a record. */
async function checkDaemon(status: DaemonStatus): Promise<DaemonReport> {
  const { version, pid } = status;
  const port = listeningPort(status);
  return { version, pid, port, checks: await runGuarantees(DAEMON_GUARANTEES, port, {}, LIMIT_MS) };
}

/** Prints nothing: failures show in the checks, and the newest warning is reported with them. */
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
