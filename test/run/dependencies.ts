// What each file of the project depends on: what it imports, the programs in `dist` that it starts, and the files that it names.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { BUNDLED_LIBRARY } from "./bundle.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const BUILDS_PROGRAM = "src/adapters/bundle/write.ts";
const PROGRAM = "src/start.ts";

/** Files in `dist` that are not a source's own: what they are built from. */
const BUILT: Record<string, string[]> = {
  "dist/main.js": [PROGRAM],
  "dist/dashboard/": ["src/local/dashboard/page/"],
  "dist/prices.json": ["src/adapters/price-table/write.ts"],
};

/** In text between double quotes, or a part of a template. A file's name may be in it. */
const LITERAL = /"([^"\\\n]+)"|[`}]([^`$\\\n]+)(?=[`$])/g;

/** What esbuild reads; types are not loaded. */
const SPECIFIER = /\bfrom "[^"]+"|\bimport\(?"[^"]+"/g;

/** How a file depends on another, the surest first. */
export const TIES = ["imports", "starts", "reads"] as const;
export type Tie = (typeof TIES)[number];

/** What the files of a project depend on, all by their paths from its root. A path that ends with a slash is a directory. */
export class Dependencies {
  readonly #direct: ReadonlyMap<string, Record<Tie, readonly string[]>>;

  constructor(direct: ReadonlyMap<string, Record<Tie, readonly string[]>>) {
    this.#direct = direct;
  }

  /** Returns what a file depends on through these ties, itself included, at any distance. */
  of(file: string, ties: readonly Tie[] = TIES): Set<string> {
    const found = new Set([file]);
    for (const path of found) {
      const direct = this.#direct.get(path);
      for (const tie of ties) for (const next of direct?.[tie] ?? []) found.add(next);
    }
    return found;
  }

  /** True when the file starts a program that the build has made, or loads what does. */
  startsProgram(file: string): boolean {
    return this.of(file, ["imports", "starts"]).has(BUILDS_PROGRAM);
  }

  /** Returns the first of {@link TIES} by which a file depends on one of the others, alone or with those before it; null if none does. */
  tieTo(file: string, others: readonly string[]): Tie | null {
    return TIES.find((_, i) => isAmong(others, this.of(file, TIES.slice(0, i + 1)))) ?? null;
  }
}

function isAmong(paths: readonly string[], found: ReadonlySet<string>): boolean {
  return paths.some((path) => [path, ...directoriesOf(path)].some((place) => found.has(place)));
}

/** `a/`, `a/b/` for `a/b/c`. */
function directoriesOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, i) => `${names.slice(0, i + 1).join("/")}/`);
}

/** Reads `src` and `test`. esbuild says what is imported; everything else is named in a text. */
export async function readDependencies(): Promise<Dependencies> {
  const sources = ["src", "test"].flatMap(listSources);
  const { metafile } = await build({
    absWorkingDir: ROOT,
    stdin: { contents: sources.map((path) => `import "./${path}";`).join("\n"), resolveDir: ROOT },
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
    external: ["*.css"],
    plugins: [BUNDLED_LIBRARY],
    logLevel: "error",
  });
  const direct = sources.map((path) => {
    const { starts, reads } = findNamed(path, readFileSync(join(ROOT, path), "utf8"));
    const imports = metafile.inputs[path]?.imports.map((imported) => imported.path) ?? [];
    return [path, { imports, starts, reads }] as const;
  });
  return new Dependencies(new Map(direct));
}

function listSources(directory: string): string[] {
  return readdirSync(join(ROOT, directory), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
    .map((file) => `${directory}/${file.replaceAll(sep, "/")}`);
}

/** Finds in a source the names of built programs, and of other files and directories of the project. */
function findNamed(path: string, text: string): Record<"starts" | "reads", string[]> {
  const starts = new Set<string>();
  const reads = new Set<string>();
  for (const [, quoted, part = ""] of text.replaceAll(SPECIFIER, "").matchAll(LITERAL)) {
    const name = (quoted ?? part).replace(/^#package\//, "");
    const built = /(?:^|\/)(dist(?:\/.*)?)$/.exec(name)?.[1];
    if (built === undefined) for (const place of placesOf(path, name)) reads.add(place);
    else for (const source of [BUILDS_PROGRAM, ...sourcesOf(built)]) starts.add(source);
  }
  return { starts: [...starts], reads: [...reads] };
}

/** Returns the sources of a file in `dist`; those of all programs when it cannot be told from which it is. */
function sourcesOf(built: string): string[] {
  const own = built.replace(/^dist\/(.*)\.js$/, "src/$1.ts");
  return BUILT[built] ?? (existsSync(join(ROOT, own)) ? [own] : [PROGRAM]);
}

/**
 * Returns what a name may stand for. A source names files of its package only; a test those relative to itself, to the project or to
 * `test`. A mere word is a directory of the project, if there is one.
 */
function placesOf(path: string, name: string): string[] {
  const isOfTest = path.startsWith("test/");
  if (!/^[\w./@-]*\w[\w./@-]*$/.test(name) || (!isOfTest && !/^\.\.?\//.test(name))) return [];
  const from = !isOfTest ? [dirname(path)] : /[./]/.test(name) ? [dirname(path), "", "test"] : [""];
  return from.flatMap((directory) => {
    const place = relative(ROOT, join(ROOT, directory, name));
    if (place === "" || place.startsWith("..") || place.startsWith("node_modules")) return [];
    const stats = statSync(join(ROOT, place), { throwIfNoEntry: false });
    if (stats === undefined) return [];
    return [stats.isDirectory() ? `${place}/` : place];
  });
}
