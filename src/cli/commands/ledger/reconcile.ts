import { readFileSync } from "node:fs";
import { readLedger } from "../../../adapters/ledger-file.ts";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import type { Config } from "../../../core/config/config.ts";
import { hasPlanLogin } from "../../../core/plans/names.ts";
import { SANDBOX_UPSTREAM } from "../../../core/config/names.ts";
import { Failure } from "../../../core/failure.ts";
import { BackgroundResponses } from "../../../core/ledger/background.ts";
import { CopyDetector } from "../../../core/ledger/copies.ts";
import { addDays, localCalendar, UTC_CALENDAR, type Calendar } from "../../../core/ledger/calendar.ts";
import { compare } from "../../../core/ledger/reconcile/compare.ts";
import { MAPPABLE, type ColumnMap } from "../../../core/ledger/reconcile/forms.ts";
import { LedgerUsage, modelOf } from "../../../core/ledger/reconcile/ledger-usage.ts";
import { commonName } from "../../../core/ledger/reconcile/model-names.ts";
import { readExport } from "../../../core/ledger/reconcile/read-export.ts";
import { findReasons, type Question } from "../../../core/ledger/reconcile/reasons.ts";
import type { ServiceExport } from "../../../core/ledger/reconcile/service-row.ts";
import { classify, isBackground, type CountedRequest } from "../../../core/ledger/spend.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { matchesModel } from "../../../core/policy/model-pattern.ts";
import { costOf } from "../../../core/price/cost.ts";
import type { Argv } from "../../command-line.ts";
import { noteDeletedDays } from "../../ledger/note-deleted-days.ts";
import { readCalendar } from "../../ledger/period-options.ts";
import { loadConfig } from "../../load-config.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { EXIT, note, print, printJson } from "../../terminal/console.ts";
import { pluralize } from "../../terminal/format.ts";
import { WrongUsage } from "../../wrong-usage.ts";
import { describeReconciliation, toDocument } from "./reconcile/report.ts";
import { fixOf } from "../../../adapters/system-fix.ts";
import { reasonOf } from "../../../core/system-error.ts";

interface ReconcileArguments {
  config?: string | undefined;
  file: string;
  map?: string | undefined;
  only?: string | undefined;
  timezone?: string | undefined;
  upstream?: string | undefined;
  json: boolean;
}

/** Adds the options of `ledger reconcile`. */
export function reconcileOptions(yargs: Argv<object>): Argv<ReconcileArguments> {
  return yargs
    .option("config", { type: "string" })
    .positional("file", { type: "string", demandOption: true, describe: "The export: CSV or JSON" })
    .option("map", {
      type: "string",
      describe: `Columns of an unknown export, as in date=day,model=model,input=prompt_tokens; of ${MAPPABLE.join(", ")}`,
    })
    .option("only", {
      type: "string",
      describe: "Only rows with this value in a column, as in api_key=laptop",
    })
    .option("timezone", { type: "string", describe: "Time zone of the export's days; default: UTC" })
    .option("upstream", {
      type: "string",
      describe: 'The upstream of the export; "*" stands for any characters; default: those of its service',
    })
    .option("json", { type: "boolean", default: false, describe: "Print JSON" });
}

/** `tollkeeper ledger reconcile`: compares a service's own usage export with the ledger. Exits with 1 if they differ. */
export async function reconcile(given: ReconcileArguments): Promise<void> {
  const { file, map, only, timezone, upstream, json } = given;
  const calendar = timezone === undefined ? UTC_CALENDAR : readCalendar({ timezone });
  const reading = {
    map: map === undefined ? null : readMap(map),
    only: only === undefined ? null : readOnly(only),
  };
  const config = await loadConfig(given.config);
  const exported = readExport(readText(file), reading);
  const { usage, deletedDays } = await readUsage(config, exported, { calendar, upstream });
  const sides = { exported, usage, upstreams: chooseUpstreams(usage, exported, upstream) };
  const cells = compare(sides, calendar);
  const question = { sides, calendar, deletedDays, localZone: localCalendar().zone };
  const reasons = findReasons({ ...question, ...commandsFor(given) }, cells);
  const result = { file, exported, calendar, upstreams: sides.upstreams, upstream, cells, reasons };
  if (json) printJson(toDocument(result));
  else print(describeReconciliation(result));
  if (cells.some(({ isMatch }) => !isMatch)) process.exitCode = EXIT.failed;
}

