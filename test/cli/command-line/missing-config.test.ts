import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openCommandLine } from "../../helpers/daemon/run-program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

/** Every command that does something; `config edit`, `config set` and `setup` create the file. */
const LINES = [
  "serve",
  "serve --debug",
  "key set",
  "key list",
  "key list --json",
  "key test",
  "key remove",
  "token add x",
  "token list",
  "token revoke x",
  "usage",
  "status",
  "status --json",
  "tail",
  "check",
  "doctor",
  "doctor --json",
  "connect --list",
  "connect codex --print",
  "disconnect codex",
  "run true",
  "env x",
  "config path",
  "config check",
  "config get listen.port",
  "config schema",
  "service install",
  "service install --dry-run",
  "service uninstall",
  "service start",
  "service stop",
  "service restart",
  "service status",
  "service logs",
  "uninstall --yes",
  "sandbox",
];

function prepare(t: TestContext) {
  const home = scratchDirectory(t);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_RUNTIME_DIR: join(home, "run") };
  const missing = join(home, "mistyped.jsonc");
  return { home, env, missing, run: (words: string[]) => runProgram(words, { env, cwd: home }) };
}

test("no command takes a --config that is not there for the defaults, and each says how to create it", async (t) => {
  const { home, env, missing } = prepare(t);
  const run = openCommandLine(env, home);
  for (const line of LINES) {
    assert.deepEqual(
      await run(...line.split(" "), "--config", "mistyped.jsonc"),
      {
        code: 1,
        stdout: "",
        stderr: `error: there is no configuration file ${missing}\nhint: check the name, or create the file with: tollkeeper config edit --config ${missing}\n`,
      },
      line,
    );
  }
  assert.ok(!existsSync(join(home, ".config")) && !existsSync(join(home, ".local")));
});

test("serve does not start with one, however the option is written", async (t) => {
  const { missing, run } = prepare(t);
  for (const words of [[`--config=${missing}`], ["--config", missing, "--log-file", "x.log"]]) {
    const { code, stdout, stderr } = await run(["serve", ...words]);
    assert.deepEqual([code, stdout], [1, ""]);
    if (!words.includes("x.log")) assert.match(stderr, /^error: there is no configuration file /);
  }
  assert.match(
    readFileSync(join(missing, "..", "x.log"), "utf8"),
    /cannot start: there is no configuration file /,
  );
});

test("config set creates the file that --config names", async (t) => {
  const { missing, run } = prepare(t);
  const { code } = await run(["config", "set", "listen.port", "8700", "--config", missing]);
  assert.equal(code, 0);
  assert.match(readFileSync(missing, "utf8"), /"port": 8700/);
});

test("the default file may be missing, also when --config names it", async (t) => {
  const { home, run } = prepare(t);
  mkdirSync(join(home, "run"), { mode: 0o700 });
  const usual = join(home, ".config", "tollkeeper", "config.jsonc");
  for (const words of [[], ["--config", usual]]) {
    const { code, stdout } = await run(["config", "check", ...words]);
    assert.equal(code, 0);
    assert.match(stdout, /the defaults apply/);
  }
});
