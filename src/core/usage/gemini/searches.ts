import type { JsonObject } from "../../json.ts";
import { asObject } from "../fields.ts";
import type { Calls } from "../hosted-calls.ts";
import type { Selection } from "../json/json-scanner.ts";

/** Limit for the queries of a candidate or step, in bytes: smaller than for a usage object, because there may be many. */
const QUERIES_BYTES = 4 * 1024;

/** Queries are told apart by their text, of which so much is kept. More than any response has. */
const MAX_CHARACTERS = 64 * 1024;

/** What to read of a candidate that says what the service has searched. */
export const GROUNDING: Selection = { webSearchQueries: QUERIES_BYTES };

/** What to read of a step of an interaction that does. */
export const SEARCH_STEP: Selection = { type: 64, arguments: { queries: QUERIES_BYTES } };

const SEARCH = "google_search_call";

/**
 * Counts the searches of a response: distinct queries that are not empty, as Google bills them since Gemini 3 (docs/wire.md section 12).
 * Queries come from prompts, so they stay here.
 */
export class Searches {
  readonly #queries = new Set<string>();
  #characters = 0;
  #isCut = false;

  /** True when there were too many to tell all apart. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Adds the grounding of a candidate. */
  addGrounding(grounding: JsonObject): void {
    this.#addQueries(grounding, "webSearchQueries");
  }

  /** Adds a step of an interaction. */
  addStep({ type, arguments: sent }: JsonObject): void {
    if (type === SEARCH) this.#addQueries(asObject(sent), "queries");
  }

  /** The calls by tool. */
  get calls(): Calls {
    return this.#queries.size > 0 ? { web_search: this.#queries.size } : {};
  }

  #addQueries(fields: JsonObject, name: string): void {
    const queries = fields[name];
    // A list that was too long to keep is undefined.
    if (!Array.isArray(queries)) this.#isCut ||= Object.hasOwn(fields, name) && queries === undefined;
    else for (const query of queries) if (typeof query === "string" && query !== "") this.#add(query);
  }

  #add(query: string): void {
    if (this.#queries.has(query)) return;
    this.#characters += query.length;
    if (this.#characters > MAX_CHARACTERS) this.#isCut = true;
    else this.#queries.add(query);
  }
}

/** Gemini 2.5 and older charge for searches once for each prompt, later models for each query (docs/wire.md section 12). */
const SEARCHES_ONCE = /gemini-[12][.-]/;

/** True for a model that charges for searches once for each prompt, however many there were. */
export function chargesSearchesOnce(model: string | null): boolean {
  return model !== null && SEARCHES_ONCE.test(model);
}
