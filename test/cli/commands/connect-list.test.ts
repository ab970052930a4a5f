import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ListedTool } from "../../../src/cli/connect/list-tools.ts";
import { CONNECTABLE_TOOLS } from "../../../src/tools/all.ts";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { writeToolScript } from "../../helpers/tools/write-tool-script.ts";
import { openCommandLine } from "../../helpers/daemon/run-program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";

const PORT = 4711;

function prepare(t: TestContext) {
  const { home, env, configFile } = prepareHome(t, { config: { listen: { port: PORT } } });
  const path = `${writeToolScript(home, "claude", "")}:/usr/bin:/bin`;
  const project = join(home, "project");
  mkdirSync(project);
  const inTurn = openCommandLine({ ...env, PATH: path }, project);
  const run = (...words: string[]) => inTurn(...words, "--config", configFile);
  const list = async () => parseJsonOutput((await run("connect", "--list", "--json")).stdout) as ListedTool[];
  return {
    home,
    project,
    settings: join(home, ".claude", "settings.json"),
    run,
    claude: async () => (await list()).find(({ tool }) => tool === "claude-code"),
    /** Returns the column `connected` of Claude Code in the table. */
    async shown() {
      const { stdout } = await run("connect", "--list");
      return /^Claude Code +claude-code +yes +(.*?) {2,}user/m.exec(stdout)?.[1];
    },
  };
}

test("connect --list shows every tool, installed, connected and tried or not", async (t) => {
  const { run, claude } = prepare(t);
  const { code, stdout } = await run("connect", "--list");
  assert.equal(code, 0);
  assert.equal(stdout.trimEnd().split("\n").length, 1 + CONNECTABLE_TOOLS.length);
  assert.match(stdout, /^tool +name +installed +connected +settings +tested with$/m);
  assert.match(stdout, /^Cursor +cursor +no +no +by hand +not tested$/m);
  const { isInstalled, connections } = (await claude()) ?? {};
  assert.deepEqual([isInstalled, connections], [true, []]);
});

test("connect --list shows a connection's state from the current files of the tool", async (t) => {
  const { run, claude, shown, settings } = prepare(t);
  assert.equal(await shown(), "no");
  await run("connect", "claude", "--yes");
  assert.equal(await shown(), "yes");
  const [connection] = (await claude())?.connections ?? [];
  assert.deepEqual(
    { ...connection, since: typeof connection?.since },
    {
      scope: "user",
      directory: null,
      since: "string",
      state: "connected",
      path: null,
      port: PORT,
      account: "key",
      conflicts: [],
      tokenFix: null,
    },
  );
  const written = readFileSync(settings, "utf8");
  writeFileSync(settings, written.replace("tk-claude-code", "mine"));
  assert.equal(await shown(), "changed since");
  rmSync(settings);
  assert.equal(await shown(), "no longer");
});

test("connect --list shows the port of a connection to another port", async (t) => {
  const { run, shown, settings } = prepare(t);
  await run("connect", "claude", "--yes");
  writeFileSync(settings, readFileSync(settings, "utf8").replaceAll(`:${PORT}/`, ":4712/"));
  assert.equal(await shown(), "changed since, to port 4712");
});

test("connect --list shows a manual connection as such", async (t) => {
  const { shown, settings, claude } = prepare(t);
  mkdirSync(dirname(settings));
  const env = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${PORT}/t/claude-code`, ANTHROPIC_AUTH_TOKEN: "x" };
  writeFileSync(settings, JSON.stringify({ env }));
  assert.equal(await shown(), "by hand in ~/.claude/settings.json");
  assert.equal((await claude())?.connections[0]?.since, null);
});

test("connect --list shows a project's connection with its directory", async (t) => {
  const { run, claude, shown, project } = prepare(t);
  await run("connect", "claude", "--scope", "project", "--yes");
  assert.equal(await shown(), "yes in ~/project");
  assert.deepEqual(
    (await claude())?.connections.map(({ directory }) => directory),
    [project],
  );
});

test("connect --list counts a tool as installed whose directory is there, unless connecting has created it", async (t) => {
  const { home, run } = prepare(t);
  const isShown = async (title: string) =>
    new RegExp(`^${title} +\\S+ +(yes|no) `, "m").exec((await run("connect", "--list")).stdout)?.[1];
  assert.equal(await isShown("Codex"), "no");
  await run("connect", "codex", "--yes");
  assert.equal(await isShown("Codex"), "no");
  await run("disconnect", "codex", "--yes");
  mkdirSync(join(home, ".codex"));
  assert.equal(await isShown("Codex"), "yes");
  await run("connect", "codex", "--yes");
  assert.equal(await isShown("Codex"), "yes");
});

test("connect --list counts a tool as installed whose directory a variable has moved, and not one whose file connecting has created", async (t) => {
  const { home, run } = prepare(t);
  const shown = async (name: string) =>
    new RegExp(` ${name} +(yes|no) `, "m").exec((await run("connect", "--list")).stdout)?.[1];
  await run("connect", "aider", "--model", "claude-x", "--yes");
  assert.equal(await shown("aider"), "no");
  assert.equal(await shown("opencode"), "no");
  // XDG_CONFIG_HOME.
  mkdirSync(join(home, "config", "opencode"), { recursive: true });
  assert.equal(await shown("opencode"), "yes");
});

test("where tokens are required, a tool that is connected by hand is told what gives it one", async (t) => {
  const config = { listen: { port: PORT }, access: { mode: "token" } };
  const { home, env, configFile } = prepareHome(t, { config });
  const base = `http://127.0.0.1:${PORT}/t`;
  mkdirSync(join(home, "config", "goose"), { recursive: true });
  writeFileSync(join(home, "config", "goose", "config.yaml"), `ANTHROPIC_HOST: ${base}/goose\n`);
  mkdirSync(join(home, ".claude"));
  writeFileSync(
    join(home, ".claude", "settings.json"),
    JSON.stringify({ env: { ANTHROPIC_BASE_URL: `${base}/claude-code` } }),
  );
  const list = ["connect", "--list", "--config", configFile];
  const { stdout } = await runProgram(list, { env, cwd: home });
  const fixes = stdout.matchAll(/^(\S+): it has no registered local token.*\n {2}-> (.*)$/gm);
  assert.deepEqual(
    Array.from(fixes, ([, tool, fix]) => [tool, fix]),
    [
      ["claude-code", "tollkeeper connect claude-code"],
      ["goose", "tollkeeper token add goose; then enter that token in goose as its API key"],
    ],
  );
});
