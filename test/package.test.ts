// The build, and the package that npm would publish, in a copy of the project.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { copyProject, packProject } from "./helpers/package/project-copy.ts";
import { scratchDirectory } from "./helpers/process/scratch-directory.ts";

/** The programs that Node starts: the commands, four that run as children or threads, and one for a status line. */
const PROGRAMS = [
  "dist/main.js",
  "dist/adapters/keychain/keytar-child.js",
  "dist/adapters/price-table/imported-table.js",
  "dist/cli/sums/worker.js",
  "dist/daemon/ledger-reader/program.js",
  "dist/service/systemd/trial-run-program.js",
  "dist/tollkeeper-statusline.js",
];

/** What the package holds besides the programs. */
const OTHERS = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "dist/bundled-licences.txt",
  "dist/dashboard/app.js",
  "dist/dashboard/health.js",
  "dist/dashboard/record.js",
  "dist/dashboard/sessions.js",
  "dist/dashboard/style.css",
  "dist/prices.json",
  "launchd/tollkeeper.plist",
  "launchd/tollkeeper.sh",
  "package.json",
  "systemd/sandbox.conf",
  "systemd/tollkeeper.service",
  "systemd/tollkeeper.socket",
];

function createCopy(t: TestContext): { project: string; scratch: string } {
  const scratch = scratchDirectory(t);
  const project = join(scratch, "project");
  copyProject(project);
  return { project, scratch };
}

/** Adds the modules that a module of the package imports, and those that they import. */
function addImports(project: string, path: string, found: Set<string>): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  const text = readFileSync(join(project, path), "utf8");
  for (const [, specifier = ""] of text.matchAll(/(?:\bfrom |\bimport |\bimport\()"(\.[^"]+)"/g))
    addImports(project, join(dirname(path), specifier), found);
  return found;
}

/** Runs `npm start` in a home of its own until the daemon listens, and ends it. Rejects when it ends before that. */
function startUntilListening(project: string, home: string): Promise<void> {
  const config = join(home, "config", "tollkeeper", "config.jsonc");
  mkdirSync(dirname(config), { recursive: true });
  mkdirSync(join(home, "run"), { recursive: true, mode: 0o700 });
  writeFileSync(config, JSON.stringify({ listen: { port: 0 } }));
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_RUNTIME_DIR: join(home, "run"),
  };
  const child = spawn("npm", ["start"], { cwd: project, env, detached: true });
  let output = "";
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
        // npm's children are in its process group.
        if (/listens on/.test(output)) process.kill(-Number(child.pid), "SIGKILL");
      });
    }
    child.once("close", () => (/listens on/.test(output) ? resolve() : reject(new Error(output))));
  });
}

test("the package holds what its programs import and their templates, and nothing of an earlier build", (t) => {
  const { project, scratch } = createCopy(t);
  mkdirSync(join(project, "dist", "chunks"), { recursive: true });
  for (const stale of ["dist/chunks/serve-OLD.js", "dist/renamed.js"])
    writeFileSync(join(project, stale), "");
  const { files } = packProject(project, scratch);
  const needed = new Set(OTHERS);
  for (const program of PROGRAMS) addImports(project, program, needed);
  assert.deepEqual(files.map(({ path }) => path).sort(), [...needed].sort());
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  t.diagnostic(`${files.length} files, ${bytes} bytes`);
});

test("the package installs what its programs import from others, and bundles the rest", (t) => {
  const { project, scratch } = createCopy(t);
  const { files } = packProject(project, scratch);
  const { dependencies } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const programs = files.filter(({ path }) => path.endsWith(".js"));
  const imported = programs.flatMap(({ path }) => {
    const text = readFileSync(join(project, path), "utf8");
    return [
      ...text.matchAll(
        /^(?:import|export|\} from) ?[^"\n]*"((?:@[^/"]+\/)?[a-z][^/":]*)"|\bimport\("([a-z][^/":]*)(?:\/[^"]*)?"\)/gm,
      ),
    ].map(([, loaded, loadedLater]) => loaded ?? loadedLater ?? "");
  });
  const libraries = new Set(imported.filter((name) => !isBuiltin(name)));
  // Imported only where there is no price table, and the package has one.
  libraries.delete("@pydantic/genai-prices");
  const bundled = ["fast-string-truncated-width", "jsonc-parser", "yaml", "yargs"];
  assert.deepEqual([...libraries, ...bundled].sort(), Object.keys(dependencies).sort());
  const licences = readFileSync(join(project, "dist", "bundled-licences.txt"), "utf8");
  for (const library of ["yargs", "cliui", "jsonc-parser", "yaml", "@modelcontextprotocol/server", "zod"])
    assert.match(licences, new RegExp(`^${library} \\d[^]*?(?:MIT|ISC|Permission)`, "m"));
});

test("`npm start` builds a clone that has not been built, and leaves a built one as it is", async (t) => {
  const { project, scratch } = createCopy(t);
  const main = join(project, "dist", "main.js");
  await startUntilListening(project, join(scratch, "home"));
  const built = statSync(main, { bigint: true }).mtimeNs;
  await startUntilListening(project, join(scratch, "home"));
  assert.equal(statSync(main, { bigint: true }).mtimeNs, built);
});

test("without the build's tools, as when a fresh clone is installed, it says what to type first", (t) => {
  const { project } = createCopy(t);
  rmSync(join(project, "node_modules"));
  const { status, stderr } = spawnSync("npm", ["run", "prepare"], { cwd: project, encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /^this clone has no build tools yet; type: npm ci; then try again$/m);
  assert.equal(existsSync(join(project, "dist")), false);
});
