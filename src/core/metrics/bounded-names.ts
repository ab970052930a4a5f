import { toPrintable } from "../text/printable.ts";

/** Stands for every name that came after the first ones. */
export const OTHER = "other";

/** Longest name, in UTF-16 code units. The ledger keeps 256, of which this tells models apart. */
const NAME_CHARACTERS = 128;

/**
 * The first names of a kind. Programs choose the names of tools and models, and each is stored as a series by every receiver of metrics,
 * so that only the first ones are told apart (SECURITY.md F8).
 */
export class BoundedNames {
  readonly #limit: number;
  /** By the name as it was given, because to clean one takes longer than to find it. */
  readonly #known = new Map<string, string>();
  readonly #names: Set<string>;

  /** @param names those that are known already; `limit` holds for them, too */
  constructor(limit: number, names: readonly string[] = []) {
    this.#limit = limit;
    this.#names = new Set(names.slice(0, limit));
  }

  /** Returns the name itself, cut off and printable, or {@link OTHER}. */
  of(name: string): string {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const clean = cleanName(name);
    if (!this.#names.has(clean) && this.#names.size >= this.#limit) return OTHER;
    this.#names.add(clean);
    // Several names may become the same when cleaned.
    if (clean === name) this.#known.set(clean, clean);
    return clean;
  }

  all(): string[] {
    return [...this.#names];
  }
}

/** Removes what could break out of a line, or is no valid Unicode. In memory of its own: a part of a line would keep the line. */
function cleanName(name: string): string {
  const cut = name.slice(0, NAME_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "");
  return `${toPrintable(cut)} `.slice(0, -1);
}
