import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { drawRequestPath } from "./architecture/request-path.ts";
import { LIMIT_MS } from "./helpers/async/limit.ts";

// Holds the rules of docs/architecture.md by reading the import statements of src.

const project = fileURLToPath(new URL("../", import.meta.url));
const root = join(project, "src/");

interface SourceFile {
  /** Below `src`, e.g. `core/http/routes.ts`. */
  path: string;
  text: string;
  imports: Import[];
}

interface Import {
  /** A file below `src`, or a package by its name. */
  target: string;
  /** False for `import type` and for `import()`, which load nothing when the importing module is loaded. */
  isLoaded: boolean;
}

const IMPORT = /(?:^|\n)(?:import|export)\s+(type\s)?(?:[^;"]*?\bfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"\)/g;

const files: SourceFile[] = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, imports: readImports(path, text) };
  });

function readImports(path: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([, type, fixed, dynamic]) => {
    const specifier = fixed ?? dynamic ?? "";
    const target = specifier.startsWith(".")
      ? relative(root, join(root, dirname(path), specifier))
      : specifier;
    return { target, isLoaded: type === undefined && dynamic === undefined };
  });
}

const isOwn = (target: string) => target.endsWith(".ts");
const layerOf = (path: string) => path.split("/")[0] ?? path;

/** The layers that the files of each layer may import besides their own. */
const ALLOWED: Record<string, string[]> = {
  core: [],
  "ports.ts": ["core"],
  "replace-file.ts": ["core"],
  tools: ["core"],
  adapters: ["core", "ports.ts", "replace-file.ts"],
  proxy: ["core", "ports.ts"],
  local: ["core", "ports.ts"],
  sandbox: ["core"],
  connect: ["core", "ports.ts", "replace-file.ts", "tools"],
  service: ["core", "ports.ts", "replace-file.ts"],
  // Sees tollkeeper from outside, as its clients and upstreams do.
  check: ["core"],
  daemon: ["adapters", "core", "local", "ports.ts", "proxy", "sandbox", "tools"],
  cli: [
    "adapters",
    "check",
    "connect",
    "core",
    "daemon",
    "ports.ts",
    "proxy",
    "replace-file.ts",
    "sandbox",
    "service",
    "tools",
  ],
  "main.ts": ["cli", "daemon"],
  "required-node.ts": [],
  "start.ts": ["daemon", "main.ts", "required-node.ts"],
  "tollkeeper-statusline.ts": ["cli", "required-node.ts"],
};

/** An adapter is a file, or a folder with the file of the same name in front of it. They do not import each other. */
const adapterOf = (path: string) => /^adapters\/([^/.]+)/.exec(path)?.[1];

/** Parts that several adapters are built on. */
const SHARED_ADAPTERS = [
  "open-up",
  "paths",
  "programs",
  "socket-table",
  "state-file",
  "system-fix",
  "trust",
  "unix-socket",
  "user-namespace",
];

test("every import follows the arrows between the layers", () => {
  for (const { path, imports } of files) {
    const allowed = ALLOWED[layerOf(path)];
    assert.ok(allowed, `${path}: a layer that this test does not know`);
    for (const { target } of imports) {
      if (!isOwn(target)) continue;
      const isSameLayer = layerOf(target) === layerOf(path);
      const isOtherAdapter = layerOf(path) === "adapters" && adapterOf(target) !== adapterOf(path);
      const isShared = SHARED_ADAPTERS.includes(adapterOf(target) ?? "");
      assert.ok(
        (isSameLayer && (!isOtherAdapter || isShared)) || allowed.includes(layerOf(target)),
        `${path} imports ${target}`,
      );
    }
  }
});

/** Files that rename others, and so do not replace their contents: what is taken over, or need not outlive a power cut. */
const RENAMING = [
  "adapters/ledger-file/claim-notes.ts",
  "adapters/ledger-file/notes.ts",
  "adapters/log/log-file.ts",
];

