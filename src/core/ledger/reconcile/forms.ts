import { isObject, type JsonObject } from "../../json.ts";
import { asObject, asText } from "../../usage/fields.ts";
import { readCents, readCount, readDollars, readWhen } from "./cells.ts";
import { Failure } from "../../failure.ts";
import type { NoUse, ServiceRow } from "./service-row.ts";

/** What a form reads of a row. */
type ReadRow = Omit<ServiceRow, "key">;

/** A kind of export: how to recognise its rows, and how to read them. A row has its fields by their names, as text or as JSON. */
interface Form {
  name: string;
  /** The id of the service in the price table; null for one that is not known. */
  service: string | null;
  /** The routes whose requests such an export leaves out. */
  leavesOut: readonly string[];
  nothing: NoUse;
  /** Returns when the bucket of a row begins; null for no time. */
  when(row: JsonObject): ServiceRow["when"] | null;
  /** The amounts of a row. A bucket in which nothing was used has none of them. */
  amounts(row: JsonObject): readonly unknown[];
  /** True for the fields of the first row. */
  fits(row: JsonObject): boolean;
  /** Returns null for what is no such row. */
  read(row: JsonObject): ReadRow | null;
}

const NO_COST: NoUse = { tokens: null, cost: 0n };
const NO_TOKENS: NoUse = { tokens: { input: 0, cache_read: 0, cache_write: 0, output: 0 }, cost: null };
/** OpenAI does not report cache writes of every model. */
const NO_TOKENS_OF_OPENAI: NoUse = {
  tokens: { input: 0, cache_read: 0, cache_write: null, output: 0 },
  cost: null,
};

/** Exports of Anthropic have what went to its own API. */
const ANTHROPIC = { service: "anthropic", leavesOut: [] };

const has = (row: JsonObject, ...names: string[]) => names.every((name) => name in row);

function sum(...counts: (number | null)[]): number | null {
  return counts.every((count) => count !== null) ? counts.reduce((all, count) => all + count, 0) : null;
}

/** The four sums of a row whose input has these disjoint parts; null if one of them is no count. */
function disjoint(uncached: number | null, read: number | null, write: number | null, output: number | null) {
  const input = sum(uncached, read, write);
  return input === null || output === null ? null : { input, cache_read: read, cache_write: write, output };
}

/** Anthropic's console: Usage, "Export". https://support.anthropic.com/en/articles/9534590 */
const ANTHROPIC_USAGE_CSV: Form = {
  ...ANTHROPIC,
  name: "Anthropic's usage (CSV of the console)",
  nothing: NO_TOKENS,
  when: (row) => readWhen(row["usage_date_utc"], null),
  amounts: (row) => [row["usage_input_tokens_no_cache"], row["usage_output_tokens"]],
  fits: (row) => has(row, "usage_input_tokens_no_cache", "usage_output_tokens"),
  read(row) {
    const written = sum(
      readCount(row["usage_input_tokens_cache_write_5m"] ?? 0),
      readCount(row["usage_input_tokens_cache_write_1h"] ?? 0),
    );
    const tokens = disjoint(
      readCount(row["usage_input_tokens_no_cache"]),
      readCount(row["usage_input_tokens_cache_read"] ?? 0),
      written,
      readCount(row["usage_output_tokens"]),
    );
    return toRow(this.when(row), row["model_version"], tokens, null);
  },
};

/** Anthropic's console: Cost, "Export". Models have their names for people. */
const ANTHROPIC_COST_CSV: Form = {
  ...ANTHROPIC,
  name: "Anthropic's costs (CSV of the console)",
  nothing: NO_COST,
  when: (row) => readWhen(row["usage_date_utc"], null),
  amounts: (row) => [row["cost_usd"]],
  fits: (row) => has(row, "usage_date_utc", "cost_usd"),
  read(row) {
    return toRow(this.when(row), row["model"], null, readDollars(row["cost_usd"]));
  },
};

/** https://platform.claude.com/docs/en/api/admin/usage_report/retrieve_messages */
const ANTHROPIC_USAGE_JSON: Form = {
  ...ANTHROPIC,
  name: "Anthropic's usage (report of the Admin API)",
  nothing: NO_TOKENS,
  when: (row) => readWhen(row["starting_at"], row["ending_at"]),
  amounts: (row) => [row["uncached_input_tokens"], row["output_tokens"]],
  fits: (row) => has(row, "starting_at", "uncached_input_tokens"),
  read(row) {
    const created = asObject(row["cache_creation"]);
    const written = sum(
      readCount(created["ephemeral_5m_input_tokens"] ?? 0),
      readCount(created["ephemeral_1h_input_tokens"] ?? 0),
    );
    const tokens = disjoint(
      readCount(row["uncached_input_tokens"]),
      readCount(row["cache_read_input_tokens"] ?? 0),
      written,
      readCount(row["output_tokens"]),
    );
    return toRow(this.when(row), row["model"], tokens, null);
  },
};

