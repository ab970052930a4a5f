import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { noTerminal, runOnTerminal } from "../../helpers/process/terminal.ts";

const SETTINGS = '{\n  // mine\n  "model": "opus",\n}\n';

/** Prepares a home directory in which Claude Code is connected. */
async function prepare(t: TestContext) {
  const machine = prepareHome(t, { config: { listen: { port: 4711 } } });
  const settings = join(machine.home, ".claude", "settings.json");
  mkdirSync(dirname(settings));
  writeFileSync(settings, SETTINGS);
  assert.equal((await machine.command("connect", "claude", "--yes")).code, 0);
  const text = () => readFileSync(settings, "utf8");
  return { ...machine, settings, text, connected: text() };
}

test("disconnect keeps and reports a setting that was changed since", async (t) => {
  const { home, command, settings, text, connected } = await prepare(t);
  writeFileSync(settings, connected.replace("tk-claude-code", "mine").replace("opus", "sonnet"));
  const { code, stdout } = await command("disconnect", "claude", "--yes");
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^env\.ANTHROPIC_AUTH_TOKEN in ~\/\.claude\/settings\.json was changed since, so it is kept$/m,
  );
  const [, backup = ""] = /^backup of ~\/\.claude\/settings\.json: ~(\/.*)$/m.exec(stdout) ?? [];
  assert.equal(readFileSync(home + backup, "utf8"), SETTINGS);
  assert.match(text(), /"model": "sonnet",[^]*"ANTHROPIC_AUTH_TOKEN": "mine"/);
  assert.doesNotMatch(text(), /ANTHROPIC_BASE_URL/);
});

test("disconnect says that the tool may still use tollkeeper when all settings were changed since", async (t) => {
  const { command, settings } = await prepare(t);
  writeFileSync(
    settings,
    readFileSync(settings, "utf8").replace(/^( +"[A-Z]\w+": )"[^"]*"/gm, '$1"changed"'),
  );
  const { code, stderr } = await command("disconnect", "claude", "--yes");
  assert.equal(code, 0);
  assert.match(
    stderr,
    /^note: none of its settings was as connect wrote it, so it may still point at tollkeeper$/m,
  );
});

test(
  "disconnect changes nothing with --dry-run, after a no, and without a terminal",
  { skip: noTerminal },
  async (t) => {
    const { command, env, configFile, text, connected } = await prepare(t);
    const dry = await command("disconnect", "claude", "--dry-run");
    assert.equal(dry.code, 0);
    assert.match(dry.stdout, /^- .*ANTHROPIC_BASE_URL/m);
    assert.equal((await command("disconnect", "claude")).code, 1);
    const argv = [process.execPath, PROGRAM, "disconnect", "claude", "--config", configFile];
    const asked = await runOnTerminal(argv, { env }, [["Disconnect claude-code? [y/N] ", "n\n"]]);
    assert.equal(asked.code, 1);
    assert.equal(text(), connected);
  },
);

test("disconnect forgets a connection whose files were deleted, without asking", async (t) => {
  const { command, settings } = await prepare(t);
  rmSync(dirname(settings), { recursive: true });
  const { code, stdout } = await command("disconnect", "claude");
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^(~\/\.claude\/settings\.json): no longer exists, not restored\nbackup of \1: \S+\nclaude-code is disconnected\nClaude Code uses its own key or login again, [^\n]*\n$/m,
  );
  assert.ok(!existsSync(dirname(settings)));
  assert.equal((await command("disconnect", "claude")).code, 1);
});

test("disconnect fails for a tool that is not connected, and suggests the nearest name for an unknown one", async (t) => {
  const { command } = prepareHome(t, { config: { listen: { port: 4711 } } });
  const never = await command("disconnect", "codex", "--yes");
  assert.deepEqual(
    [never.code, never.stderr],
    [
      1,
      "error: codex is not connected\nhint: to see which tools are connected, type: tollkeeper connect --list\n",
    ],
  );
  for (const word of ["cluade", "openai-python"])
    assert.match(
      (await command("disconnect", word)).stderr,
      /hint: to see which tools are connected, type: tollkeeper connect --list\n$/,
    );
  assert.match((await command("disconnect", "cluade")).stderr, /did you mean "claude"\?/);
  for (const verb of ["connect", "disconnect"])
    assert.equal(
      (await command(verb, "all", "--yes")).stderr,
      `error: no tool is called "all"\nhint: for all tools, type: tollkeeper ${verb} --all\n`,
    );
});

test("disconnect --directory works from anywhere, even when the project was deleted", async (t) => {
  const { home, env, configFile } = prepareHome(t, { config: { listen: { port: 4711 } } });
  const [one, other] = [join(home, "one"), join(home, "other")];
  const run = (cwd: string, ...words: string[]) =>
    runProgram([...words, "--yes", "--config", configFile], { env, cwd });
  for (const project of [one, other]) {
    mkdirSync(project);
    assert.equal((await run(project, "connect", "claude", "--scope", "project")).code, 0);
  }
  rmSync(one, { recursive: true });
  const here = await run(home, "disconnect", "claude", "--scope", "project");
  assert.equal(here.code, 1);
  assert.match(
    here.stderr,
    /^error: claude-code in \S+ is not connected\nhint: to see which tools are connected, type: .*--list\n$/,
  );
  const gone = await run(home, "disconnect", "claude", "--directory", "one");
  assert.equal(gone.code, 0, gone.stderr);
  assert.match(gone.stdout, /^claude-code in ~\/one is disconnected$/m);
  assert.ok(existsSync(join(other, ".claude")));
  const { stderr } = await run(home, "disconnect", "claude", "--scope", "project");
  assert.ok(
    stderr.endsWith(
      `it is connected in a project; disconnect it there with: tollkeeper disconnect claude-code --directory ${other}\n`,
    ),
    stderr,
  );
});
