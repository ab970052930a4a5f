import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";

const PAGE = "src/local/dashboard/page";

/** The parts that the page loads when they are first shown (`later.ts`), by the names of their files. */
const PARTS = { health: "health.ts", record: "record-dialog.ts", sessions: "sessions.ts" };

const OPTIONS = {
  outdir: "dist/dashboard",
  bundle: true,
  minify: true,
  // The page is served as UTF-8: `≥` needs no escape.
  charset: "utf8",
  platform: "browser",
  target: ["chrome123", "firefox120", "safari17.5"],
  metafile: true,
  write: false,
  logLevel: "warning",
} satisfies BuildOptions;

/** Where the scripts of the page find each other. */
const PARTS_OBJECT = "tollkeeperParts";
/** What a part takes from the first script, and what it exports. The statements are those that esbuild writes, minified. */
const SHARED = /import\{([^}]*)\}from"shared:([^"]*)";?/g;
const EXPORTS = /export\{([^}]*)\};?\s*$/;

/**
 * Bundles the page of the dashboard: its style, its first script, and a script for each of its parts. They are no modules, because browsers
 * send `Origin` with those, as foreign pages would. So what a part shares with the first script is handed over in an array.
 * @param root - the project's directory
 */
export async function buildPage(root: string): Promise<Metafile[]> {
  const within = { ...OPTIONS, absWorkingDir: root };
  const first = { app: `${PAGE}/app.ts`, style: `${PAGE}/app.css` };
  const alone = await Promise.all(
    [first.app, ...Object.values(PARTS).map((path) => `${PAGE}/${path}`)].map((path) =>
      build({ ...within, entryPoints: [path] }),
    ),
  );
  const inFirst = modulesOfFirst(alone.map(({ metafile }) => Object.keys(metafile.inputs)));
  const shared: string[] = [];
  const indexOf = (name: string) => (shared.includes(name) ? shared.indexOf(name) : shared.push(name) - 1);
  const metafiles: Metafile[] = [];
  const files = new Map<string, string>();
  for (const [name, path] of Object.entries(PARTS)) {
    const part = await build({
      ...within,
      entryPoints: { [name]: `${PAGE}/${path}` },
      format: "esm",
      plugins: [sharing(root, inFirst)],
    });
    metafiles.push(part.metafile);
    files.set(`${name}.js`, toScript(name, part.outputFiles[0]?.text ?? "", indexOf));
  }
  const handed = shared.map((one, at) => {
    const [path, name] = one.split("#");
    return `import { ${name} as s${at} } from "./${path}";`;
  });
  const names = shared.map((_, at) => `s${at}`).join(", ");
  const { outputFiles, metafile } = await build({
    ...within,
    entryPoints: { style: first.style },
    outdir: "dist/dashboard",
  });
  for (const { path, text } of outputFiles) files.set(relative(join(root, "dist/dashboard"), path), text);
  const app = await build({
    ...within,
    stdin: {
      contents: `${handed.join("\n")}\nimport "./${first.app}";\nglobalThis.${PARTS_OBJECT} = { shared: [${names}] };`,
      resolveDir: root,
    },
    format: "iife",
  });
  files.set("app.js", app.outputFiles[0]?.text ?? "");
  mkdirSync(join(root, "dist/dashboard"), { recursive: true });
  for (const [name, text] of files) writeFileSync(join(root, "dist/dashboard", name), text);
  return [...metafiles, metafile, app.metafile];
}

/** Leaves out of a part what the first script has. */
function sharing(root: string, inFirst: ReadonlySet<string>): Plugin {
  return {
    name: "shared",
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        const target = relative(root, join(resolveDir, path));
        return inFirst.has(target) ? { path: `shared:${target}`, external: true } : undefined;
      });
    },
  };
}

/** The first script has its own modules and those that two parts have: else these would be there twice, with a state of its own each. */
function modulesOfFirst([first = [], ...parts]: readonly string[][]): Set<string> {
  const all = parts.flat();
  return new Set([...first, ...all.filter((path, at) => all.indexOf(path) < at)]);
}

/** Makes a script of a module: it takes what it shares, and says what it exports. */
function toScript(name: string, text: string, indexOf: (name: string) => number): string {
  const taken: string[] = [];
  const body = text
    .replaceAll(SHARED, (_, names: string, path: string) => {
      for (const [theirs, own] of pairsOf(names)) taken.push(`${indexOf(`${path}#${theirs}`)}:${own}`);
      return "";
    })
    .replace(EXPORTS, (_, names: string) => {
      const given = pairsOf(names).map(([own, theirs]) => `${theirs}:${own}`);
      return `${PARTS_OBJECT}.${name}={${given.join()}};`;
    });
  if (/\bimport\{|\bexport\{/.test(body))
    throw new Error(`${name}.js has an import or export of another form`);
  return `(()=>{const{${taken.join()}}=${PARTS_OBJECT}.shared;${body}})();\n`;
}

/** `a as b,c` as `[a, b]` and `[c, c]`. */
function pairsOf(names: string): [string, string][] {
  return names.split(",").map((one) => {
    const [first = "", second = first] = one.trim().split(" as ");
    return [first, second];
  });
}
