import { resolve } from "node:path";
import { configFailure, readConfigFile } from "../../adapters/config-file.ts";
import type { Installation } from "../../check/check.ts";
import { Client } from "../../check/client.ts";
import { INSTALLATION_CHECKS } from "../../check/list.ts";
import { measureOverhead, type Overhead, type Samples } from "../../check/overhead.ts";
import { DAEMON_CHECKS } from "../../check/refusals.ts";
import { runChecks } from "../../check/run.ts";
import type { Config } from "../../core/config/config.ts";
import type { Log } from "../../ports.ts";
import { openOwnInstallation, type OwnInstallation } from "./check/own-installation.ts";
import { hasPassed, renderReport, type CheckedDaemon, type CheckReport } from "./check/report.ts";
import type { Command } from "../command.ts";
import { EXIT, print, printStyled } from "../terminal/console.ts";
import { daemonStatus } from "../../daemon/client.ts";
import { configPath } from "../../adapters/paths.ts";
import { programVersion } from "../../adapters/program.ts";
import { trackLastError } from "../../daemon/last-error.ts";
import { systemClock } from "../../daemon/request-path.ts";
import type { DaemonStatus } from "./status/report.ts";

interface CheckArguments {
  config?: string | undefined;
  json: boolean;
}

/** Far more than any check takes: what has not come by then does not come. */
const LIMIT_MS = 5_000;

const SAMPLES: Samples = { warmUp: 50, requests: 300, streams: 100 };

/** `tollkeeper check`: holds what tollkeeper promises against this installation. Exits 0 when all of it holds, 1 otherwise. */
export const command: Command<CheckArguments> = {
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: async ({ config, json }) => {
    const path = config === undefined ? configPath() : resolve(config);
    const reading = await readConfigFile(path);
    if (!reading.ok) throw configFailure(path, reading.problems);
    const report = await check(path, reading.config, await daemonStatus());
    const passed = hasPassed(report);
    if (json) print(JSON.stringify({ passed, ...report }, null, 2));
    else printStyled(renderReport(report, process.stdout.isTTY && !process.env["NO_COLOR"]));
    if (!passed) process.exitCode = EXIT.failed;
  },
};

async function check(path: string, config: Config, running: DaemonStatus | null): Promise<CheckReport> {
  const { log, lastError } = trackLastError(SILENT, systemClock);
  const own = await openOwnInstallation(config, log);
  try {
    const limitMs = LIMIT_MS + config.abort.graceMs;
    const checks = await runChecks<Installation>(INSTALLATION_CHECKS, own.port, own, limitMs);
    return {
      version: programVersion(),
      config: path,
      checks,
      overhead: checks.every(({ isOk }) => isOk) ? await measure(own) : null,
      daemon: running === null ? null : await checkDaemon(running),
      lastError: lastError()?.message ?? null,
    };
  } finally {
    await own.close();
  }
}

async function measure(own: OwnInstallation): Promise<Overhead> {
  const client = new Client(own.port);
  try {
    return await measureOverhead({ ...own, client }, SAMPLES);
  } finally {
    client.close();
  }
}

/** Tries the daemon that serves this user's tools, too: only what it refuses before it asks an upstream or writes a record. */
async function checkDaemon({ version, pid, listening }: DaemonStatus): Promise<CheckedDaemon> {
  const port = Number(/:(\d+)$/.exec(listening[0] ?? "")?.[1]);
  return { version, pid, port, checks: await runChecks(DAEMON_CHECKS, port, {}, LIMIT_MS) };
}

/** What goes wrong shows in the checks; the newest warning is shown with them. */
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
