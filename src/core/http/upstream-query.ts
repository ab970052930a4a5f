import { holdsCredential, holdsLocalToken } from "../secrets/credential-values.ts";
import { decodePercent } from "../text/decode-percent.ts";
import { foldName, namesCredential } from "./credential-names.ts";

/** What an upstream's configuration says about queries. */
interface QueryRules {
  /** Parameters that are sent with each request. */
  query: Readonly<Record<string, string>>;
  /** Parameters that pass although their names look like a credential. */
  allowQuery: readonly string[];
}

/** Tools send the same few queries, such as `?beta=true`. The limits keep hostile clients from growing the cache. */
const MAX_CACHED_QUERIES = 200;
const MAX_CACHED_LENGTH = 64;

/** Some servers take `;` for `&`. And a client that adds `?key=` to a URL that has a query has made one parameter of two. */
const SEPARATOR = /[&;?]/g;

/** Composes the queries of requests to an upstream: the client's without credentials (SECURITY.md C3), and the configuration's. */
export class UpstreamQuery {
  readonly #fixedNames: ReadonlySet<string>;
  /** The configuration's parameters as a query of their own, with its leading `?`; empty without any. */
  readonly #alone: string;
  readonly #allowed: ReadonlySet<string>;
  /** What becomes of short queries without a credential. */
  readonly #composed = new Map<string, string>();

  constructor({ query, allowQuery }: QueryRules) {
    this.#fixedNames = new Set(Object.keys(query));
    const fixed = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    this.#alone = fixed.length === 0 ? "" : `?${fixed.join("&")}`;
    this.#allowed = new Set(allowQuery);
  }

  /**
   * Returns a client's raw query, with its leading `?` or empty, without credentials and with the configuration's parameters after
   * it. What is kept stays in its order, byte for byte. A parameter of the client's with the name of one of the configuration's is
   * left out: which of the two would count differs from server to server.
   */
  compose(query: string): string {
    if (query === "") return this.#alone;
    const known = this.#composed.get(query);
    if (known !== undefined) return known;
    const kept = this.#filter(query);
    const composed =
      kept.length > 1 && this.#alone !== "" ? `${kept}&${this.#alone.slice(1)}` : this.#alone || kept;
    if (kept === query && query.length <= MAX_CACHED_LENGTH && this.#composed.size < MAX_CACHED_QUERIES)
      this.#composed.set(query, composed);
    return composed;
  }

  /** Returns the query that is left, with its leading `?`; empty when nothing is. */
  #filter(query: string): string {
    let kept = "";
    let isWhole = true;
    let start = 1;
    while (start <= query.length) {
      SEPARATOR.lastIndex = start;
      const end = SEPARATOR.exec(query)?.index ?? query.length;
      // The character before a parameter is its separator, which for the first one is the `?` of the query.
      if (!this.#isForwarded(query.slice(start, end))) isWhole = false;
      else kept += kept === "" ? `?${query.slice(start, end)}` : query.slice(start - 1, end);
      start = end + 1;
    }
    return isWhole ? query : kept;
  }

  #isForwarded(parameter: string): boolean {
    const decoded = decode(parameter);
    const name = nameOf(decoded);
    if (this.#fixedNames.has(name) || holdsLocalToken(parameter)) return false;
    if (this.#allowed.has(name)) return true;
    // A gateway may decode the query once more.
    const again = decode(decoded);
    return (
      !holdsCredential(parameter) && !hasCredential(decoded) && (again === decoded || !hasCredential(again))
    );
  }
}

/**
 * Lists the names of parameters that some server could find in a client's raw query: behind every separator, as it is, decoded, and decoded
 * once more.
 */
export function listQueryNames(query: string): string[] {
  const raw = query.slice(1);
  const decoded = decode(raw);
  return [raw, decoded, decode(decoded)].flatMap((text) => text.split(SEPARATOR).map(nameOf));
}

/** True for a decoded parameter that has a credential's name, or within its value another parameter that has one. */
function hasCredential(decoded: string): boolean {
  const [first = "", ...inside] = decoded.split(SEPARATOR);
  const names = [first, ...inside.filter((one) => one.includes("="))];
  return names.some((one) => namesCredential(foldName(nameOf(one))));
}

function nameOf(parameter: string): string {
  return parameter.split("=", 1)[0] ?? "";
}

/** Decodes a part of a query as servers do. */
function decode(text: string): string {
  return decodePercent(text.replaceAll("+", " "));
}