/** The commands that reasons may name: each can be pasted, and asks about the same configuration. */
function commandsFor({
  config,
  file,
  map,
  only,
  timezone,
  upstream,
}: ReconcileArguments): Pick<Question, "again" | "command"> {
  const rest = config === undefined ? [] : ["--config", config];
  return {
    command: (...words) => formatCommand(["tollkeeper", ...words, ...rest]),
    again(option, value) {
      const given = { map, only, timezone, upstream, [option]: value };
      const options = Object.entries(given).flatMap(([name, text]) =>
        text === undefined ? [] : [`--${name}`, text],
      );
      return formatCommand(["tollkeeper", "ledger", "reconcile", file, ...options, ...rest]);
    },
  };
}

function readMap(text: string): ColumnMap {
  const pairs = text.split(",").map((pair) => pair.split("="));
  for (const [name = "", column = ""] of pairs) {
    if ((MAPPABLE as readonly string[]).includes(name) && column !== "") continue;
    throw new WrongUsage(
      `cannot read --map ${JSON.stringify(text)}: ${JSON.stringify(name)} is none of ${MAPPABLE.join(", ")}, or has no column`,
      "use for example: --map date=day,model=model,input=prompt_tokens,output=completion_tokens",
    );
  }
  return Object.fromEntries(pairs) as ColumnMap;
}

function readOnly(text: string): { column: string; value: string } {
  const [, column, value] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
  if (column === undefined || value === undefined)
    throw new WrongUsage(
      `cannot read --only ${JSON.stringify(text)}`,
      "use for example: --only api_key=laptop",
    );
  return { column, value };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new Failure(`cannot read ${file}: ${reasonOf(cause)}`, fixOf(cause), { cause });
  }
}

/**
 * Reads the days of the export, and two more on each side, which its days in other time zones may reach into. Of a known service's export
 * only the requests that this service bills are compared, unless an upstream was named.
 */
async function readUsage(
  config: Config,
  { rows, empty, nothing, service, leavesOut }: ServiceExport,
  { calendar, upstream }: { calendar: Calendar; upstream: string | undefined },
): Promise<{ usage: LedgerUsage; deletedDays: ReadonlySet<string> }> {
  const times = [...rows.map(({ when }) => when), ...empty];
  const days = times.map((when) => ("day" in when ? when.day : calendar.dayOf(when.at))).toSorted();
  const [first, last] = [days[0], days.at(-1)];
  const usage = new LedgerUsage();
  if (first === undefined || last === undefined) return { usage, deletedDays: new Set() };
  const prices = await loadPrices(config);
  const hasCosts = nothing.cost !== null;
  const add = (counted: CountedRequest) => {
    const { record, source } = counted;
    if (record.upstream === SANDBOX_UPSTREAM || leavesOut.includes(record.route)) return;
    // Exports are about keys. What a plan paid, or its extra use, is in none.
    if (upstream === undefined && hasPlanLogin(record.upstream)) return;
    const biller = prices.billerOf(record.upstream, modelOf(counted));
    if (service === null || upstream !== undefined || biller === service)
      usage.add(counted, hasCosts ? costOf(source, prices) : null);
    else if (biller === null) usage.leaveOut(counted);
  };
  const copies = new CopyDetector();
  let unreadable = 0;
  const background = new BackgroundResponses();
  const range = { from: addDays(first, -2), to: addDays(last, 2) };
  for await (const record of readLedger(ledgerDirectory(config), range)) {
    if ("unreadable" in record) unreadable += 1;
    if ("unreadable" in record || copies.isCopy(record)) continue;
    const kind = classify(record);
    if (isBackground(record, kind)) background.add(record);
    else if (kind === "request") add({ record, source: record });
  }
  background.counted().forEach(add);
  if (unreadable > 0)
    note(
      `note: not compared: ${pluralize(unreadable, "unreadable line")}; to see them, type: tollkeeper ledger verify`,
    );
  // A day of another time zone may have parts of two days.
  const near = calendar.zone === UTC_CALENDAR.zone ? 0 : 1;
  const compared = { from: addDays(first, -near), to: addDays(last, near) };
  const deleted = await noteDeletedDays(
    ledgerDirectory(config),
    compared,
    "they are missing in the comparison",
  );
  return { usage, deletedDays: new Set(deleted) };
}

/** A service that is not known may be any that served a model of its export. */
function chooseUpstreams(
  usage: LedgerUsage,
  { service, rows }: ServiceExport,
  pattern: string | undefined,
): ReadonlySet<string> {
  const all = [...usage.upstreamsOf(null)];
  if (pattern !== undefined) return new Set(all.filter((name) => matchesModel([pattern], name)));
  if (service !== null || rows.some(({ model }) => model === null)) return new Set(all);
  return usage.upstreamsOf(new Set(rows.map(({ model }) => commonName(model ?? ""))));
}
