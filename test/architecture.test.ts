import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const root = fileURLToPath(new URL("../src/", import.meta.url));

interface SourceFile {
  /** Below `src`, e.g. `core/tool.ts`. */
  path: string;
  text: string;
  /** Imported files below `src`, and packages by name. */
  imports: string[];
}

const files: SourceFile[] = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, imports: importsOf(path, text) };
  });

function importsOf(path: string, text: string): string[] {
  const specifiers = [
    ...text.matchAll(/(?:^|\n)(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"|\bimport\("([^"]+)"\)/g),
  ];
  return specifiers
    .map((match) => match[1] ?? match[2] ?? "")
    .map((specifier) =>
      specifier.startsWith(".") ? relative(root, join(root, dirname(path), specifier)) : specifier,
    );
}

const isOwn = (imported: string) => imported.endsWith(".ts");
const layerOf = (path: string) => (path.includes("/") ? (path.split("/")[0] ?? "") : path);

/** What each layer may import of our own (DESIGN section 10). */
const ALLOWED: Record<string, string[]> = {
  core: ["core"],
  "ports.ts": ["core"],
  proxy: ["proxy", "core", "ports.ts"],
  adapters: ["core", "ports.ts"],
  sandbox: ["sandbox", "core"],
  connect: ["connect", "core", "ports.ts"],
  service: ["service", "core", "ports.ts"],
  dashboard: ["dashboard", "core", "ports.ts"],
  // Sees tollkeeper from outside, as its clients and upstreams do.
  check: ["check", "core"],
  cli: [
    "cli",
    "adapters",
    "proxy",
    "core",
    "ports.ts",
    "sandbox",
    "connect",
    "service",
    "dashboard",
    "check",
  ],
  "main.ts": ["cli"],
};

test("no import goes against the arrows", () => {
  for (const { path, imports } of files) {
    const allowed = ALLOWED[layerOf(path)];
    assert.ok(allowed, `${path}: a layer that the test does not know`);
    for (const imported of imports.filter(isOwn)) {
      const isSameAdapter = adapterOf(path) !== null && adapterOf(path) === adapterOf(imported);
      assert.ok(allowed.includes(layerOf(imported)) || isSameAdapter, `${path} imports ${imported}`);
    }
  }
});

/** An adapter is a file, or a folder with the file of the same name in front of it. */
function adapterOf(path: string): string | null {
  return /^adapters\/([^/.]+)/.exec(path)?.[1] ?? null;
}

/** Who may import a vendor's library; everything else may not. */
const IMPORTERS: Record<string, RegExp> = {
  keytar: /^adapters\/keychain\//,
  "http-proxy-3": /^proxy\/forward\.ts$/,
  chokidar: /^adapters\/config-file(?:\.ts|\/)/,
  pino: /^adapters\/log(?:\.ts|\/)/,
  "jsonc-parser": /^(?:adapters\/config-file(?:\.ts|\/)|connect\/formats\/jsonc)/,
  "toml-eslint-parser": /^connect\/formats\/toml/,
  yaml: /^connect\/formats\/yaml/,
  diff: /^connect\/diff\.ts$/,
  yargs: /^(?:main\.ts|cli\/)/,
  "cli-table3": /^cli\/table\.ts$/,
  plist: /^service\/launchd\//,
};

test("each vendor's library has one importer", () => {
  for (const { path, imports } of files) {
    for (const imported of imports.filter((name) => !isOwn(name) && !name.startsWith("node:"))) {
      const importers = IMPORTERS[imported];
      assert.ok(importers, `${path} imports ${imported}, which the test does not know`);
      assert.match(path, importers, `${path} imports ${imported}`);
    }
  }
});

test("every listed importer is really there", () => {
  for (const [library, importers] of Object.entries(IMPORTERS)) {
    const found = files.some(({ path, imports }) => importers.test(path) && imports.includes(library));
    assert.ok(found, `nobody imports ${library}`);
  }
});

test("core knows no Node module, no clock, no environment", () => {
  for (const { path, text, imports } of files.filter((file) => layerOf(file.path) === "core")) {
    assert.deepEqual(
      imports.filter((name) => name.startsWith("node:")),
      [],
      path,
    );
    assert.doesNotMatch(
      text,
      /\bDate\.now\(|\bnew Date\(\)|\bperformance\.|\bprocess\.|\bset(?:Timeout|Interval)\(/,
      path,
    );
  }
});

/** What a module has loaded before it runs: not what is imported later, nor for its types alone. */
function loadedWith(path: string, found = new Set<string>()): Set<string> {
  const file = files.find((candidate) => candidate.path === path);
  const statements =
    file?.text.matchAll(/(?:^|\n)(?:import|export)\s+(?!type\b)(?:[^;]*?\bfrom\s+)?"([^"]+)"/g) ?? [];
  for (const [, specifier = ""] of statements) {
    const imported = specifier.startsWith(".")
      ? relative(root, join(root, dirname(path), specifier))
      : specifier;
    if (found.has(imported)) continue;
    found.add(imported);
    loadedWith(imported, found);
  }
  return found;
}

test("a daemon starts without what only other commands and the sandbox need, which would take twice the time", () => {
  const loaded = [...loadedWith("main.ts"), ...loadedWith("cli/serve.ts")];
  assert.ok(loaded.includes("proxy/forward.ts") && loaded.includes("http-proxy-3"));
  const needless =
    /^(?:yargs|cli-table3|plist|connect\/|adapters\/token-file\.ts|service\/|check\/|sandbox\/|cli\/(?:check|config|connect|disconnect|doctor|env|key|run|sandbox|status|token|usage)\.ts)/;
  assert.deepEqual(
    loaded.filter((path) => needless.test(path)),
    [],
  );
});

test("a secret's value is taken out in two places only: where keys are stored and where headers are composed", () => {
  const callers = files.filter(({ text }) => /\.reveal\(\)/.test(text)).map(({ path }) => path);
  for (const path of callers) {
    assert.ok(path.startsWith("adapters/keychain/") || path === "core/headers.ts", path);
  }
  assert.ok(callers.includes("core/headers.ts"));
});

test("the inspector, insecure parsing and unverified TLS are nowhere switched on", () => {
  for (const { path, text } of files) {
    // Asking where it is open is allowed.
    const rest = text.replace('import { url as inspectorUrl } from "node:inspector";', "");
    assert.doesNotMatch(rest, /insecureHTTPParser: true|rejectUnauthorized: false|node:inspector/, path);
  }
});

test("no file is called utils or helpers", () => {
  assert.deepEqual(
    files.map(({ path }) => path).filter((path) => /util|helper|common|misc/.test(path)),
    [],
  );
});
