// A step of the build: writes the price table that the commands load.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { builtTable } from "./built-table.ts";
import { extractPriceTable } from "./extract.ts";

mkdirSync(dirname(builtTable), { recursive: true });
writeFileSync(builtTable, JSON.stringify(await extractPriceTable()));
