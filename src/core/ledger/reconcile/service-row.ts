import type { Money } from "../../price/money.ts";

/** Tokens as services sum them up: `input` includes both kinds of cached input. null: the export does not say. */
interface ServiceTokens {
  input: number;
  cache_read: number | null;
  cache_write: number | null;
  output: number;
}

/** One row of a service's own usage export. */
export interface ServiceRow {
  /** The day, as the service counts days; or the start of a shorter time, in milliseconds since 1970. */
  when: { day: string } | { at: number };
  /** null if the row is about all models. */
  model: string | null;
  /** null in an export of costs only. */
  tokens: ServiceTokens | null;
  /** null in an export of tokens only. */
  cost: Money | null;
  /** The name of the API key; null where the export names none. */
  key: string | null;
}

/** What an export says of a day without usage: 0 of all that it has. */
export type NoUse = Pick<ServiceRow, "tokens" | "cost">;

/** A service's own usage export. */
export interface ServiceExport {
  /** What kind of export it is, in words. */
  form: string;
  /** The id of the service in the price table; null for one that is not known. */
  service: string | null;
  rows: ServiceRow[];
  /** The buckets in which nothing was used. */
  empty: ServiceRow["when"][];
  nothing: NoUse;
  /** The routes whose requests this kind of export leaves out. */
  leavesOut: readonly string[];
  /** The column that names the key of a row; null if there is none. */
  keyColumn: string | null;
  /** How many rows were read of each API key, by the name that the export gives it; empty if it names none. */
  keys: ReadonlyMap<string, number>;
}
