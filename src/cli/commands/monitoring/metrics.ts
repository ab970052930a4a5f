import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, resolve } from "node:path";
import { askRunning } from "../../../daemon/running-daemon.ts";
import { Failure, hasCode, messageOf } from "../../../core/failure.ts";
import { describeUsage } from "../../../core/metrics/describe-usage.ts";
import type { Metric } from "../../../core/metrics/metric.ts";
import { writeMetrics } from "../../../core/metrics/prometheus-text.ts";
import type { MetricsAnswer } from "../../../daemon/metrics.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { defineCommand } from "../../command.ts";
import { loadConfig } from "../../load-config.ts";
import { cursorAtEnd, readCheckpoint } from "../../../adapters/ledger-file.ts";
import { ledgerDirectory, metricsPath } from "../../../adapters/paths.ts";
import type { Config } from "../../../core/config/config.ts";
import { parseMetricsState } from "../../../core/metrics/metrics-state.ts";
import { UsageMetrics } from "../../../core/metrics/usage-metrics.ts";
import { countAfter } from "../../../daemon/metrics/count-after.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { fixOf } from "../../../adapters/system-fix.ts";
import { replaceFile } from "../../../replace-file.ts";

/** What is known about a daemon that is not running. */
const NOT_RUNNING: Metric = {
  name: "tollkeeper.up",
  kind: "gauge",
  unit: "",
  help: "1 while the daemon runs; 0 if tollkeeper metrics found no running daemon.",
  points: [{ attributes: {}, value: 0 }],
};

/** `tollkeeper metrics`: prints the metrics that Prometheus would scrape, e.g. for the textfile collector of its node exporter. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("output", {
        type: "string",
        requiresArg: true,
        describe: "Replace this file atomically, for the textfile collector; every user can read it",
      })
      .epilogue(
        'If a daemon with "export.metrics" runs, this prints its figures. Otherwise, it counts the whole ledger.',
      ),
  handler: async ({ config: file, output }) => {
    const answer = await askRunning("metrics");
    const text = answer?.hasUsage === true ? answer.text : await countHere(file, answer);
    if (output === undefined) process.stdout.write(text);
    else writeForCollector(output, text);
  },
});

async function countHere(file: string | undefined, answer: MetricsAnswer | null): Promise<string> {
  const metrics = describeUsage(await countLedger(await loadConfig(file)));
  const own = answer === null ? [NOT_RUNNING] : [];
  return [...writeMetrics([...metrics, ...own], "text")].join("") + (answer?.text ?? "");
}

/**
 * Counts what a daemon would have counted by now: what its checkpoint has, and the ledger after it; without a checkpoint all of the ledger.
 * Writes nothing. Throws a Failure when the ledger cannot be read.
 */
async function countLedger(config: Config): Promise<UsageMetrics> {
  const known = readCheckpoint(metricsPath(), parseMetricsState);
  const usage = new UsageMetrics(known?.state.usage);
  const directory = known?.state.directory ?? ledgerDirectory(config);
  const after = known?.cursor ?? { days: {}, since: null };
  await countAfter({ directory, after, until: cursorAtEnd(directory) }, usage, await loadPrices(config));
  return usage;
}

/** The collector, another user, reads files whose names end in `.prom`. The unfinished one has another name. */
function writeForCollector(path: string, text: string): void {
  try {
    replaceFile(path, text, { mode: 0o644 });
  } catch (error) {
    throw new Failure(
      `cannot write the metrics: ${messageOf(error)}`,
      makeDirectoryFor(path, error) ?? fixOf(error) ?? "name a file in a directory that you can write",
      { cause: error },
    );
  }
}

/** Returns how to make the directory that is missing; null when something else is wrong. */
function makeDirectoryFor(path: string, error: unknown): string | null {
  const directory = dirname(resolve(path));
  if (!hasCode(error, "ENOENT") || existsSync(directory)) return null;
  const make = ["install", "-d", "-o", userInfo().username, directory];
  return `its directory is missing; to make it, type: ${formatCommand(["sudo", ...make])}; or name a file in one that you can write`;
}
