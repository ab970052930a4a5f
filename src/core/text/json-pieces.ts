/** So many items are written at once: together they take much less time than one by one. */
const AT_ONCE = 64;

/** A list of a document whose items are made when they are asked for, because all of them would take much memory. Their keys are final. */
export class LongList<Source, Item extends object> {
  readonly #sources: readonly Source[];
  readonly #toItem: (source: Source) => Item;

  constructor(sources: readonly Source[], toItem: (source: Source) => Item) {
    this.#sources = sources;
    this.#toItem = toItem;
  }

  /** How many items it has. */
  get length(): number {
    return this.#sources.length;
  }

  /** Returns some of the items, as an array's `slice` does. */
  slice(start?: number, end?: number): Item[] {
    return this.#sources.slice(start, end).map((source) => this.#toItem(source));
  }

  /** Returns all items. */
  toJSON(): Item[] {
    return this.slice();
  }
}

/** Yields the text of `JSON.stringify(document, null, 2)` piece by piece. Pieces end between values, so no character is cut. */
export function jsonPieces(document: unknown): Generator<string> {
  return piecesOf(document, 0);
}

/** @param depth how many objects the value is in */
function* piecesOf(value: unknown, depth: number): Generator<string> {
  if (value instanceof LongList) yield* itemsOf(value, depth);
  else if (hasLongList(value)) yield* membersOf(value, depth);
  else yield JSON.stringify(value, null, 2).replaceAll("\n", `\n${indentOf(depth)}`);
}

function* membersOf(value: object, depth: number): Generator<string> {
  let before = "{\n";
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before}${indentOf(depth + 1)}${JSON.stringify(key)}: `;
    yield* piecesOf(member, depth + 1);
    before = ",\n";
  }
  yield `\n${indentOf(depth)}}`;
}

function* itemsOf(list: LongList<unknown, object>, depth: number): Generator<string> {
  if (list.length === 0) return yield "[]";
  for (let at = 0; at < list.length; at += AT_ONCE) {
    yield at === 0 ? "[\n" : ",\n";
    let nested: unknown = list.slice(at, at + AT_ONCE);
    for (let level = 0; level < depth; level += 1) nested = [nested];
    // Around the items there are a bracket and a line end for each level, and the indents of these.
    const around = (depth + 1) * (depth + 2);
    yield JSON.stringify(nested, null, 2).slice(around, -around);
  }
  yield `\n${indentOf(depth)}]`;
}

function hasLongList(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).some((member) => member instanceof LongList || hasLongList(member));
}

function indentOf(depth: number): string {
  return "  ".repeat(depth);
}
