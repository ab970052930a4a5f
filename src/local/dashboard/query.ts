import { RECORD_FILTERS } from "../../core/ledger/record-filter.ts";

/** A question to the ledger, as the words of our own command that answers it. */
export type LedgerQuery = readonly string[];

/** The parameters that become options of the same name. */
const PERIOD = ["since", "until", "timezone"] as const;

/** No name or date is longer. */
const MOST_CHARACTERS = 1_024;

/** The question behind `usage?by=tool,day&since=7d`; a text that says what is wrong with the parameters. */
export function parseUsageQuery(query: URLSearchParams): LedgerQuery | string {
  return toWords(["usage", "--json"], query, ["by", "fields", ...PERIOD, ...RECORD_FILTERS]);
}

/** The question behind `records?lines=50`: the last records of the ledger, or the dearest, each with its cost. */
export function parseRecordsQuery(query: URLSearchParams): LedgerQuery | string {
  const command = ["tail", "--no-follow", "--json", "--cost"];
  return toWords(command, query, ["lines", "outcome", "dearest", ...PERIOD, ...RECORD_FILTERS]);
}

/** The question behind `cost?record=ID`: what a request cost, line by line. */
export function parseCostQuery(query: URLSearchParams): LedgerQuery | string {
  if (!query.has("record")) return 'the parameter "record" is missing: the id of a record';
  return toWords(["prices", "--json"], query, ["record"]);
}

/** The question behind `limits`: how much of each window is used, and who used it. It takes no parameters. */
export function parseLimitsQuery(query: URLSearchParams): LedgerQuery | string {
  return query.size === 0 ? ["limits", "--json"] : "it takes no parameters";
}

/** Each option and its value are one word, so that no value can be taken for another option. */
function toWords(
  command: readonly string[],
  query: URLSearchParams,
  known: readonly string[],
): LedgerQuery | string {
  const words = [...command];
  for (const [name, value] of query) {
    if (!known.includes(name))
      return `there is no parameter "${name.slice(0, 20)}", only ${known.join(", ")}`;
    if (query.getAll(name).length > 1) return `more than one "${name}"`;
    // No argument of a program can contain one.
    if (value.includes("\0")) return `"${name}" contains a null character`;
    if (value.length > MOST_CHARACTERS) return `"${name}" is too long`;
    words.push(`--${name}=${value}`);
  }
  return words;
}
