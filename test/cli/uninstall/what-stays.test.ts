import assert from "node:assert/strict";
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const STATE = ".local/state/tollkeeper";

/** What the daemon keeps beside the ledger. A crash may leave a file that was being written. */
const BESIDE = [
  "budgets.json",
  "budgets.json.new",
  "pauses.json",
  "limits.json",
  "account-salt",
  "metrics.json",
  "export/otlp.json",
];

function prepare(t: TestContext) {
  const home = scratchDirectory(t);
  const config = join(home, ".config/tollkeeper");
  mkdirSync(config, { recursive: true, mode: 0o700 });
  writeFileSync(join(config, "config.jsonc"), "{}\n", { mode: 0o600 });
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  return { home, config, run: (...words: string[]) => runProgram(words, { env }) };
}

function writeState(home: string, names: readonly string[]): string[] {
  const paths = names.map((name) => join(home, STATE, name));
  for (const path of paths) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, "{}\n", { mode: 0o600 });
  }
  return paths;
}

test("uninstall names every file of the daemon that it keeps, and --ledger removes them", async (t) => {
  const { home, run } = prepare(t);
  const paths = writeState(home, [...BESIDE, "ledger/2026-11-20.ndjson"]);
  const kept = await run("uninstall", "--yes");
  assert.equal(kept.code, 0);
  const told = /^The usage records are kept: (.*)\. To remove them, type: (.*)$/m.exec(kept.stdout);
  for (const name of BESIDE) {
    assert.match(told?.[1] ?? "", new RegExp(`~/${STATE}/${name}(?:;|$)`));
    assert.match(told?.[2] ?? "", new RegExp(`/${name}(?: |$)`));
  }
  assert.ok(paths.every((path) => existsSync(path)));
  assert.equal((await run("uninstall", "--ledger", "--yes")).code, 0);
  assert.ok(!existsSync(join(home, STATE)));
});

test("uninstall --ledger removes lifts and pauses without any usage records, too", async (t) => {
  const { home, run } = prepare(t);
  writeState(home, ["budgets.json"]);
  assert.match((await run("uninstall", "--ledger", "--yes")).stdout, /^removed: ledger .*budgets\.json$/m);
  assert.ok(!existsSync(join(home, STATE)));
});

test("uninstall says where it removes a configuration whose directory is a link into dotfiles", async (t) => {
  const { home, config, run } = prepare(t);
  const dotfiles = join(home, "dotfiles");
  mkdirSync(dotfiles);
  renameSync(config, join(dotfiles, "tollkeeper"));
  symlinkSync("../dotfiles/tollkeeper", config);
  const { stdout } = await run("uninstall", "--yes");
  assert.match(
    stdout,
    /^ {2}config +~\/\.config\/tollkeeper\/config\.jsonc, which is ~\/dotfiles\/tollkeeper\/config\.jsonc$/m,
  );
  assert.ok(!existsSync(join(dotfiles, "tollkeeper/config.jsonc")));
});

test("uninstall says that it removes only the link to a configuration in dotfiles", async (t) => {
  const { home, config, run } = prepare(t);
  const real = join(home, "tollkeeper.jsonc");
  renameSync(join(config, "config.jsonc"), real);
  symlinkSync(real, join(config, "config.jsonc"));
  const { stdout } = await run("uninstall", "--yes");
  assert.match(
    stdout,
    /^ {2}config +~\/\.config\/tollkeeper\/config\.jsonc, a link to ~\/tollkeeper\.jsonc, which stays$/m,
  );
  assert.ok(existsSync(real) && !existsSync(config));
});

test("uninstall says where it changes the settings of a tool whose directory is a link into dotfiles", async (t) => {
  const { home, run } = prepare(t);
  mkdirSync(join(home, "dotfiles/claude"), { recursive: true });
  symlinkSync("dotfiles/claude", join(home, ".claude"));
  assert.equal((await run("connect", "claude-code", "--yes")).code, 0);
  const { stdout } = await run("uninstall", "--yes");
  assert.match(
    stdout,
    /^ {2}tool +claude-code; its settings will be restored; ~\/\.claude\/settings\.json is ~\/dotfiles\/claude\/settings\.json$/m,
  );
  assert.ok(!existsSync(join(home, "dotfiles/claude/settings.json")));
});
