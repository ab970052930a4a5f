import { ledgerDirectory } from "../../adapters/paths.ts";
import type { Config } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import { costOf, worthOf } from "../../core/price/cost.ts";
import { missedCostOf } from "../../core/price/missed.ts";
import { findDearest } from "../../core/price/dearest.ts";
import type { FoundPrices, PriceBook } from "../../core/price/price-book.ts";
import type { PriceTable } from "../../core/price/price-table.ts";
import { checkDay } from "../../core/config/price-schema.ts";
import { isPaidByTool } from "../../core/plans/names.ts";
import { SANDBOX_UPSTREAM } from "../../core/config/names.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { defineCommand } from "../command.ts";
import { findRecord } from "../ledger/find-record.ts";
import { noteSimilarModels } from "../known-models.ts";
import { loadConfig } from "../load-config.ts";
import { chooseSeller, type Wanted } from "../prices/choose-seller.ts";
import { exampleRecord } from "../prices/example.ts";
import { ageOf, loadPrices, remarkOnAge } from "../prices/load-prices.ts";
import { documentRecordCost, printRecordCost } from "./prices/record.ts";
import { importOptions, importPrices, resetPrices } from "./prices/import.ts";
import { documentModel, renderModel, type ShownModel } from "./prices/model.ts";
import { documentOverview, renderOverview } from "./prices/overview.ts";
import { noteOtherConfig } from "../note-other-config.ts";
import { EXIT, hasColours, note, printJson, printStyled } from "../terminal/console.ts";
import { printProse } from "../terminal/prose.ts";

const RECORD_ALONE = '"--record" names its own model';
const NEEDS_MODEL = '"--upstream", "--tool" and "--on" need the name of a model';

/** `tollkeeper prices`: what is used, from where, as of when; for a model also how the cost of a request is calculated; or what one has cost. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .command("import [file]", "Use a file of prices beside the built-in ones", importOptions, importPrices)
      .command(
        "reset",
        "Use only the built-in prices again",
        (args) => args.option("config", { type: "string" }),
        ({ config }) => resetPrices(config),
      )
      .positional("model", { type: "string", describe: "The model; without one: where prices come from" })
      .option("config", { type: "string" })
      .option("tool", { type: "string", describe: "Tool that requests the model; default: any" })
      .option("upstream", { type: "string", describe: "Upstream; default: the one that serves the model" })
      .option("on", { type: "string", describe: "Day of the request, in UTC; default: now" })
      .option("record", {
        type: "string",
        requiresArg: true,
        describe:
          "What the request with this id cost, line by line; last: the newest; `tollkeeper tail --json` prints ids",
      })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" })
      .check(
        ({ model, upstream, tool, on }) =>
          model !== undefined || (upstream ?? tool ?? on) === undefined || NEEDS_MODEL,
      )
      .check(({ model, record }) => record === undefined || model === undefined || RECORD_ALONE)
      .check(
        ({ on }) => on === undefined || checkDay(on) === null || '"--on" needs a day such as 2026-11-01',
      ),
  handler: async ({ config: file, model, tool = null, upstream, on, record: id, json }) => {
    const config = await loadConfig(file);
    await noteOtherConfig(file);
    const prices = await loadPrices(config);
    const now = Date.now();
    const { table: builtIn, imported } = prices;
    const table = {
      ...describeTable(builtIn),
      ageDays: ageOf(builtIn, now),
      sources: builtIn.sources,
      imported: imported === null ? null : describeTable(imported),
    };
    if (id !== undefined) {
      const record = await findRecord(ledgerDirectory(config), id);
      const cost = costOf(record, prices);
      const worth = isPaidByTool(record.upstream) ? worthOf(record, prices) : null;
      const missed = missedCostOf(record, prices);
      if (json) printJson({ table, ...documentRecordCost(record, cost, worth, missed) });
      else printRecordCost(record, cost, worth);
    } else if (model === undefined) {
      if (json) printJson({ table, ...documentOverview(config, prices) });
      else printStyled(renderOverview(config, prices, table.ageDays, viewOfTerminal()));
    } else {
      const at = on === undefined ? now : Date.parse(on);
      const seller = findSeller(config, prices, { model, tool, at }, upstream);
      const shown = showModel(prices, seller, model, at);
      if (json) printJson({ table, ...documentModel(shown) });
      else printStyled(renderModel(shown, viewOfTerminal()));
      // The sandbox responds to every model, and a mistyped name is free there, too.
      if (shown.prices === null || seller === SANDBOX_UPSTREAM)
        await noteNearest(prices, seller, model, file);
      if (shown.prices === null) process.exitCode = EXIT.failed;
    }
    const remark = remarkOnAge(prices.table, now);
    if (remark !== null && !json) printProse(["", remark]);
  },
});

function viewOfTerminal() {
  return { width: process.stdout.columns || Infinity, isColoured: hasColours() };
}

async function noteNearest(
  prices: PriceBook,
  upstream: string,
  model: string,
  file: string | undefined,
): Promise<void> {
  const nearest = prices.nearestListed(upstream, model);
  if (nearest === null) return noteSimilarModels([model], file);
  note(`note: the price table has no model "${sanitizeText(model)}"; did you mean "${nearest}"?`);
}

function describeTable({ source, asOf }: PriceTable): { source: string; asOf: string } {
  return { source, asOf };
}

function findSeller(config: Config, prices: PriceBook, wanted: Wanted, upstream: string | undefined): string {
  if (upstream === undefined) {
    const chosen = chooseSeller(config, prices, wanted);
    if (chosen !== null) return chosen;
    const model = sanitizeText(wanted.model);
    throw new Failure(`no upstream serves ${model}`, `to see why, type: tollkeeper route ${model}`);
  }
  if (Object.hasOwn(config.upstreams, upstream)) return upstream;
  const names = Object.keys(config.upstreams);
  throw new Failure(
    `no upstream is called "${sanitizeText(upstream)}"`,
    names.length === 0 ? "add one with: tollkeeper setup" : `name one of: ${names.join(", ")}`,
  );
}

function showModel(prices: PriceBook, upstream: string, model: string, at: number): ShownModel {
  const found = prices.find(upstream, model, at);
  const listed = prices.findListed(upstream, model);
  const example = isPriced(found) ? costOf(exampleRecord({ upstream, model, at }, found), prices) : null;
  const alike = found === null ? prices.similar(upstream, model, at) : [];
  const assumed = found === null ? findDearest(alike, null, { least: 0, most: 0 }) : null;
  const contextWindow = listed?.model.contextWindow ?? null;
  return { model, upstream, prices: found, contextWindow, assumed, example };
}

function isPriced(found: FoundPrices | "free" | null): found is FoundPrices {
  return found !== null && found !== "free";
}
