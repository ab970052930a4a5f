import { headerName, type HeaderName } from "./header-name.ts";

/** One line of a message's head, as it came. */
export interface HeaderLine {
  name: HeaderName;
  /** The name as it was spelled. */
  spelled: string;
  value: string;
}

/**
 * Headers by lower-case name, made from the raw list, because Node's own `headers` object silently keeps the
 * first of two `Host` or `Origin` lines (facts/threats.md C2).
 */
export class HeaderIndex {
  readonly lines: readonly HeaderLine[];
  /** Names that came more than once. */
  readonly repeated: readonly string[];
  readonly #first = new Map<string, string>();

  /** Takes `[name, value, name, value, ...]`, as `IncomingMessage.rawHeaders` has it. */
  constructor(rawHeaders: readonly string[]) {
    const lines: HeaderLine[] = [];
    const repeated: string[] = [];
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const [spelled = "", value = ""] = [rawHeaders[i], rawHeaders[i + 1]];
      const name = headerName(spelled);
      lines.push({ name, spelled, value });
      if (this.#first.has(name.lower)) repeated.push(name.lower);
      else this.#first.set(name.lower, value);
    }
    this.lines = lines;
    this.repeated = repeated;
  }

  /** First value of the header `name` (lower case). */
  get(name: string): string | undefined {
    return this.#first.get(name);
  }

  /** All values of the header `name`, joined as one list (RFC 9110 section 5.3). */
  all(name: string): string | undefined {
    if (!this.repeated.includes(name)) return this.get(name);
    return this.lines.flatMap((line) => (line.name.lower === name ? line.value : [])).join(", ");
  }

  has(name: string): boolean {
    return this.#first.has(name);
  }
}
