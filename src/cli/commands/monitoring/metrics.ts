import { renameSync, rmSync, writeFileSync } from "node:fs";
import { askDaemon } from "../../../adapters/control-socket.ts";
import { controlPath } from "../../../adapters/paths.ts";
import { Failure, messageOf } from "../../../core/failure.ts";
import { describeUsage } from "../../../core/metrics/describe-usage.ts";
import type { Metric } from "../../../core/metrics/metric.ts";
import { writeMetrics } from "../../../core/metrics/prometheus-text.ts";
import type { MetricsAnswer } from "../../../daemon/metrics.ts";
import { defineCommand } from "../../command.ts";
import { loadConfig } from "../../load-config.ts";
import { countLedger } from "../../metrics/count-ledger.ts";

/** What is known of a daemon that does not run. */
const NOT_RUNNING: Metric = {
  name: "tollkeeper.up",
  kind: "gauge",
  unit: "",
  help: "1 while the daemon runs; 0 in a text that was written without it.",
  points: [{ attributes: {}, value: 0 }],
};

/** `tollkeeper metrics`: prints what Prometheus would be told, e.g. for the textfile collector of its node exporter. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("output", {
        type: "string",
        requiresArg: true,
        describe: "Replace this file at once, as the textfile collector needs it; everyone may read it",
      })
      .epilogue(
        'Without "export.metrics" in the configuration, this counts the whole ledger each time; with it, the daemon has counted already.',
      ),
  handler: async ({ config: file, output }) => {
    const answer = (await askDaemon(controlPath(), "metrics")) as MetricsAnswer | null;
    const text = answer?.hasUsage === true ? answer.text : await countHere(file, answer);
    if (output === undefined) process.stdout.write(text);
    else replaceFile(output, text);
  },
});

async function countHere(file: string | undefined, answer: MetricsAnswer | null): Promise<string> {
  const metrics = describeUsage(await countLedger(await loadConfig(file)));
  const own = answer === null ? [NOT_RUNNING] : [];
  return [...writeMetrics([...metrics, ...own], "text")].join("") + (answer?.text ?? "");
}

/** The collector reads files whose names end in `.prom`, so an unfinished one has another name. */
function replaceFile(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}`;
  try {
    writeFileSync(unfinished, text, { mode: 0o644, flag: "wx" });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw new Failure(
      `cannot write the metrics: ${messageOf(error)}`,
      "name a file in a directory that you can write",
    );
  }
}
