import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { explainOldNode } from "../src/required-node.ts";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));

test("a Node that is too old is told the version that it takes", () => {
  assert.equal(explainOldNode("18.20.8"), "tollkeeper needs Node 20.19 or newer; this is 18.20.8");
  for (const version of ["20.18.3", "16.20.2", "9.11.2"])
    assert.match(explainOldNode(version) ?? "", /20\.19 or/);
  for (const version of ["21.7.3", "22.1.0"]) assert.match(explainOldNode(version) ?? "", /22\.2 or newer/);
  for (const version of ["20.19.0", "20.20.2", "22.2.0", "24.1.0", "100.0.0"])
    assert.equal(explainOldNode(version), null, version);
});

test("it is the version that package.json asks for", () => {
  const { engines } = JSON.parse(readFileSync(join(DIST, "../package.json"), "utf8")) as {
    engines: { node: string };
  };
  assert.equal(engines.node, ">=20.19");
});

/** Returns what a compiled file imports before it runs, and what the files that it imports do. */
function importsOf(path: string): string[] {
  const text = readFileSync(path, "utf8");
  const statements = [...text.matchAll(/(?:^|;)import\s*(?:[^"'()]*?\bfrom\s*)?"([^"]+)"/gm)];
  return statements.flatMap(([statement, target = ""]) =>
    target.startsWith(".") ? importsOf(join(dirname(path), target)) : [statement.replace(/^;/, "")],
  );
}

test("the program is loaded by any Node up to the check of its version", () => {
  const path = join(DIST, "main.js");
  assert.match(readFileSync(path, "utf8"), /await import\("\.\/chunks\/main-\w+\.js"\)/);
  assert.deepEqual(importsOf(path), []);
});

test("the program of the status line imports only what Node 18 has", () => {
  const imports = importsOf(join(DIST, "tollkeeper-statusline.js"));
  assert.ok(imports.length > 0);
  // https://nodejs.org/docs/latest-v18.x/api/: the names that it may use.
  const known =
    /^import\s*\*\s*as fs from\s*"node:fs"$|^import\s*\{\s*(?:(?:lstatSync|readFileSync|statSync|existsSync|connect|fileURLToPath|homedir|userInfo|isAbsolute|posix|win32|resolve|join|dirname)(?: as \w+)?,?\s*)+\}\s*from\s*"node:(?:fs|net|os|path|url)"$/;
  for (const statement of imports) assert.match(statement, known);
});
