import { ledgerDirectory } from "../../../adapters/paths.ts";
import type { Config } from "../../../core/config/config.ts";
import { sanitizeText } from "../../../core/config/problem.ts";
import { Failure } from "../../../core/failure.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { matchesModel } from "../../../core/policy/model-pattern.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { toPrintableLines } from "../../../core/text/printable.ts";
import { defineCommand } from "../../command.ts";
import { findSimilarTool } from "../../known-tools.ts";
import { findRecord } from "../../ledger/find-record.ts";
import { readLastRecords } from "../../ledger/last-records.ts";
import { loadConfig } from "../../load-config.ts";
import { LAST } from "../../last-id.ts";
import { noteOtherConfig } from "../../note-other-config.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { printStyled } from "../../terminal/console.ts";
import { WrongUsage } from "../../wrong-usage.ts";
import { documentRequest } from "./explain/document.ts";
import { examine } from "./explain/examine.ts";
import { printPage } from "./explain/page.ts";

/** `tollkeeper explain`: all about one request in plain words. Reads the ledger's files, so it works without a running daemon. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .positional("id", {
        type: "string",
        demandOption: true,
        describe: "Id of a record, or the upstream's id of the request; last: the newest record",
      })
      .option("config", { type: "string" })
      .option("tool", {
        type: "string",
        requiresArg: true,
        describe: 'With last: only the requests of this tool; "*" stands for any characters',
      })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: async ({ config: file, id, tool, json }) => {
    if (id !== LAST && tool !== undefined)
      throw new WrongUsage(
        "--tool chooses the newest record of a tool, and an id is given",
        `type: ${formatCommand(["tollkeeper", "explain", LAST, "--tool", tool])}`,
      );
    const config = await loadConfig(file);
    await noteOtherConfig(file);
    const directory = ledgerDirectory(config);
    const record = tool === undefined ? await findRecord(directory, id) : await findLast(config, tool);
    const request = await examine(record, { config, directory, prices: await loadPrices(config) });
    if (!json) return printPage(request);
    // The record is as the ledger has it: the service's own usage object keeps its names.
    printStyled(toPrintableLines(JSON.stringify(documentRequest(request), null, 2)));
  },
});

/** Returns the newest record of a tool. @throws Failure if there is none */
async function findLast(config: Config, tool: string): Promise<UsageRecord> {
  const isWanted = (record: UsageRecord) => matchesModel([tool], record.tool);
  const [last] = await readLastRecords(ledgerDirectory(config), 1, isWanted);
  if (last !== undefined) return last;
  const similar = await findSimilarTool(tool, config);
  throw new Failure(
    `no request of ${sanitizeText(tool)} is recorded`,
    similar === null
      ? "to see the tools that have sent requests, type: tollkeeper usage"
      : `did you mean ${similar}? Then type: ${formatCommand(["tollkeeper", "explain", LAST, "--tool", similar])}`,
  );
}
