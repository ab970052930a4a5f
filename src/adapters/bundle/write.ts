// A step of the build: joins the modules of the programs in `dist`.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type Metafile, type OutputFile, type Plugin } from "esbuild";
import { joinChunks, type Joining, type Output } from "./join-chunks.ts";

/** The programs that Node starts: the commands, and those that run as children or threads. */
const PROGRAMS = [
  "src/start.ts",
  "src/adapters/keychain/child.ts",
  "src/cli/sums/worker.ts",
  "src/daemon/budgets/count-ledger.ts",
  "src/daemon/housekeeping/close-days.ts",
  "src/daemon/metrics/count-ledger.ts",
  "src/daemon/statusline/read-history.ts",
  "src/service/systemd/trial-run-program.ts",
];

/**
 * The libraries that commands load: a command that edits a tool's settings would load 72 files of yaml. They are listed as dependencies
 * like the others, so that audits of what users run see them.
 */
const BUNDLED = ["cli-table3", "diff", "jsonc-parser", "plist", "toml-eslint-parser", "yaml", "yargs"];

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const OPTIONS = {
  absWorkingDir: ROOT,
  outdir: "dist",
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  logLevel: "warning",
} as const satisfies BuildOptions;

/** A field of package.json, or of a library's. */
type Manifest = Record<"name" | "version", string> & { dependencies: Record<string, string> };

/**
 * Bundles the source with {@link BUNDLED}, because Node takes 0.4 ms for each file: yargs alone is 40. Other dependencies stay
 * outside. What several programs or commands load is in files of their own, as few as is good for their start ({@link joinChunks}).
 */
async function writeBundle(): Promise<Metafile> {
  const { metafile, outputFiles } = await build({
    ...OPTIONS,
    entryPoints: PROGRAMS.map((path) => ({
      in: path,
      out: path === "src/start.ts" ? "main" : outputOf(path),
    })),
    outbase: "src",
    chunkNames: "chunks/[name]-[hash]",
    splitting: true,
    // jsonc-parser's other form requires its parts by names that no bundler sees.
    mainFields: ["module", "main"],
    plugins: [measureAscii, importBuiltins],
    // An installed program has the price table that was extracted from the last one.
    external: [...findOutside(), "@pydantic/genai-prices"],
    write: false,
    metafile: true,
  });
  const joining = joinChunks(describeUsed(metafile, outputFiles), OPTIONS.outdir);
  // The first has warned.
  await build({
    ...OPTIONS,
    entryPoints: joining.entryPoints,
    plugins: [loadParts(joining)],
    logLevel: "error",
  });
  return metafile;
}

function outputOf(path: string): string {
  return path.replace(/^src\/(.*)\.ts$/, "$1");
}

/** Gives yargs {@link asciiWidth}. Tables are no ASCII, and cli-table3 requires the library's older form. */
const measureAscii: Plugin = {
  name: "measure-ascii",
  setup({ onResolve }) {
    onResolve({ filter: /^string-width$/ }, ({ kind }) =>
      kind === "require-call"
        ? undefined
        : { path: fileURLToPath(new URL("./ascii-width.ts", import.meta.url)) },
    );
  },
};

/** Lets libraries that are no ES modules, such as yaml, import what they require of Node: an ES module cannot require anything. */
const importBuiltins: Plugin = {
  name: "import-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z]/ }, ({ kind, path }) =>
      kind === "require-call" && isBuiltin(path) ? { path, namespace: "builtin" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `export * from "node:${path}"`,
    }));
  },
};

/** The outputs that a program loads: esbuild also makes those of `import()` in code that it leaves out of the bundle. */
function findUsed({ outputs }: Metafile): Set<string> {
  const programs = Object.entries(outputs).filter(
    ([, { entryPoint }]) => entryPoint !== undefined && PROGRAMS.includes(entryPoint),
  );
  const used = new Set(programs.map(([path]) => path));
  for (const path of used) {
    for (const imported of outputs[path]?.imports ?? [])
      if (imported.path in outputs) used.add(imported.path);
  }
  return used;
}

/** What the joining of chunks has to know of them. */
function describeUsed(metafile: Metafile, files: readonly OutputFile[]): Output[] {
  const used = findUsed(metafile);
  return [...used].map((path) => {
    const { exports, imports, entryPoint } = metafile.outputs[path] ?? { exports: [], imports: [] };
    const loaded = imports.filter(({ kind, path: to }) => kind === "import-statement" && used.has(to));
    return {
      path,
      text: files.find((file) => file.path === join(ROOT, path))?.text ?? "",
      exports,
      imports: loaded.map((imported) => imported.path),
      isEntry: entryPoint !== undefined,
    };
  });
}

/** Gives esbuild the outputs of its first build as modules. */
function loadParts({ resolve, load }: Joining): Plugin {
  return {
    name: "parts",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, importer, namespace, kind }) =>
        resolve({ path, importer, namespace, isDynamic: kind === "dynamic-import" }),
      );
      onLoad({ filter: /.*/ }, ({ path, namespace }) => ({ contents: load(path, namespace) }));
    },
  };
}

/** The page of the dashboard: its script with uPlot in it, and its style with uPlot's. */
async function writePage(): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { app: "src/local/dashboard/page/app.ts", style: "src/local/dashboard/page/app.css" },
    outdir: "dist/dashboard",
    bundle: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: ["chrome123", "firefox120", "safari17.5"],
    metafile: true,
    logLevel: "warning",
  });
  return metafile;
}

function findOutside(): string[] {
  return Object.keys(readManifest(ROOT).dependencies).filter((name) => !BUNDLED.includes(name));
}

function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest;
}

/** Returns the licences of the libraries in bundles, which ask for their text in every copy. */
function collectLicences(bundles: readonly Metafile[]): string {
  const modules = bundles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ inputs }) => Object.keys(inputs));
  const libraries = modules.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
  return [...new Set(libraries)].sort().map(describeLicence).join("\n");
}

function describeLicence(library: string): string {
  const directory = join(ROOT, library);
  const { name, version } = readManifest(directory);
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${library} has no licence, so it cannot be bundled`);
  return `${name} ${version}\n\n${readFileSync(join(directory, file), "utf8").trim()}\n`;
}

const licences = collectLicences([await writeBundle(), await writePage()]);
writeFileSync(join(ROOT, "dist", "bundled-licences.txt"), licences);