/** Amounts are in cents. https://platform.claude.com/docs/en/api/resources/admin/subresources/usage_and_cost */
const ANTHROPIC_COST_JSON: Form = {
  ...ANTHROPIC,
  name: "Anthropic's costs (report of the Admin API)",
  nothing: NO_COST,
  when: (row) => readWhen(row["starting_at"], row["ending_at"]),
  amounts: (row) => [row["amount"]],
  fits: (row) => has(row, "starting_at", "amount"),
  read(row) {
    checkCurrency(row["currency"]);
    return toRow(this.when(row), row["model"], null, readCents(row["amount"]));
  },
};

/** https://platform.openai.com/docs/api-reference/usage/completions, and the console's export of the same. */
const OPENAI_USAGE: Form = {
  service: "openai",
  leavesOut: ["/embeddings"],
  name: "OpenAI's usage of completions and responses",
  nothing: NO_TOKENS_OF_OPENAI,
  when: (row) => readWhen(row["start_time"] ?? row["start_time_iso"], row["end_time"] ?? row["end_time_iso"]),
  amounts: (row) => [row["num_model_requests"], row["input_tokens"], row["output_tokens"]],
  fits: (row) => has(row, "num_model_requests", "input_tokens", "output_tokens"),
  read(row) {
    const [input, output] = [readCount(row["input_tokens"]), readCount(row["output_tokens"])];
    const tokens =
      input === null || output === null
        ? null
        : {
            input,
            cache_read: readCount(row["input_cached_tokens"]),
            cache_write: readCount(row["input_cache_write_tokens"]),
            output,
          };
    return toRow(this.when(row), row["model"], tokens, null);
  },
};

/**
 * https://platform.openai.com/docs/api-reference/usage/costs, and the console's export of the same. Names no models. A day without costs
 * has a row without an amount in the export of the console, and a bucket without results in the report of the API.
 */
const OPENAI_COSTS: Form = {
  service: "openai",
  leavesOut: [],
  name: "OpenAI's costs",
  nothing: NO_COST,
  when: (row) => readWhen(row["start_time"], row["end_time"]),
  amounts: (row) => [row["amount_value"] ?? asObject(row["amount"])["value"]],
  fits: (row) => has(row, "start_time") && (has(row, "amount_value") || isObject(row["amount"])),
  read(row) {
    checkCurrency(row["amount_currency"] ?? asObject(row["amount"])["currency"]);
    return toRow(this.when(row), null, null, readDollars(this.amounts(row)[0]));
  },
};

/** All kinds of export that are recognised. */
export const FORMS: readonly Form[] = [
  ANTHROPIC_USAGE_CSV,
  ANTHROPIC_COST_CSV,
  ANTHROPIC_USAGE_JSON,
  OPENAI_USAGE,
  OPENAI_COSTS,
  ANTHROPIC_COST_JSON,
];

/** What a column can be mapped to. `input` includes cached input, `uncached` does not. */
export const MAPPABLE = [
  "date",
  "model",
  "input",
  "uncached",
  "cache_read",
  "cache_write",
  "output",
  "cost",
] as const;
export type ColumnMap = Partial<Record<(typeof MAPPABLE)[number], string>>;

/** Returns the form of rows whose columns a person has named. */
export function mappedForm(map: ColumnMap): Form {
  const cell = (row: JsonObject, name: keyof ColumnMap) => {
    const column = map[name];
    return column === undefined ? undefined : row[column];
  };
  const hasTokens = map.output !== undefined;
  const zeroOf = (name: keyof ColumnMap) => (map[name] === undefined ? null : 0);
  return {
    name: "an export with the columns that --map names",
    service: null,
    leavesOut: [],
    nothing: {
      tokens: hasTokens
        ? { input: 0, cache_read: zeroOf("cache_read"), cache_write: zeroOf("cache_write"), output: 0 }
        : null,
      cost: map.cost === undefined ? null : 0n,
    },
    when: (row) => readWhen(cell(row, "date"), null),
    amounts: (row) =>
      (["input", "uncached", "cache_read", "cache_write", "output", "cost"] as const).map((name) =>
        cell(row, name),
      ),
    fits: (row) => has(row, ...Object.values(map)),
    read(row) {
      const [read, write] = [readCount(cell(row, "cache_read")), readCount(cell(row, "cache_write"))];
      const uncached = readCount(cell(row, "uncached"));
      const input = readCount(cell(row, "input")) ?? sum(uncached, read ?? 0, write ?? 0);
      const output = readCount(cell(row, "output"));
      const tokens =
        input === null || output === null ? null : { input, cache_read: read, cache_write: write, output };
      return toRow(this.when(row), cell(row, "model"), tokens, readDollars(cell(row, "cost")));
    },
  };
}

function toRow(
  when: ServiceRow["when"] | null,
  model: unknown,
  tokens: ServiceRow["tokens"],
  cost: ServiceRow["cost"],
): ReadRow | null {
  if (when === null || (tokens === null && cost === null)) return null;
  return { when, model: asText(model), tokens, cost };
}

/** @throws Failure for amounts that are not in dollars, which costs of the ledger are */
function checkCurrency(currency: unknown): void {
  const name = asText(currency);
  if (name !== null && name.toLowerCase() !== "usd")
    throw new Failure(
      `the amounts of the export are in ${name}, and costs of the ledger are in US dollars`,
      "compare tokens instead: export the usage, not the costs",
    );
}
