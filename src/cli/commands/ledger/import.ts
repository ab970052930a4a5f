import {
  importedDirectory,
  readImportedDay,
  readImportedIds,
  readLedger,
  writeImportedDay,
} from "../../../adapters/ledger-file.ts";
import { currentHost, ledgerDirectory } from "../../../adapters/paths.ts";
import type { Config } from "../../../core/config/config.ts";
import { addDays } from "../../../core/ledger/calendar.ts";
import { dayOf } from "../../../core/ledger/day.ts";
import { SOURCES, type ImportedRecord, type Source } from "../../../core/ledger/import/imported-record.ts";
import { mergeDay, Unrecorded } from "../../../core/ledger/import/merge.ts";
import type { Argv } from "../../command-line.ts";
import { loadConfig } from "../../load-config.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { print, printJson } from "../../terminal/console.ts";
import { readLogs } from "./import/read-logs.ts";
import { describeImport, summariseImport, toDocument, type ImportSummary } from "./import/summary.ts";

interface ImportArguments {
  config?: string | undefined;
  tool?: Source | undefined;
  dryRun: boolean;
  json: boolean;
}

/** Adds the options of `ledger import`. */
export function importOptions(yargs: Argv<object>) {
  return yargs
    .option("config", { type: "string" })
    .positional("tool", { choices: SOURCES, describe: "The tool whose logs to read; default: all" })
    .option("dry-run", { type: "boolean", default: false, describe: "Only say what would be imported" })
    .option("json", { type: "boolean", default: false, describe: "Print JSON" });
}

/** `tollkeeper ledger import`: keeps what tools' own logs say of past usage beside the ledger, and in no sum of it. */
export async function importLogs({ config: file, tool, dryRun, json }: ImportArguments): Promise<void> {
  const config = await loadConfig(file);
  const prices = await loadPrices(config);
  const summaries: ImportSummary[] = [];
  for (const source of tool === undefined ? SOURCES : [tool]) {
    const logs = await readLogs(source, currentHost());
    const { imported, added } = await importNew(config, source, logs.records, dryRun);
    summaries.push(summariseImport({ source, logs, imported, added }, prices));
  }
  const directory = ledgerDirectory(config);
  if (json) printJson(toDocument(directory, dryRun, summaries));
  else
    for (const summary of summaries)
      print(describeImport(summary, dryRun, importedDirectory(directory, summary.source)));
}

/** Imports what the ledger does not have itself. Returns it, with how many of it were not imported before. */
async function importNew(
  config: Config,
  source: Source,
  records: readonly ImportedRecord[],
  isDryRun: boolean,
): Promise<{ imported: ImportedRecord[]; added: number }> {
  const directory = ledgerDirectory(config);
  const known = readImportedIds(directory, source);
  const fresh = await leaveOutRecorded(directory, records);
  let added = 0;
  for (const [day, found] of fresh.byDay((record) => known.get(record.id) ?? dayOf(record.ts))) {
    const kept = config.ledger.project ? found : found.map(withoutProject);
    const merged = mergeDay(readImportedDay(directory, source, day), kept);
    added += merged.added;
    if (merged.hasChanged && !isDryRun) writeImportedDay(directory, source, day, merged.records);
  }
  return { imported: fresh.all(), added };
}

/** Reads the days of these responses, and one more on each side: the ledger has the time of the request. */
async function leaveOutRecorded(directory: string, records: readonly ImportedRecord[]): Promise<Unrecorded> {
  const fresh = new Unrecorded(records);
  const days = records.map(({ ts }) => dayOf(ts)).toSorted();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return fresh;
  for await (const record of readLedger(directory, { from: addDays(first, -1), to: addDays(last, 1) }))
    if (!("unreadable" in record)) fresh.remove(record);
  return fresh;
}

/** The ledger has projects only where the configuration says so. */
function withoutProject(record: ImportedRecord): ImportedRecord {
  return { ...record, project: null, branch: null };
}
