import assert from "node:assert/strict";
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadPriceBook } from "../../src/adapters/price-table.ts";
import { readImported } from "../../src/adapters/price-table/imported-table.ts";
import { defaultConfig, priceSettingsOf } from "../../src/core/config/config.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

const TABLE = JSON.stringify({
  source: "prices.json",
  asOf: "2026-11-28",
  providers: [
    {
      id: "anthropic",
      api: "x",
      models: [{ id: "a", match: { equals: "a" }, prices: [{ rates: { input: 1 } }] }],
    },
  ],
});

test("an imported table is read where only its owner can change it, and else said to be unused", async (t) => {
  const path = join(scratchDirectory(t), "prices.json");
  const told: string[] = [];
  const read = (priceTable = path) => readImported({ priceTable }, ({ message }) => told.push(message));
  assert.equal(await read(), null);
  assert.match(told.pop() ?? "", /: there is no such file$/);
  writeFileSync(path, TABLE, { mode: 0o600 });
  assert.equal((await read())?.source, "prices.json");
  assert.deepEqual(told, []);
  chmodSync(path, 0o602);
  assert.equal(await read(), null);
  assert.match(told.pop() ?? "", /are not used: other users can change it$/);
  chmodSync(path, 0o600);
  writeFileSync(path, TABLE.replace("2026-11-28", "yesterday"));
  assert.equal(await read(), null);
  assert.match(told.pop() ?? "", /: it is no table of prices$/);
  const link = join(scratchDirectory(t), "link.json");
  symlinkSync("/dev/null", link);
  assert.equal(await read(link), null);
  assert.match(told.pop() ?? "", /: it is not a regular file$/);
});

test("the built-in prices stay where an imported table cannot be used", async () => {
  const settings = { ...priceSettingsOf(defaultConfig), priceTable: "/nowhere/prices.json" };
  const book = await loadPriceBook(settings);
  assert.equal(book.imported, null);
  assert.ok(book.table.providers.length > 10);
});
