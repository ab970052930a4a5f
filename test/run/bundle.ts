import { existsSync, readdirSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type BuildOptions, type Plugin } from "esbuild";
import type { TestProgram } from "./run-file.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TEST_ROOT = join(ROOT, "test");

/** In the project, so that the libraries are found, and `#package`. Each run has a directory of its own, named by its pid. */
export const BUNDLES = join(ROOT, ".bundles");

/** What a module says of itself, which must still name its source. */
const ABOUT_ITSELF = ["url", "filename", "dirname"] as const;

/** Takes a library into the bundle that imports JSON in a way that Node does not know. */
export const BUNDLED_LIBRARY: Plugin = {
  name: "bundled-library",
  setup({ onResolve }) {
    onResolve({ filter: /^@actions\/workflow-parser$/ }, ({ path }) => ({
      path: fileURLToPath(import.meta.resolve(path)),
    }));
  },
};

const REPORTER = join(TEST_ROOT, "run", "tell-events.ts");

/** Defines in each module, on its first line, what `import.meta` says of its source. */
const keepPlaces: Plugin = {
  name: "keep-places",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const values = { url: pathToFileURL(path).href, filename: path, dirname: join(path, "..") };
      const text = await readFile(path, "utf8");
      const constants = ABOUT_ITSELF.filter((name) => text.includes(`import.meta.${name}`)).map(
        (name) => `const importMeta_${name} = ${JSON.stringify(values[name])}; `,
      );
      return { contents: constants.join("") + text, loader: "ts" };
    });
  },
};

/** How modules are compiled that run without tsx. */
export const COMPILED = {
  absWorkingDir: ROOT,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  packages: "external",
  keepNames: true,
  define: Object.fromEntries(ABOUT_ITSELF.map((name) => [`import.meta.${name}`, `importMeta_${name}`])),
  plugins: [BUNDLED_LIBRARY, keepPlaces],
  logLevel: "warning",
} satisfies BuildOptions;

/** The test files as JavaScript. */
export interface Bundle {
  /** tell-events.ts, compiled. */
  reporter: string;
  tests: TestProgram[];
  remove(): void;
}

/**
 * Compiles test files and the sources that they import, all at once: Node with tsx takes 0.3 s more for each file, of 500. Modules
 * that several files import are written once, and each file loads only those that it imports.
 * @param files absolute paths
 */
export async function bundleTests(files: readonly string[]): Promise<Bundle> {
  removeOfEndedRuns();
  const directory = join(BUNDLES, String(process.pid));
  await build({
    ...COMPILED,
    entryPoints: [REPORTER, ...files],
    outdir: directory,
    outbase: TEST_ROOT,
    outExtension: { ".js": ".mjs" },
    chunkNames: "chunks/[name]-[hash]",
    splitting: true,
    sourcemap: true,
    sourcesContent: false,
  });
  const compiled = (file: string) => join(directory, relative(TEST_ROOT, file).replace(/\.ts$/, ".mjs"));
  const reporter = compiled(REPORTER);
  const tests = files.map((file) => ({ name: relative(TEST_ROOT, file), program: compiled(file), reporter }));
  return { reporter, tests, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** A run that was killed has left its directory. */
function removeOfEndedRuns(): void {
  if (!existsSync(BUNDLES)) return;
  for (const pid of readdirSync(BUNDLES)) {
    try {
      process.kill(Number(pid), 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ESRCH")
        rmSync(join(BUNDLES, pid), { recursive: true, force: true });
    }
  }
}
