import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { LIMIT_MS } from "../../helpers/async/limit.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

/** What makes the calls on files of a command fail. */
const PRELOAD = fileURLToPath(new URL("../../helpers/process/failing-files.mjs", import.meta.url));

const CODES = "EACCES EPERM EROFS EBUSY ENOSPC EDQUOT EMFILE ENFILE EIO ELOOP ENAMETOOLONG".split(" ");

/** Command lines of every command, those that write and those that read. `~` is the home directory. */
const LINES = [
  "setup --yes",
  "serve",
  "bridge --socket ~/.local/state/x.sock",
  "key list",
  "key set",
  "token add x",
  "usage",
  "digest",
  "budget",
  "budget set codex --usd 3 --per day",
  "group set small",
  "brake set codex --requests-per-minute 3",
  "alias set cheap gpt-5",
  "pause all",
  "resume all",
  "ledger verify",
  "ledger prune --before 2026-01-03 --yes",
  "ledger import codex",
  "export --preview",
  "prices gpt-5",
  "models",
  "mcp",
  "status",
  "limits",
  "route gpt-5",
  "statusline",
  "metrics --output ~/.local/state/m.prom",
  "tail --no-follow",
  "explain last",
  "capture codex",
  "capture list",
  "dashboard",
  "top",
  "check",
  "doctor",
  "connect --list",
  "connect codex --yes",
  "connect claude-code --yes --statusline",
  "disconnect opencode --yes",
  "run --tool x -- true",
  "env codex",
  "config set listen.port 4712",
  "config edit",
  "service install",
  "uninstall --yes --ledger",
  "sandbox --port 99999",
  "version",
  "completion bash",
];

/** In a command that can be pasted, this is not as it is here: the quote ends what is quoted. */
const ODD_NAME = "it's $HOME";

function prepare(t: TestContext) {
  const home = join(scratchDirectory(t), ODD_NAME);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, EDITOR: "true", TERM: "dumb" };
  for (const directory of [".codex", ".claude", ".config/opencode", ".config/tollkeeper"])
    mkdirSync(join(home, directory), { recursive: true });
  const config = join(home, ".config/tollkeeper/config.jsonc");
  writeFileSync(config, '{ "listen": { "port": 4711 } }', { mode: 0o600 });
  const day = join(home, ".local/state/tollkeeper/ledger/2026-01-02.jsonl");
  mkdirSync(dirname(day), { recursive: true, mode: 0o700 });
  writeFileSync(day, '{"v":1}\n', { mode: 0o600 });
  return { home, env };
}

/** A command that could run on ends because of the fault. */
function run(options: readonly string[], words: readonly string[], env: NodeJS.ProcessEnv) {
  return new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
    const argv = [...options, PROGRAM, ...words];
    const child = execFile(process.execPath, argv, { env, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      if (error?.killed === true) reject(new Error(`it did not end: ${words.join(" ")}`));
      else resolve({ stdout, stderr });
    });
    child.stdin?.on("error", () => {}).end("sk-sandbox-test\n");
  });
}

test("every command is among them", () => {
  const main = readFileSync(new URL("../../../src/main.ts", import.meta.url), "utf8");
  const names = [...main.matchAll(/\bcommand\(\s*"([\w-]+)/g)].map(([, name]) => name);
  assert.ok(names.length > 30);
  assert.deepEqual(
    names.filter((name) => !LINES.some((line) => line.split(" ")[0] === name)),
    [],
  );
});

// A command waits more than it computes.
describe("under each error of the system", { concurrency: 4 }, () => {
  for (const code of CODES) {
    test(`no command shows the system's own words for ${code}, and each says what to type, quoted for the shell`, async (t) => {
      const { home, env } = prepare(t);
      const connect = ["connect", "opencode", "--model", "gpt-5", "--yes"];
      assert.match((await run([], connect, env)).stdout, /is connected/);
      const faulty = { ...env, TEST_FAULT: `${code} ${home}` };
      let failed = 0;
      for (const line of LINES) {
        const words = line.split(" ").map((word) => word.replace("~", () => home));
        const { stdout, stderr } = await run([`--import=${PRELOAD}`], words, faulty);
        const shown = stdout + stderr;
        const advice = shown.split("\n").filter((text) => /^hint: |^ {6}|-> /.test(text));
        assert.deepEqual(
          advice.filter((text) => text.includes(ODD_NAME)),
          [],
          line,
        );
        assert.doesNotMatch(shown, /\bE[A-Z]{4,}\b|Unknown system error|^ {4}at /m, line);
        if (!/^error: /m.test(stderr)) continue;
        failed += 1;
        assert.match(shown, /^hint: |^ +-> /m, line);
      }
      assert.ok(failed > 5, "the fault reached no command");
    });
  }
});
