import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { letRead, letWrite } from "../../src/adapters/open-up.ts";
import { compileModule } from "../helpers/process/compile-module.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

const UID = 12_345;

const skip =
  process.platform !== "linux" || process.getuid?.() !== 0
    ? "needs Linux and root: no permission stops root, so the check runs as another user"
    : false;

/** Creates `own/inner/file`, which belong to another user, with these modes; the directory of the test is root's. */
function prepare(t: TestContext, { own = 0o700, inner = 0o700, file = 0o600 }) {
  const root = scratchDirectory(t);
  chmodSync(root, 0o755);
  const paths = {
    own: join(root, "own"),
    inner: join(root, "own/inner"),
    file: join(root, "own/inner/file"),
  };
  mkdirSync(paths.inner, { recursive: true });
  writeFileSync(paths.file, "");
  for (const path of Object.values(paths)) chownSync(path, UID, UID);
  chmodSync(paths.file, file);
  chmodSync(paths.inner, inner);
  chmodSync(paths.own, own);
  return { root, ...paths };
}

const module = JSON.stringify(await compileModule("src/adapters/open-up.ts"));

/** Returns what the function says to that user. */
function ask(name: "letRead" | "letWrite", path: string, home = "/nonexistent"): string | null {
  const code = `import(${module}).then((all) => console.log(JSON.stringify(all.${name}(${JSON.stringify(path)}))))`;
  const identity = [`--reuid=${UID}`, `--regid=${UID}`, "--clear-groups"];
  const argv = [...identity, process.execPath, "-e", code];
  const { stdout, stderr, status } = spawnSync("setpriv", argv, {
    encoding: "utf8",
    env: { ...process.env, HOME: home },
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as string | null;
}

test("the outermost directory, or the file, whose mode keeps its owner out is opened", { skip }, (t) => {
  assert.equal(ask("letRead", prepare(t, {}).file), null);
  const closedFile = prepare(t, { file: 0o200 });
  assert.equal(ask("letRead", closedFile.file), `chmod u+r ${closedFile.file}`);
  const closed = prepare(t, { inner: 0o600, own: 0o600 });
  assert.equal(ask("letRead", closed.file), `chmod u+rwx ${closed.own}`);
  assert.equal(ask("letWrite", closed.inner), `chmod u+rwx ${closed.own}`);
  const unwritable = prepare(t, { inner: 0o500 });
  assert.equal(ask("letWrite", join(unwritable.inner, "new", "newer")), `chmod u+rwx ${unwritable.inner}`);
  assert.equal(ask("letWrite", unwritable.own), null);
});

test("no mode lets anyone into a file in the place of a directory", (t) => {
  const file = join(scratchDirectory(t), "file");
  writeFileSync(file, "", { mode: 0o600 });
  for (const path of [file, join(file, "ledger"), join(file, "below", "ledger")])
    assert.equal(letWrite(path), null);
  assert.equal(letRead(join(file, "key")), null);
});

test(
  "what belongs to root is taken over, but never a directory above it or outside of one's home, or what belongs to somebody else",
  { skip },
  (t) => {
    const { root, file, own } = prepare(t, {});
    chownSync(file, 0, 0);
    assert.equal(ask("letRead", file), `sudo chown ${UID} ${file}`);
    chownSync(file, UID + 1, UID + 1);
    assert.equal(ask("letRead", file), null);
    assert.equal(ask("letWrite", root), null);
    const home = prepare(t, {});
    chownSync(home.inner, 0, 0);
    assert.equal(ask("letWrite", home.inner, home.own), `sudo chown ${UID} ${home.inner}`);
    assert.equal(ask("letWrite", home.inner, home.root), null);
    chownSync(home.inner, UID + 1, UID + 1);
    assert.equal(ask("letWrite", home.inner, home.own), null);
    chownSync(own, 0, 0);
    assert.equal(ask("letRead", file), null);
  },
);