test("a file is replaced in one way, which outlives a power cut", () => {
  const renaming = files.filter(({ text }) => /\brename(?:Sync)?\(/.test(text)).map(({ path }) => path);
  assert.deepEqual(renaming.sort(), [...RENAMING, "replace-file.ts"]);
});

/** Arrows inside a layer that must not be. */
const FORBIDDEN: [from: RegExp, to: RegExp][] = [
  [/^cli\/connect\//, /^cli\/doctor\//],
  [/^cli\/(?!commands\/)/, /^cli\/commands\//],
  [/^proxy\/upstream\//, /^proxy\/(?!upstream\/|signing[./])/],
  [/^proxy\/signing[./]/, /^proxy\/(?!signing\/)/],
  [/^proxy\/client\//, /^proxy\/(?!client\/)/],
  [/^proxy\/refusals\//, /^proxy\/(?!refusals\/)/],
  [/^proxy\/exchange\//, /^proxy\/[^/]+$/],
];

test("no import inside a layer goes the wrong way", () => {
  for (const { path, imports } of files) {
    for (const { target } of imports) {
      for (const [from, to] of FORBIDDEN) {
        assert.ok(!(from.test(path) && to.test(target)), `${path} imports ${target}`);
      }
    }
  }
});

test("no imports form a circle, those of types included", () => {
  const state = new Map<string, "open" | "done">();
  const byPath = new Map(files.map((file) => [file.path, file]));
  const visit = (path: string, trail: string[]): void => {
    if (state.get(path) === "done") return;
    assert.notEqual(state.get(path), "open", `a circle: ${[...trail, path].join(" → ")}`);
    state.set(path, "open");
    for (const { target } of byPath.get(path)?.imports ?? [])
      if (isOwn(target)) visit(target, [...trail, path]);
    state.set(path, "done");
  };
  for (const { path } of files) visit(path, []);
});

/** The one file that imports each vendor's library. */
const IMPORTERS: Record<string, string[]> = {
  keytar: ["adapters/keychain/keytar-child.ts"],
  "http-proxy-3": ["proxy/exchange/forward.ts"],
  "zstddec/stream": ["proxy/exchange/zstd-decoder.ts"],
  chokidar: ["adapters/config-file.ts"],
  pino: ["adapters/log.ts"],
  // Two rooms read JSONC: the configuration, with the lines of its problems, and the settings of tools, to edit them.
  "jsonc-parser": ["adapters/config-file/jsonc.ts", "connect/formats/jsonc-library.ts"],
  "toml-eslint-parser": ["connect/formats/toml-library.ts"],
  yaml: ["connect/formats/yaml-library.ts"],
  diff: ["connect/edit/diff.ts"],
  yargs: ["cli/command-line.ts"],
  esbuild: ["adapters/bundle/build-page.ts", "adapters/bundle/join-chunks.ts", "adapters/bundle/write.ts"],
  // Bundled into the commands that export, so that no other loads it.
  "@opentelemetry/otlp-transformer": ["adapters/otlp/encode.ts"],
  // Bundled into what signs, so that only a daemon that needs it loads it.
  "@smithy/signature-v4": ["proxy/signing/aws-signer.ts"],
  // Bundled into `mcp`, so that no other command loads it.
  "@modelcontextprotocol/server": ["adapters/mcp/server.ts"],
  "@modelcontextprotocol/server/stdio": ["adapters/mcp/server.ts"],
  "fast-string-truncated-width": ["cli/terminal/width.ts"],
  plist: ["service/launchd/agent.ts"],
  // Only the build, and a clone that has not been built, load it.
  "@pydantic/genai-prices": ["adapters/price-table/extract.ts"],
};

test("each vendor's library is imported by one file", () => {
  const found: Record<string, string[]> = {};
  for (const { path, imports } of files) {
    const packages = new Set(imports.map(({ target }) => target).filter((target) => !isOwn(target)));
    for (const name of packages) if (!/^(?:node:|#package\/)/.test(name)) (found[name] ??= []).push(path);
  }
  for (const paths of Object.values(found)) paths.sort();
  assert.deepEqual(found, IMPORTERS);
});

test("core uses no Node module, no clock and no environment", () => {
  for (const { path, text, imports } of files.filter((file) => layerOf(file.path) === "core")) {
    assert.ok(!imports.some(({ target }) => target.startsWith("node:")), path);
    assert.doesNotMatch(
      text,
      /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\b|\bprocess\.\w|\bset(?:Timeout|Interval)\(/,
      path,
    );
  }
});

test("what is known of a tool is data and pure functions", () => {
  for (const { path, imports } of files.filter((file) => layerOf(file.path) === "tools")) {
    const modules = imports.map(({ target }) => target).filter((target) => target.startsWith("node:"));
    assert.ok(
      modules.every((name) => name === "node:path"),
      path,
    );
  }
});

/** Everything that is loaded with a module, before it runs. */
function loadedWith(path: string, found = new Set<string>()): Set<string> {
  const file = files.find((candidate) => candidate.path === path);
  for (const { target, isLoaded } of file?.imports ?? []) {
    if (!isLoaded || found.has(target)) continue;
    found.add(target);
    loadedWith(target, found);
  }
  return found;
}

test("a daemon starts without what only other commands and the sandbox need, which would double the time", () => {
  const loaded = [
    ...loadedWith("start.ts"),
    ...loadedWith("main.ts"),
    ...loadedWith("cli/commands/serve.ts"),
  ];
  assert.ok(loaded.includes("proxy/exchange/forward.ts") && loaded.includes("http-proxy-3"));
  const needless =
    /^(?:yargs|plist|connect\/|adapters\/(?:token-file\.ts|price-table\b|otlp\b|mcp\b)|core\/price\/(?!(?:money|modifier-kinds)\.ts)|@smithy|service\/|check\/|sandbox\/|cli\/(?:connect|doctor|export|keys|service|tokens)\/|cli\/commands\/(?!serve|(?:bridge|statusline)\/arguments))/;
  assert.deepEqual(
    loaded.filter((path) => needless.test(path)),
    [],
  );
});

test("a secret's value is taken out where keys are stored, headers are composed and requests are signed, and nowhere else", () => {
  const callers = files.filter(({ text }) => /\.reveal\(\)/.test(text)).map(({ path }) => path);
  assert.deepEqual(callers.sort(), [
    "adapters/keychain.ts",
    "core/http/credential-headers.ts",
    "proxy/signing/aws-signer.ts",
  ]);
});

test("the inspector, insecure parsing and unverified TLS are never switched on", () => {
  for (const { path, text } of files) {
    // Asking whether the inspector is open is allowed.
    const rest = text.replace('import { url as inspectorUrl } from "node:inspector";', "");
    assert.doesNotMatch(rest, /insecureHTTPParser: true|rejectUnauthorized: false|node:inspector/, path);
  }
});

test("no file is called utils or helpers, and no folder holds more than 25 files", () => {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    assert.doesNotMatch(path, /util|helper|common|misc/);
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  }
  for (const [folder, count] of counts) assert.ok(count <= 25, `${folder} holds ${count} files`);
});

/** The names that a file exports by a declaration. */
function exportsOf(text: string): string[] {
  const declared = text.matchAll(
    /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
  );
  return [...declared].map(([, name = ""]) => name);
}

/** The names that a text takes from other modules by an import, a re-export or an `import()`. */
function importedNames(text: string): string[] {
  const lists = text.matchAll(/\{([^{}]*)\}(?:\s+from\s+(?:"\.|\$\{)|\s*=\s*\(?\s*await import\()/g);
  const members = [...text.matchAll(/\(await import\("[^"]+"\)\)\.(\w+)/g)].map(([, name = ""]) => name);
  const listed = [...lists].flatMap(([, list = ""]) =>
    list.split(",").map((item) => /^(?:type )?(\w+)/.exec(item.trim())?.[1] ?? ""),
  );
  return [...members, ...listed];
}

test("no test takes what is slow on a busy machine for what hangs", () => {
  const tests = readdirSync(join(project, "test"), { recursive: true, encoding: "utf8" });
  for (const path of tests.filter((name) => name.endsWith(".ts"))) {
    const text = readFileSync(join(project, "test", path), "utf8");
    for (const [what, ms = ""] of text.matchAll(/\btimeout: ([\d_]+)/g))
      assert.ok(Number(ms.replaceAll("_", "")) >= LIMIT_MS, `${path}: ${what}`);
  }
});

test("every export is imported by another file of src or test, and every file is", () => {
  const tests = readdirSync(join(project, "test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(project, "test", path), "utf8"));
  const imported = new Set([...files.map(({ text }) => text), ...tests].flatMap(importedNames));
  // Loaded by main.ts through `load().command`.
  imported.add("command");
  const unused = files.flatMap(({ path, text }) =>
    exportsOf(text).flatMap((name) => (imported.has(name) ? [] : [`${path}: ${name}`])),
  );
  assert.deepEqual(unused, []);
  const targets = new Set(files.flatMap(({ imports }) => imports.map(({ target }) => target)));
  // The bundle has them in place of libraries.
  for (const name of ["ascii-width", "no-form-validator"]) targets.add(`adapters/bundle/${name}.ts`);
  // Started by node, as programs of their own.
  for (const program of [
    "start.ts",
    "adapters/keychain/keytar-child.ts",
    "adapters/bundle/write.ts",
    "local/dashboard/page/app.ts",
    "adapters/price-table/write.ts",
    "adapters/price-table/pick-pi-ai.ts",
    "cli/sums/worker.ts",
    "daemon/ledger-reader/program.ts",
    "service/systemd/trial-run-program.ts",
    "tollkeeper-statusline.ts",
  ])
    targets.add(program);
  assert.deepEqual(
    files.map(({ path }) => path).filter((path) => !targets.has(path)),
    [],
  );
});

test("source and documents cite nothing that a clone does not have", () => {
  const documents = ["README.md", "CHANGELOG.md", ".github/SECURITY.md"].map((path) => ({
    path,
    text: readFileSync(join(project, path), "utf8"),
  }));
  const pages = readdirSync(join(project, "docs"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({ path: `docs/${path}`, text: readFileSync(join(project, "docs", path), "utf8") }));
  const outside = /\bfacts\/|\bDESIGN\b|\bSTYLE(?:\.md| section)|\bshared facts\b|\.\.\/shared/;
  for (const { path, text } of [...files, ...documents, ...pages]) {
    const line = text.split("\n").find((candidate) => outside.test(candidate));
    assert.equal(line, undefined, `${path}: ${line?.trim()}`);
  }
});

test("every file, page and section that source and documents cite exists", () => {
  const sectionsOf = (page: string) =>
    [...readFileSync(join(project, page), "utf8").matchAll(/^## (\d+)\b/gm)].map(([, number]) => number);
  const sections = new Map<string, (string | undefined)[]>();
  for (const { path, text } of files) {
    for (const [, page = "", section] of text.matchAll(
      /(?<![\w./])(docs\/[\w-]+\.md)(?:,? section (\d+))?/g,
    )) {
      if (!sections.has(page)) sections.set(page, sectionsOf(page));
      if (section !== undefined)
        assert.ok(sections.get(page)?.includes(section), `${path}: ${page} section ${section}`);
    }
  }
  const rows = readFileSync(join(project, ".github/SECURITY.md"), "utf8");
  for (const { path, text } of files) {
    for (const [cited, row] of text.matchAll(/SECURITY\.md,? ([A-G]\d+)/g)) {
      assert.ok(rows.includes(`[${row}](`), `${path}: ${cited}`);
    }
  }
});

test("each step of the walk in docs/architecture.md links to the line that it quotes", () => {
  const page = readFileSync(join(project, "docs/architecture.md"), "utf8");
  const links = [...page.matchAll(/\[`([^`]+)`\]\(\.\.\/(src\/[^)#]+)#L(\d+)\)/g)];
  assert.ok(links.length >= 20);
  for (const [, quoted = "", path = "", number] of links) {
    const lines = readFileSync(join(project, path), "utf8").split("\n");
    const found = lines.findIndex((line) => line.includes(quoted)) + 1;
    assert.notEqual(found, 0, `${quoted} is not in ${path}`);
    assert.equal(Number(number), found, `${quoted} is in line ${found} of ${path}`);
  }
});

test("the picture in docs/architecture.md shows the imports as they are", () => {
  const drawn = readFileSync(join(project, "docs/request-path.svg"), "utf8");
  assert.ok(drawn === drawRequestPath(), "it is out of date; type: npm run picture");
});
