import { getHeaderPolicy, type HeaderPolicy } from "./header-policy.ts";

/** One header line, as received. */
interface HeaderLine {
  policy: HeaderPolicy;
  /** The name in its original spelling. */
  rawName: string;
  value: string;
}

/** A message's headers by name. Node's `headers` silently drops a second `Host` or `Origin` line (SECURITY.md C2). */
export class HeaderIndex {
  readonly lines: readonly HeaderLine[];
  /** Names of the headers that occur more than once. */
  readonly repeated: readonly string[];
  readonly #first = new Map<string, string>();

  /** `rawHeaders` is `[name, value, name, value, ...]`, as in `IncomingMessage.rawHeaders`. */
  constructor(rawHeaders: readonly string[]) {
    const lines: HeaderLine[] = [];
    const repeated: string[] = [];
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const [rawName = "", value = ""] = [rawHeaders[i], rawHeaders[i + 1]];
      const policy = getHeaderPolicy(rawName);
      lines.push({ policy, rawName, value });
      if (this.#first.has(policy.name)) repeated.push(policy.name);
      else this.#first.set(policy.name, value);
    }
    this.lines = lines;
    this.repeated = repeated;
  }

  /** The first value of the header `name` (lower case). */
  get(name: string): string | undefined {
    return this.#first.get(name);
  }

  /** All values of the header `name`, joined as one list (RFC 9110 section 5.3). */
  all(name: string): string | undefined {
    if (!this.repeated.includes(name)) return this.get(name);
    return this.lines.flatMap((line) => (line.policy.name === name ? line.value : [])).join(", ");
  }

  has(name: string): boolean {
    return this.#first.has(name);
  }
}
