import { createHash } from "node:crypto";
import { basename, dirname, join, relative } from "node:path";
import { build, type Metafile, type OutputFile, type Plugin } from "esbuild";
import { groupChunks, type Chunk, type ChunkGroup, type EntryRules } from "./group-chunks.ts";

/** What esbuild has made of the source, split. Paths are relative to the project. */
interface SplitBundle {
  /** The text of each file. */
  texts: ReadonlyMap<string, string>;
  outputs: Metafile["outputs"];
  /** The modules of the source that Node starts. */
  programs: readonly string[];
}

/**
 * Joins the chunks of a bundle to few files ({@link groupChunks}).
 * @returns the text of each file, by its path. The name of a joined file contains a hash of its contents and of all that it may load.
 */
export async function joinChunks(split: SplitBundle, rules: EntryRules): Promise<Map<string, string>> {
  const used = findUsed(split);
  const groups = groupChunks(
    used.filter(({ path }) => !isRuntime(split, path)),
    rules,
  );
  const joined = new JoinedGroups(split, groups);
  const { outputFiles } = await build({
    entryPoints: groups.map((_, at) => ({ in: `group:${at}`, out: String(at) })),
    outdir: "joined",
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    plugins: [joined.plugin],
    write: false,
    logLevel: "warning",
    // A file that needs none of esbuild's own functions still imports their chunk.
    logOverride: { "ignored-bare-import": "silent" },
  });
  return nameFiles(outputFiles, groups, split);
}

/** Returns what programs may load. esbuild also writes chunks of `import()` in code that it leaves out of the bundle. */
function findUsed({ outputs, programs }: SplitBundle): Chunk[] {
  const used = new Map<string, Chunk>();
  const visit = (path: string): void => {
    const output = outputs[path];
    if (output === undefined || used.has(path)) return;
    const own = output.imports.filter(({ external }) => external !== true);
    const entry = output.entryPoint ?? null;
    used.set(path, {
      path,
      bytes: output.bytes,
      imports: own.flatMap((to) => (to.kind === "import-statement" ? [to.path] : [])),
      entry,
      isProgram: entry !== null && programs.includes(entry),
    });
    for (const { path: imported } of own) visit(imported);
  };
  for (const [path, { entryPoint }] of Object.entries(outputs))
    if (entryPoint !== undefined && programs.includes(entryPoint)) visit(path);
  return [...used.values()];
}

/** True for esbuild's own functions, which each file gets that needs them. */
function isRuntime({ outputs }: SplitBundle, path: string): boolean {
  const output = outputs[path];
  return output !== undefined && output.entryPoint === undefined && Object.keys(output.inputs).length === 0;
}

/** In the text of a joined file, the name of another, until its hash is known. */
const PLACEHOLDER = /"#joined:(\d+)"/g;
const placeholderOf = (group: number) => `#joined:${group}`;

/** Has esbuild find each chunk in the file of its group. */
class JoinedGroups {
  readonly #split: SplitBundle;
  readonly #groups: readonly ChunkGroup[];
  readonly #groupOf: ReadonlyMap<string, number>;

  constructor(split: SplitBundle, groups: readonly ChunkGroup[]) {
    this.#split = split;
    this.#groups = groups;
    this.#groupOf = new Map(groups.flatMap(({ members }, at) => members.map((path) => [path, at])));
  }

  readonly plugin: Plugin = {
    name: "join-chunks",
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^group:/ }, ({ path }) => {
        const [only, ...others] = this.#groups[Number(path.slice("group:".length))]?.members ?? [];
        if (only !== undefined && others.length === 0) return { path: only, namespace: "chunk" };
        return { path, namespace: "group" };
      });
      onResolve({ filter: /^#joined:/ }, ({ path }) => ({ path, external: true }));
      onResolve({ filter: /.*/, namespace: "group" }, ({ path }) => ({ path, namespace: "chunk" }));
      onResolve({ filter: /.*/, namespace: "chunk" }, ({ path, importer, kind }) =>
        this.#resolve(path, importer, kind === "dynamic-import"),
      );
      onLoad({ filter: /.*/, namespace: "group" }, ({ path }) => ({
        contents: this.#exportMembers(Number(path.slice("group:".length))),
      }));
      onLoad({ filter: /.*/, namespace: "chunk" }, ({ path }) => ({
        contents: this.#split.texts.get(path) ?? "",
      }));
      onLoad({ filter: /.*/, namespace: "elsewhere" }, ({ path }) => ({
        contents: this.#exportFrom(path, placeholderOf(this.#groupOf.get(path) ?? -1), false),
      }));
    },
  };

  #resolve(specifier: string, importer: string, isDynamic: boolean) {
    const path = join(dirname(importer), specifier);
    const group = this.#groupOf.get(path);
    if (group === undefined) {
      if (isRuntime(this.#split, path)) return { path, namespace: "chunk", sideEffects: false };
      return { path: specifier, external: true };
    }
    if (isDynamic) return { path: placeholderOf(group), external: true };
    const isHere = group === this.#groupOf.get(importer);
    return { path, namespace: isHere ? "chunk" : "elsewhere" };
  }

  #exportMembers(group: number): string {
    const members = this.#groups[group]?.members ?? [];
    return members.map((path) => this.#exportFrom(path, path, true)).join("");
  }

  /** Names of different chunks may be the same. Only an entry is asked for its names by `import()`, so others get a number. */
  #exportFrom(path: string, from: string, isInGroup: boolean): string {
    const group = this.#groups[this.#groupOf.get(path) ?? -1];
    const at = group?.members.indexOf(path);
    const hasOwnNames = path === group?.entry || group?.members.length === 1;
    const names = (this.#split.outputs[path]?.exports ?? []).map((name) => {
      const joined = hasOwnNames ? name : `${name}$${at}`;
      return isInGroup ? `${name} as ${joined}` : `${joined} as ${name}`;
    });
    return names.length === 0 ? `import "${from}";\n` : `export { ${names.join(", ")} } from "${from}";\n`;
  }
}

function nameFiles(
  files: readonly OutputFile[],
  groups: readonly ChunkGroup[],
  { outputs, programs }: SplitBundle,
): Map<string, string> {
  const texts = new Map(files.map(({ path, text }) => [Number(basename(path, ".js")), text]));
  const names = groups.map(({ entry }, at) => {
    const source = entry === null ? undefined : outputs[entry]?.entryPoint;
    if (entry !== null && source !== undefined && programs.includes(source)) return entry;
    const name = basename(entry ?? "chunk").replace(/-\w+\.js$/, "");
    return `dist/chunks/${name}-${hashOf(at, texts)}.js`;
  });
  return new Map(
    names.map((name, at) => {
      const text = (texts.get(at) ?? "").replace(PLACEHOLDER, (_, to: string) => {
        const path = relative(dirname(name), names[Number(to)] ?? "");
        return JSON.stringify(path.startsWith(".") ? path : `./${path}`);
      });
      return [name, text];
    }),
  );
}

/** Returns the hash of a file with all that it may load: its name tells one build from another. */
function hashOf(group: number, texts: ReadonlyMap<number, string>): string {
  const hash = createHash("sha256");
  const seen = new Set([group]);
  for (const at of seen) {
    const text = texts.get(at) ?? "";
    hash.update(text);
    for (const [, to] of text.matchAll(PLACEHOLDER)) seen.add(Number(to));
  }
  return hash.digest("hex").slice(0, 8).toUpperCase();
}
