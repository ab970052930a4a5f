/** A file that esbuild has split off, or a program. */
export interface Chunk {
  path: string;
  bytes: number;
  /** The paths of those that are loaded with it. */
  imports: readonly string[];
  /** Programs start with it, or `import()` loads it. It stays a file of its own. */
  isEntry: boolean;
}

/** As many bytes take as long to parse as it takes to find, open and link another file: 0.7 ms (docs/performance.md section 5). */
const FILE_COST = 14_000;

/** Chunks that become one file. */
interface Group {
  /** As they are evaluated: a chunk comes after those that it imports. */
  members: string[];
  bytes: number;
  isEntry: boolean;
}

/**
 * Decides which chunks become one file, so that the entries start fast: esbuild splits off a file for each set of entries that share it, and
 * a command loads a hundred. Returns the groups of two and more. None of them makes files import each other in a circle.
 */
export function groupChunks(chunks: readonly Chunk[]): string[][] {
  const groups = new Map<string, Group>(
    chunks.map(({ path, bytes, isEntry }) => [path, { members: [path], bytes, isEntry }]),
  );
  const imports = new Map(chunks.map((chunk) => [chunk.path, new Set(chunk.imports)]));
  for (let best = findBest(groups, imports); best !== null; best = findBest(groups, imports))
    join(groups, imports, best);
  return [...groups.values()].map(({ members }) => members).filter(({ length }) => length > 1);
}

/** An importing group, and one that it imports. */
type Pair = readonly [importer: string, imported: string];

/** The pair that saves most for all entries together, or null when none saves anything. */
function findBest(
  groups: ReadonlyMap<string, Group>,
  imports: ReadonlyMap<string, Set<string>>,
): Pair | null {
  const loaded = new Map([...groups.keys()].map((path) => [path, reach(path, imports)]));
  const roots = [...groups]
    .filter(([, { isEntry }]) => isEntry)
    .map(([path]) => loaded.get(path) ?? new Set());
  const bytesOf = (path: string) => FILE_COST + (groups.get(path)?.bytes ?? 0);
  let best: Pair | null = null;
  let most = 0;
  for (const [importer, direct] of imports) {
    if (groups.get(importer)?.isEntry !== false) continue;
    const gain = FILE_COST * roots.filter((root) => root.has(importer)).length;
    if (gain <= most) continue;
    for (const imported of direct) {
      if (groups.get(imported)?.isEntry !== false) continue;
      if ([...direct].some((other) => other !== imported && loaded.get(other)?.has(imported) === true))
        continue;
      let saved = gain;
      for (const root of roots) {
        if (!root.has(imported) || root.has(importer)) continue;
        // The file that both become is already counted as the imported one.
        saved += FILE_COST;
        for (const path of loaded.get(importer) ?? []) if (!root.has(path)) saved -= bytesOf(path);
        if (saved <= most) break;
      }
      if (saved > most) [best, most] = [[importer, imported], saved];
    }
  }
  return best;
}

/** Everything that is loaded with a group, itself included. */
function reach(from: string, imports: ReadonlyMap<string, Set<string>>): Set<string> {
  const reached = new Set([from]);
  for (const path of reached) for (const next of imports.get(path) ?? []) reached.add(next);
  return reached;
}

function join(
  groups: Map<string, Group>,
  imports: Map<string, Set<string>>,
  [importer, imported]: Pair,
): void {
  const [upper, lower] = [groups.get(importer), groups.get(imported)];
  if (upper === undefined || lower === undefined) return;
  lower.members.push(...upper.members);
  lower.bytes += upper.bytes;
  groups.delete(importer);
  const joined = imports.get(imported) ?? new Set();
  for (const path of imports.get(importer) ?? []) if (path !== imported) joined.add(path);
  imports.delete(importer);
  for (const direct of imports.values()) if (direct.delete(importer)) direct.add(imported);
  joined.delete(imported);
}
