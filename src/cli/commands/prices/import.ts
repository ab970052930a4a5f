import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { loadPriceTable } from "../../../adapters/price-table.ts";
import { Failure, messageOf } from "../../../core/failure.ts";
import { parseJson } from "../../../core/json.ts";
import { sanitizeText } from "../../../core/config/problem.ts";
import { compare } from "../../../core/price/combine.ts";
import { formatOwnTable } from "../../../core/price/formats/own-table.ts";
import { importTable, type ImportedTable } from "../../../core/price/import-table.ts";
import { findModel, type PriceTable } from "../../../core/price/price-table.ts";
import { reasonOf } from "../../../core/system-error.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { replaceFile } from "../../../replace-file.ts";
import { makeChange, planChanges, removeValue, valueIn } from "../../config/change-value.ts";
import { TEMPLATE } from "../../config/edit-file.ts";
import type { Argv } from "../../command-line.ts";
import { resolveConfigPath } from "../../load-config.ts";
import { confirm, isInteractive } from "../../terminal/confirm.ts";
import { print } from "../../terminal/console.ts";
import { labelledLine, pluralize } from "../../terminal/format.ts";
import { WrongUsage } from "../../wrong-usage.ts";

interface ImportArguments {
  config?: string | undefined;
  file?: string | undefined;
  url?: string | undefined;
  yes: boolean;
}

/** The setting that names the table in use. */
const SETTING = ["priceTable"];

/** What an imported table's file is called, beside the configuration. */
const FILE_NAME = /^prices-[0-9a-f]{8}\.json$/;

const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** How many changed prices are shown. */
const MOST_SHOWN = 10;

/** Adds the options of `prices import`. */
export function importOptions(yargs: Argv<object>): Argv<ImportArguments> {
  return yargs
    .option("config", { type: "string" })
    .positional("file", {
      type: "string",
      describe: "JSON of tollkeeper, genai-prices, LiteLLM or models.dev",
    })
    .option("url", { type: "string", requiresArg: true, describe: "Download it from this URL, once" })
    .option("yes", { alias: "y", type: "boolean", default: false, describe: "Use it without asking" });
}

/** `tollkeeper prices import`: shows what a file of prices would change, and uses it beside the built-in table. */
export async function importPrices({ config, file, url, yes }: ImportArguments): Promise<void> {
  if ((file === undefined) === (url === undefined))
    throw new WrongUsage('"prices import" needs a file, or "--url"', "tollkeeper prices import FILE");
  if (url !== undefined && (yes || !isInteractive()))
    throw new Failure(
      "nothing was downloaded: prices from a URL are shown to a person before they are used, and there is no terminal to ask on",
      "download the file yourself, and type: tollkeeper prices import FILE --yes",
    );
  const text = url === undefined ? readText(file ?? "") : await download(url);
  const name = sanitizeText(url ?? basename(file ?? ""));
  const builtIn = await loadPriceTable();
  const data = parseJson(text);
  const day = new Date().toISOString().slice(0, 10);
  const imported = data === undefined ? null : importTable(data, builtIn, { name, day });
  if (imported === null || imported.table.providers.length === 0)
    throw new Failure(
      `${name} has no prices in a format that tollkeeper reads`,
      "it reads JSON of tollkeeper's own table, genai-prices, LiteLLM and models.dev; see docs/prices.md",
    );
  printImport(imported, builtIn);
  if (!yes && !isInteractive())
    throw new Failure(
      "nothing was imported: there is no terminal to ask on",
      `to use these prices without being asked, type: ${formatCommand(["tollkeeper", "prices", "import", file ?? "", "--yes"])}`,
    );
  await keep(resolveConfigPath(config), imported, yes);
}

async function keep(configFile: string, { table }: ImportedTable, yes: boolean): Promise<void> {
  const content = formatOwnTable(table);
  const digest = createHash("sha256").update(content).digest("hex").slice(0, 8);
  const path = join(dirname(configFile), `prices-${digest}.json`);
  const former = valueIn(configFile, SETTING);
  const change = await planChanges(configFile, [[SETTING, path]], TEMPLATE);
  if (!yes && !(await confirm("Use these prices?"))) return print("Nothing was changed.");
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(path, content);
  await makeChange(
    configFile,
    change,
    "The prices are used from now on. To undo it, type: tollkeeper prices reset",
  );
  if (former !== path) removeFile(former, configFile);
}

/** `tollkeeper prices reset`: goes back to the built-in table. */
export async function resetPrices(config: string | undefined): Promise<void> {
  const file = resolveConfigPath(config);
  const former = valueIn(file, SETTING);
  await removeValue(file, SETTING, {
    what: "imported prices",
    done: "The built-in prices are used from now on.",
    look: "to see where prices come from, type: tollkeeper prices",
  });
  removeFile(former, file);
}

/** Removes a table that was imported, and nothing else. */
function removeFile(path: unknown, configFile: string): void {
  if (typeof path !== "string" || dirname(path) !== dirname(configFile)) return;
  if (FILE_NAME.test(basename(path))) rmSync(path, { force: true });
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure(`${sanitizeText(file)} cannot be read: ${reasonOf(error)}`, undefined, {
      cause: error,
    });
  }
}

/** Downloads a file over https, without following redirects. */
async function download(url: string): Promise<string> {
  if (!URL.canParse(url) || new URL(url).protocol !== "https:")
    throw new WrongUsage('"--url" needs a URL that starts with https://', "tollkeeper prices import FILE");
  const hint = `download the file yourself, such as with: ${formatCommand(["curl", "-o", "prices.json", url])}; then type: tollkeeper prices import prices.json`;
  try {
    const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Failure(`the server responded with ${response.status}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new Failure(`it is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  } catch (error) {
    throw new Failure(`${sanitizeText(url)} cannot be downloaded: ${messageOf(error)}`, hint, {
      cause: error,
    });
  }
}

/** Prints what an import would change: new models, other prices, and what is left out. */
function printImport({ format, table, leftOut }: ImportedTable, builtIn: PriceTable): void {
  let [models, added] = [0, 0];
  const changed: string[] = [];
  for (const provider of table.providers) {
    const known = builtIn.providers.find(({ id }) => id === provider.id);
    for (const { id, prices } of provider.models) {
      models += 1;
      const listed = known === undefined ? null : findModel(builtIn, known, id);
      if (listed === null) added += 1;
      else {
        const what = compare(listed.model.prices, prices, table.asOf).map((one) => one.class);
        if (what.length > 0) changed.push(`${provider.id}/${id}: ${what.join(", ")}`);
      }
    }
  }
  const services = table.providers.filter((one) => one.models.length > 0).length;
  print(labelledLine("prices", `${table.source}, as of ${table.asOf}, in the format of ${format}`));
  print(labelledLine("", `${pluralize(models, "model")} of ${pluralize(services, "service")}`));
  print(labelledLine("new", `${pluralize(added, "model")} without a price so far`));
  print(labelledLine("changed", `${pluralize(changed.length, "model")}, from ${table.asOf} on`));
  for (const line of changed.slice(0, MOST_SHOWN)) print(`  ${sanitizeText(line)}`);
  if (changed.length > MOST_SHOWN) print(`  and ${changed.length - MOST_SHOWN} more`);
  if (table.asOf < builtIn.asOf)
    print(`The built-in prices are newer (${builtIn.asOf}), so only the new models count.`);
  if (leftOut.length === 0) return;
  print(
    labelledLine(
      "left out",
      `${pluralize(leftOut.length, "item")}, such as ${sanitizeText(leftOut[0] ?? "")}`,
    ),
  );
}
