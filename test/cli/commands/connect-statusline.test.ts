import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { noTerminal, runOnTerminal } from "../../helpers/process/terminal.ts";

const PLAIN = '{\n  "model": "opus",\n}\n';
const THEIRS = '{\n  "statusLine": { "type": "command", "command": "~/mine.sh" },\n}\n';

function prepare(t: TestContext, text: string) {
  const machine = prepareHome(t, { config: { listen: { port: 4711 } } });
  const settings = join(machine.home, ".claude", "settings.json");
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, text);
  return { ...machine, text: () => readFileSync(settings, "utf8") };
}

test("connect --statusline writes a command with absolute paths, and disconnect takes it off again", async (t) => {
  const { command, text } = prepare(t, PLAIN);
  const { code, stdout } = await command("connect", "claude-code", "--statusline", "--yes");
  assert.equal(code, 0);
  assert.match(stdout, /^ {2}statusLine: what this session and today cost, below the prompt$/m);
  const [, written = ""] = /"command": "([^"]+)"/.exec(text()) ?? [];
  assert.match(written, /^\/\S+ \/\S+\/dist\/tollkeeper-statusline\.js$/);
  assert.equal((await command("disconnect", "claude-code", "--yes")).code, 0);
  assert.equal(text(), PLAIN);
});

test("connect --yes does not replace the user's own status line", async (t) => {
  const { command, text } = prepare(t, THEIRS);
  const { code, stderr } = await command("connect", "claude-code", "--statusline", "--yes");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: ~\/\.claude\/settings\.json:2 \(statusLine\) is a status line of your own; nothing was changed\nhint: to show both, call from yours: tollkeeper statusline\n {6}to replace it, type this on a terminal: tollkeeper connect claude-code --statusline\n$/m,
  );
  assert.equal(text(), THEIRS);
  assert.equal((await command("connect", "claude-code", "--yes")).code, 0);
  assert.match(text(), /mine\.sh/);
});

test(
  "connect asks before it replaces the user's own status line, which disconnect restores",
  { skip: noTerminal },
  async (t) => {
    const { env, configFile, command, text } = prepare(t, THEIRS);
    const argv = [
      process.execPath,
      PROGRAM,
      "connect",
      "claude",
      "--statusline",
      "--yes",
      "--config",
      configFile,
    ];
    const ask = (typed: string) =>
      runOnTerminal(argv, { env }, [["Replace it? To disconnect restores it. [y/N] ", typed]]);
    const declined = await ask("n\n");
    assert.equal(declined.code, 1);
    assert.match(declined.text, /nothing was changed\r\n$/);
    assert.equal(text(), THEIRS);
    assert.equal((await ask("y\n")).code, 0);
    assert.doesNotMatch(text(), /mine\.sh/);
    assert.equal((await command("disconnect", "claude", "--yes")).code, 0);
    assert.equal(text(), THEIRS);
  },
);

test("connect --no-statusline takes only the status line off", async (t) => {
  const { command, text } = prepare(t, PLAIN);
  await command("connect", "claude-code", "--statusline", "--yes");
  assert.equal((await command("connect", "claude-code", "--no-statusline", "--yes")).code, 0);
  assert.doesNotMatch(text(), /statusLine/);
  assert.match(text(), /ANTHROPIC_BASE_URL/);
});
