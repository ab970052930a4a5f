import { lockCheckpoint } from "../../../adapters/ledger-file.ts";
import { otlpCheckpointPath } from "../../../adapters/paths.ts";
import { Failure } from "../../../core/failure.ts";
import type { ExporterStatus } from "../../../core/export/exporter-status.ts";
import { hardenProcess } from "../../../daemon/harden.ts";
import type { Argv } from "../../command-line.ts";
import type { Command } from "../../command.ts";
import { openExporter } from "../../export/open-exporter.ts";
import { setHeader, type HeaderArguments } from "../../export/set-header.ts";
import { showPreview } from "../../export/preview.ts";
import { loadConfig } from "../../load-config.ts";
import { note, print } from "../../terminal/console.ts";
import { pluralize } from "../../terminal/format.ts";

interface ExportArguments {
  config?: string | undefined;
  preview: boolean;
  last?: number | undefined;
  once: boolean;
  follow: boolean;
  since?: string | undefined;
}

/** Not an option of the subcommand. */
const OWN = { global: false } as const;

/** `tollkeeper export`: sends records to an OpenTelemetry collector, or shows what would be sent. */
export const command: Command<ExportArguments> = {
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("preview", {
        ...OWN,
        type: "boolean",
        default: false,
        describe: "Print what would be sent; send nothing",
      })
      .option("last", {
        ...OWN,
        type: "number",
        describe: "With --preview: how many of the last records to print",
      })
      .option("once", {
        ...OWN,
        type: "boolean",
        default: false,
        describe: "Send what has not been sent yet, then exit",
      })
      .option("follow", {
        ...OWN,
        type: "boolean",
        default: false,
        describe: "Keep sending new records; the daemon runs this itself",
      })
      .option("since", {
        ...OWN,
        type: "string",
        describe: "With --follow, the first time: send requests from this ISO 8601 time on",
      })
      .check(({ preview, once, follow, last, since, _: words }) => {
        if (words.length > 1) return true;
        if (Number(preview) + Number(once) + Number(follow) !== 1)
          return "choose one of --preview, --once and --follow";
        if (since !== undefined && (!follow || Number.isNaN(Date.parse(since))))
          return "--since is a time for --follow, such as 2026-11-01T09:00:00Z";
        return last === undefined || (preview && Number.isInteger(last) && last > 0)
          ? true
          : "--last needs a number of records, and works only with --preview";
      })
      .command(
        "header <name>",
        "Store the secret of a header for the collector; paste it at the hidden prompt, or pipe it in",
        headerOptions,
        setHeader,
      ),
  handler: async ({ config, preview, last, once, since }) => {
    if (preview) return showPreview({ config, last });
    await send(config, once, since === undefined ? null : Date.parse(since));
  },
};

function headerOptions(yargs: Argv<object>): Argv<HeaderArguments> {
  return yargs
    .option("config", { type: "string" })
    .positional("name", { type: "string", demandOption: true, describe: "Name of the header" })
    .option("remove", { type: "boolean", default: false, describe: "Remove it from the keychain" })
    .strict(false)
    .strictOptions();
}

/** Ends when it is done, at a signal, or when its standard input ends, which it does with the daemon. */
async function send(configFile: string | undefined, isOnce: boolean, since: number | null): Promise<void> {
  for (const warning of hardenProcess()) note(`warning: ${warning}`);
  const over = new AbortController();
  const end = () => over.abort();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, end);
  process.stdout.on("error", end);
  const unlock = lockOrFail();
  try {
    const config = await loadConfig(configFile);
    const exporter = await openExporter(config, since, over.signal, isOnce ? noteProblem() : printStatus);
    if (isOnce) await sendOnce(exporter);
    else {
      process.stdin.on("end", end).on("error", end).resume();
      await exporter.follow();
    }
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    unlock();
    process.stdin.destroy();
  }
}

async function sendOnce(exporter: Awaited<ReturnType<typeof openExporter>>): Promise<void> {
  const before = exporter.counts.sent;
  await exporter.sendAll();
  exporter.close();
  print(`Sent ${pluralize(exporter.counts.sent - before, "record")}.`);
}

function lockOrFail(): () => void {
  const unlock = lockCheckpoint(otlpCheckpointPath());
  if (unlock !== null) return unlock;
  throw new Failure(
    "another process exports the ledger already",
    "the daemon's exporter runs while export.otlp is configured; see it with: tollkeeper status",
  );
}

/** Tells a person once why no records are accepted. */
function noteProblem(): (status: ExporterStatus) => void {
  let told = "";
  return ({ problem }) => {
    if (problem === null || problem.reason === told) return;
    told = problem.reason;
    note(`note: the collector accepts nothing: ${problem.reason}; trying again until it does`);
    if (problem.hint !== null) note(`hint: ${problem.hint}`);
  };
}

function printStatus(status: ExporterStatus): void {
  process.stdout.write(`${JSON.stringify(status)}\n`);
}
