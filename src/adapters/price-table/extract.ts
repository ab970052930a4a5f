import { readFileSync } from "node:fs";
import { waitForUpdate } from "@pydantic/genai-prices";
import { addSource, type Contradiction } from "../../core/price/combine.ts";
import { readGenaiPrices } from "../../core/price/formats/genai-prices.ts";
import { applyKnownRules } from "../../core/price/known-rules.ts";
import type { PriceTable, Provider } from "../../core/price/price-table.ts";
import { readPiAi } from "./pi-ai.ts";

/** The release that is extracted, and the day on which it was published: `npm view @pydantic/genai-prices time`. */
const RELEASE = { name: "@pydantic/genai-prices", version: "0.1.8", date: "2026-09-23" };

/** The table, and what its sources disagree on. */
interface Extract {
  table: PriceTable;
  contradictions: readonly Contradiction[];
}

/**
 * Makes the price table of what its sources have: names, prices and context windows.
 * @throws Error when the installed release is not the one whose date is known here
 */
export async function extractPrices(): Promise<Extract> {
  const { name, version, date } = RELEASE;
  const manifest = readFileSync(new URL("../package.json", import.meta.resolve(name)), "utf8");
  const { version: installed } = JSON.parse(manifest) as { version: string };
  if (installed !== version)
    throw new Error(
      `${name} is ${installed}: write its version and date into src/adapters/price-table/extract.ts`,
    );
  // Requests nothing: it waits for an update only where one was started.
  const first = readGenaiPrices(await waitForUpdate());
  if (first === null || first.leftOut.length > 0)
    throw new Error(`${name} cannot be read: ${first?.leftOut.join(", ") ?? "not its format"}`);
  const source = { name: `${name} ${version}`, asOf: date };
  const providers = first.providers.map((one) => applyKnownRules({ ...one, ...MORE[one.id] }));
  const second = readPiAi();
  return addSource(
    { source: source.name, asOf: date, sources: [source], providers },
    second.source,
    second.providers.map(applyKnownRules),
  );
}

/** What the first source does not know of its services: other hosts, and who makes a model. */
const MORE: Readonly<Record<string, Partial<Provider>>> = {
  aws: {
    api: String.raw`https://bedrock-(?:runtime\.[a-z0-9-]+\.amazonaws\.com|mantle\.[a-z0-9-]+\.api\.aws)(?:/|$)`,
  },
  together: { api: String.raw`https://api\.together\.(?:xyz|ai)` },
  openai: {
    makes: {
      or: [
        { regex: "^(?:chat)?gpt-" },
        { regex: "^o[134]" },
        { starts_with: "codex-" },
        { starts_with: "computer-use-" },
        { equals: "whisper-1" },
      ],
    },
  },
  zai: { makes: { starts_with: "glm-" } },
};

/** Makes the price table. */
export async function extractPriceTable(): Promise<PriceTable> {
  return (await extractPrices()).table;
}
