/** A file that the bundler wrote. */
export interface Chunk {
  path: string;
  bytes: number;
  /** The chunks that are loaded with it. */
  imports: readonly string[];
  /** The module of the source that programs start with, or load by `import()`; null for what such modules share. */
  entry: string | null;
  /** True for an entry that Node starts. */
  isProgram: boolean;
}

/** Chunks that become one file. */
export interface ChunkGroup {
  /** The one that programs start with or load by `import()`; null if there is none. */
  entry: string | null;
  members: readonly string[];
}

/** What may be said about entries, by the modules of the source. */
export interface EntryRules {
  /** Entries that are no programs, and still do something when they are loaded. */
  acting: readonly string[];
  /** The entries that are loaded before one that is no program. */
  before: (entry: string) => readonly string[];
  /** Entries with which nothing is loaded that they do not need: what they load stays loaded. */
  lasting: readonly string[];
  /** Entries that count {@link OFTEN} times as much as others, besides the programs. */
  frequent: readonly string[];
}

/** Bytes of code that take as long to load as a file takes in addition to its bytes: 0.4 ms on Node 20. */
const BYTES_PER_FILE = 8_000;
const OFTEN = 5;

interface Group {
  entry: string | null;
  isAlone: boolean;
  members: string[];
  bytes: number;
  /** What loads it, as positions in the list of entries. */
  loaders: Set<number>;
}

/**
 * Says which chunks are joined, so that programs load few files. Splitting makes a chunk for each set of entries that share modules,
 * most of them tiny. Two are joined as long as that is quicker for all entries together: a file less for those that load both, and
 * needless code for those that load one.
 *
 * What does something when it is loaded stays alone, because others may load what is joined. No group
 * imports itself through another: modules with constants would then run in the wrong order.
 */
export function groupChunks(chunks: readonly Chunk[], rules: EntryRules): ChunkGroup[] {
  const entries = chunks.filter(({ entry }) => entry !== null);
  const byPath = new Map(chunks.map((chunk) => [chunk.path, chunk]));
  const loadedBy = entries.map((chunk) => {
    const before = chunk.isProgram ? [] : rules.before(chunk.entry ?? "");
    return loadedWith([chunk, ...entries.filter(({ entry }) => before.includes(entry ?? ""))], byPath);
  });
  const weights = entries.map(({ entry, isProgram }) =>
    isProgram || rules.frequent.includes(entry ?? "") ? OFTEN : 1,
  );
  const lasting = entries.flatMap(({ entry }, at) => (rules.lasting.includes(entry ?? "") ? [at] : []));
  const groups: Group[] = chunks.map(({ path, bytes, entry, isProgram }) => ({
    entry: entry === null ? null : path,
    isAlone: isProgram || rules.acting.includes(entry ?? ""),
    members: [path],
    bytes,
    loaders: new Set(loadedBy.flatMap((loaded, at) => (loaded.has(path) ? [at] : []))),
  }));
  joinWhileQuicker(groups, (a, b) => bytesSaved(a, b, weights, lasting), byPath);
  return groups.map(({ entry, members }) => ({ entry, members }));
}

function loadedWith(from: readonly Chunk[], byPath: ReadonlyMap<string, Chunk>): Set<string> {
  const found = new Set<string>();
  const waiting = from.map(({ path }) => path);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    waiting.push(...(byPath.get(path)?.imports ?? []));
  }
  return found;
}

/** Returns what joining two groups saves, in bytes to load; nothing where they must not be joined. */
function bytesSaved(a: Group, b: Group, weights: readonly number[], lasting: readonly number[]): number {
  if ((a.entry !== null && b.entry !== null) || a.isAlone || b.isAlone) return 0;
  if (lasting.some((at) => a.loaders.has(at) !== b.loaders.has(at))) return 0;
  let saved = 0;
  for (const [at, weight] of weights.entries()) {
    const [hasA, hasB] = [a.loaders.has(at), b.loaders.has(at)];
    if (hasA && hasB) saved += weight * BYTES_PER_FILE;
    else if (hasA) saved -= weight * b.bytes;
    else if (hasB) saved -= weight * a.bytes;
  }
  return saved;
}

/** Joins, again and again, the two groups of which that saves most. */
function joinWhileQuicker(
  groups: Group[],
  saving: (a: Group, b: Group) => number,
  byPath: ReadonlyMap<string, Chunk>,
): void {
  const savings = new Map(groups.map((group) => [group, new Map<Group, number>()]));
  const note = (a: Group, b: Group): void => {
    const saved = saving(a, b);
    if (saved > 0) savings.get(a)?.set(b, saved);
    else savings.get(a)?.delete(b);
  };
  for (const [at, a] of groups.entries()) for (const b of groups.slice(at + 1)) note(a, b);
  for (;;) {
    const pair = bestPair(savings, new GroupGraph(groups, byPath));
    if (pair === null) return;
    const [into, joined] = pair;
    groups.splice(groups.indexOf(joined), 1);
    savings.delete(joined);
    for (const row of savings.values()) row.delete(joined);
    into.entry ??= joined.entry;
    into.members.push(...joined.members);
    into.bytes += joined.bytes;
    for (const at of joined.loaders) into.loaders.add(at);
    const at = groups.indexOf(into);
    for (const [other, group] of groups.entries())
      if (other < at) note(group, into);
      else if (other > at) note(into, group);
  }
}

function bestPair(
  savings: ReadonlyMap<Group, ReadonlyMap<Group, number>>,
  graph: GroupGraph,
): [Group, Group] | null {
  const pairs = [...savings].flatMap(([a, row]) => [...row].map(([b, saved]) => ({ a, b, saved })));
  pairs.sort((one, other) => other.saved - one.saved);
  const best = pairs.find(({ a, b }) => !graph.hasDetour(a, b) && !graph.hasDetour(b, a));
  return best === undefined ? null : [best.a, best.b];
}

/** Which groups import which, at one moment. */
class GroupGraph {
  readonly #imports: ReadonlyMap<Group, ReadonlySet<Group>>;

  constructor(groups: readonly Group[], byPath: ReadonlyMap<string, Chunk>) {
    const owners = new Map(groups.flatMap((group) => group.members.map((path) => [path, group])));
    this.#imports = new Map(
      groups.map((group) => {
        const paths = group.members.flatMap((path) => byPath.get(path)?.imports ?? []);
        return [group, new Set(paths.flatMap((path) => owners.get(path) ?? []))];
      }),
    );
  }

  /** True if one group imports the other through a third. */
  hasDetour(from: Group, to: Group): boolean {
    const waiting = this.#others(from).filter((group) => group !== to);
    const seen = new Set<Group>(waiting);
    for (let group = waiting.pop(); group !== undefined; group = waiting.pop()) {
      for (const next of this.#others(group)) {
        if (next === to) return true;
        if (!seen.has(next)) waiting.push(next);
        seen.add(next);
      }
    }
    return false;
  }

  #others(group: Group): Group[] {
    return [...(this.#imports.get(group) ?? [])].filter((imported) => imported !== group);
  }
}
