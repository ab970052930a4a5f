import type { PriceSettings } from "../../core/config/config.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { readOwnTable } from "../../core/price/formats/own-table.ts";
import type { PriceTable } from "../../core/price/price-table.ts";
import { readTrustedFile } from "../trust/trusted-file.ts";

/** Larger than the lists of all services. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads the table that was imported; null without one, and for one that cannot be used. As the configuration that names it, it is used
 * only where nobody else could have changed it (SECURITY.md E4).
 */
export async function readImported(
  { priceTable: path }: Pick<PriceSettings, "priceTable">,
  tell: (problem: Failure) => void = () => {},
): Promise<PriceTable | null> {
  if (path === null) return null;
  try {
    return parseImported((await readTrustedFile(path, "us", MAX_BYTES)).text);
  } catch (error) {
    const why = hasCode(error, "ENOENT") ? "there is no such file" : messageOf(error);
    const hint =
      error instanceof Failure && error.hint !== undefined ? error.hint : "tollkeeper prices reset";
    tell(new Failure(`the imported prices in ${path} are not used: ${why}`, hint, { cause: error }));
    return null;
  }
}

function parseImported(text: string): PriceTable {
  const file = parseJson(text);
  const read = readOwnTable(file);
  if (read === null || read.asOf === null || !isObject(file)) throw new Failure("it is no table of prices");
  const { source } = file;
  const name = typeof source === "string" ? sanitizeText(source) : "a table that was imported";
  const { asOf, providers } = read;
  return { source: name, asOf, sources: [{ name, asOf }], providers };
}
