// A step of the build: joins the modules of the programs in `dist`.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import { buildPage } from "./build-page.ts";
import type { EntryRules } from "./group-chunks.ts";
import { joinChunks } from "./join-chunks.ts";

/** The programs that Node starts: the commands, those that run as children or threads, and what a status line may load. */
const PROGRAMS = [
  "src/start.ts",
  "src/adapters/keychain/keytar-child.ts",
  "src/adapters/price-table/imported-table.ts",
  "src/cli/sums/worker.ts",
  "src/daemon/ledger-reader/program.ts",
  "src/service/systemd/trial-run-program.ts",
];

/**
 * The libraries that every command loads, and one of many files. They are listed as dependencies like the others, so that audits of what
 * users run see them.
 */
const BUNDLED = ["fast-string-truncated-width", "jsonc-parser", "yaml", "yargs"];

/** Commands whose arguments are read without yargs. */
const WITHOUT_YARGS = ["src/cli/commands/serve.ts", "src/cli/commands/statusline.ts"];

/** Which of them, and of what commands load later, start often or stay. */
const ENTRY_RULES: EntryRules = {
  acting: ["src/main.ts"],
  before: (entry) =>
    entry.startsWith("src/cli/commands/") && !WITHOUT_YARGS.includes(entry)
      ? ["src/main.ts", "src/cli/command-line.ts"]
      : ["src/main.ts"],
  lasting: ["src/main.ts", "src/cli/commands/serve.ts", "src/adapters/keychain/keytar-child.ts"],
  frequent: [
    "src/cli/commands/usage.ts",
    "src/cli/commands/status.ts",
    "src/cli/commands/statusline.ts",
    "src/cli/commands/live/tail.ts",
    "src/cli/command-line.ts",
    "src/cli/complete.ts",
  ],
};

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** A field of package.json, or of a library's. */
type Manifest = Record<"name" | "version", string> & { dependencies: Record<string, string> };

/**
 * Bundles the source with {@link BUNDLED}, because Node takes 0.4 ms for each file: yargs alone is 40. Other dependencies stay
 * outside.
 */
async function writeBundle(): Promise<Metafile> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS.map((path) => ({
      in: path,
      out: path === "src/start.ts" ? "main" : outputOf(path),
    })),
    outdir: "dist",
    outbase: "src",
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    // jsonc-parser's other form requires its parts by names that no bundler sees.
    mainFields: ["module", "main"],
    alias: {
      "string-width": fileURLToPath(new URL("./ascii-width.ts", import.meta.url)),
      // Its other form requires modules of Node's, which a bundle of ES modules cannot.
      yaml: join(ROOT, "node_modules/yaml/browser/index.js"),
      "@modelcontextprotocol/server/_shims": fileURLToPath(
        new URL("./no-form-validator.ts", import.meta.url),
      ),
    },
    // An installed program has the price table that was extracted from the last one.
    external: [...findOutside(), "@pydantic/genai-prices"],
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  refuseUnknownEntries(metafile);
  const texts = new Map(outputFiles.map(({ path, text }) => [relative(ROOT, path), text]));
  const files = await joinChunks({ texts, outputs: metafile.outputs, programs: PROGRAMS }, ENTRY_RULES);
  for (const [path, text] of files) writeProgram(join(ROOT, path), text);
  return metafile;
}

function outputOf(path: string): string {
  return path.replace(/^src\/(.*)\.ts$/, "$1");
}

/** Throws if {@link ENTRY_RULES} name a module that has moved. */
function refuseUnknownEntries({ outputs }: Metafile): void {
  const entries = Object.values(outputs).map(({ entryPoint }) => entryPoint);
  const { acting, lasting, frequent } = ENTRY_RULES;
  const unknown = [...acting, ...lasting, ...frequent, ...WITHOUT_YARGS].filter(
    (path) => !entries.includes(path),
  );
  if (unknown.length > 0) throw new Error(`no program starts with or imports later: ${unknown.join(", ")}`);
}

function writeProgram(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
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

const licences = collectLicences([await writeBundle(), ...(await buildPage(ROOT))]);
writeFileSync(join(ROOT, "dist", "bundled-licences.txt"), licences);
