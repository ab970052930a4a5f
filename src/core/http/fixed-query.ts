/** The query parameters that an upstream's configuration sends with each request. */
export class FixedQuery {
  readonly #names: ReadonlySet<string>;
  /** Without a leading `?`. */
  readonly #text: string;

  constructor(parameters: Readonly<Record<string, string>>) {
    this.#names = new Set(Object.keys(parameters));
    this.#text = Object.entries(parameters)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join("&");
  }

  /**
   * Returns a client's raw query, with its leading `?` or empty, with these parameters after it. A parameter of the client's
   * with the same name is left out: which of the two would count differs from server to server.
   */
  addTo(query: string): string {
    if (this.#names.size === 0) return query;
    const sent = query.slice(1).split("&");
    const kept = sent.filter((pair) => pair !== "" && !this.#names.has(nameOf(pair)));
    return `?${[...kept, this.#text].join("&")}`;
  }
}

/** The name of a raw parameter as servers read it. */
function nameOf(pair: string): string {
  const [name = ""] = pair.split("=", 1);
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}
