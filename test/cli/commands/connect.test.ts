import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { prepareHome, startDaemon } from "../../helpers/daemon/daemon.ts";
import { writeToolScript } from "../../helpers/tools/write-tool-script.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { noTerminal, runOnTerminal } from "../../helpers/process/terminal.ts";

const PORT = 4711;
const URL = `http://127.0.0.1:${PORT}/t/claude-code`;

/** A file in the style of a person: with a comment and a trailing comma. */
const SETTINGS = '{\n  // mine\n  "model": "opus",\n}\n';

/** Prepares a home directory with settings of Claude Code, in which no daemon runs. */
function prepare(t: TestContext, config: object = {}) {
  const machine = prepareHome(t, { config: { listen: { port: PORT }, ...config } });
  const settings = join(machine.home, ".claude", "settings.json");
  const journal = join(machine.home, "state", "tollkeeper", "connections");
  put(settings, SETTINGS);
  return { ...machine, settings, journal, text: () => readFileSync(settings, "utf8") };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

test("connect without a terminal shows the change, and does not make it without --yes", async (t) => {
  const { command, text, journal } = prepare(t);
  const { code, stdout, stderr } = await command("connect", "claude");
  assert.equal(code, 1);
  assert.match(stdout, new RegExp(`^~/\\.claude/settings\\.json: will change\n@@ [^]*^\\+ .*"${URL}"`, "m"));
  assert.match(stdout, /^ {2}env\.ANTHROPIC_BASE_URL: \w.+$/m);
  assert.equal(
    stderr,
    "error: there is no terminal to ask on, so nothing was changed\nhint: to do it without asking, add --yes\n",
  );
  assert.equal(text(), SETTINGS);
  assert.ok(!existsSync(journal));
});

for (const [models, chosen, setting] of [
  [["nomic-embed-text", "whisper-1", "llama3.2:latest"], "llama3.2:latest", "OPENAI_HOST"],
  [["llama3.2:latest", "gpt-oss:20b", "gpt-5.5"], "gpt-5.5", "OPENAI_HOST"],
  [["gpt-5.5", "llama3.2:latest", "claude-sonnet-5"], "claude-sonnet-5", "ANTHROPIC_HOST"],
] as const) {
  test(`connect without a model chooses ${chosen} of ${models.join(", ")}`, async (t) => {
    const list = { data: models.map((id) => ({ id })) };
    const { baseUrl } = await startUpstream(t, (_seen, res) => sendJson(res, list));
    const { command } = await startDaemon(t, { config: { upstreams: { own: { baseUrl, auth: "none" } } } });
    const { code, stdout, stderr } = await command("connect", "goose", "--dry-run");
    assert.equal(code, 0, stderr);
    assert.match(stderr, new RegExp(`^model: ${chosen}, the first suitable one`, "m"));
    assert.match(stdout, new RegExp(`^\\+${setting}: http://127`, "m"));
  });
}

test("connect without a model refuses a list in which no model can be chatted with", async (t) => {
  const { baseUrl } = await startUpstream(t, (_seen, res) =>
    sendJson(res, { data: [{ id: "bge-reranker" }] }),
  );
  const { command } = await startDaemon(t, { config: { upstreams: { own: { baseUrl, auth: "none" } } } });
  const { code, stderr } = await command("connect", "goose", "--dry-run");
  assert.equal(code, 1);
  assert.match(stderr, /none of the listed models is known to work/);
});

test("connect --dry-run shows the change and makes none", async (t) => {
  const { command, text, journal } = prepare(t);
  const { code, stdout, stderr } = await command("connect", "claude", "--dry-run", "--yes");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, new RegExp(`^\\+ .*"${URL}"`, "m"));
  assert.equal(text(), SETTINGS);
  assert.ok(!existsSync(journal));
});

test("connect --yes writes the change and names its backup, and disconnect restores the file byte for byte", async (t) => {
  const { home, command, text } = prepare(t);
  const { code, stdout, stderr } = await command("connect", "Claude Code", "--yes");
  assert.equal(code, 0);
  // The command depends on the service manager of this machine.
  assert.match(
    stderr,
    /^note: no API is set up, .*tollkeeper setup\nnote: tollkeeper is not running; .*tollkeeper serve.*\n$/,
  );
  assert.match(text(), new RegExp(`^ {2}// mine$[^]*"ANTHROPIC_BASE_URL": "${URL}"`, "m"));
  const backup = /^wrote ~\/\.claude\/settings\.json; backup: ~(\/.*)$/m.exec(stdout)?.[1] ?? "";
  assert.equal(readFileSync(home + backup, "utf8"), SETTINGS);
  assert.match(stdout, /To disconnect it, type: tollkeeper disconnect claude-code$/m);

  const again = await command("connect", "claude-code");
  assert.equal(again.code, 0);
  assert.match(
    again.stdout,
    new RegExp(`^Claude Code is already connected: ${URL}\nNo key pays, because no upstream takes one\\.`),
  );

  const undone = await command("disconnect", "claude", "--yes");
  assert.equal(undone.code, 0);
  assert.match(
    undone.stdout,
    /: will be restored\n[^]*^claude-code is disconnected\nClaude Code uses its own key or login again, if it has one, and no key in tollkeeper pays for it\.\n$/m,
  );
  assert.equal(text(), SETTINGS);
});

test("connect writes the running daemon's port, and warns when the next start may choose another", async (t) => {
  const daemon = await startDaemon(t);
  const { stderr } = await daemon.command("connect", "claude", "--yes");
  const written = readFileSync(join(daemon.home, ".claude", "settings.json"), "utf8");
  assert.match(written, new RegExp(`"${daemon.url}/t/claude-code"`));
  assert.match(
    stderr,
    new RegExp(`^note: tollkeeper may use another port than ${daemon.port} after its next start; `, "m"),
  );
});

test("connect asks on a terminal, and takes only yes for yes", { skip: noTerminal }, async (t) => {
  const { env, configFile, text } = prepare(t);
  const ask = (...typed: string[]) => {
    const argv = [process.execPath, PROGRAM, "connect", "claude", "--config", configFile];
    const question = "Connect Claude Code? [y/N] ";
    return runOnTerminal(
      argv,
      { env },
      typed.map((one): [string, string] => [question, one]),
    );
  };
  for (const typed of [["\n"], ["n\n"], ["yell\n", "\n"], ["\u0004"]]) {
    const { code, text: screen } = await ask(...typed);
    assert.equal(code, 1, screen);
    assert.match(screen, /nothing was changed\r\n$/);
    assert.equal(text(), SETTINGS);
  }
  const interrupted = await ask("\u0003");
  assert.deepEqual([interrupted.code, text()], [130, SETTINGS]);
  const agreed = await ask("y\n");
  assert.equal(agreed.code, 0);
  assert.match(text(), new RegExp(`"${URL}"`));
});

test("connect --scope project writes the project's own file, and disconnect restores it there", async (t) => {
  const { home, env, configFile, text } = prepare(t);
  const project = join(home, "project");
  mkdirSync(project);
  const run = (...words: string[]) => runProgram([...words, "--config", configFile], { env, cwd: project });
  const { code, stdout } = await run("connect", "claude", "--scope", "project", "--yes");
  assert.equal(code, 0);
  const [, written = ""] = /^wrote ~\/(project\/\.claude\/\S+)$/m.exec(stdout) ?? [];
  assert.match(readFileSync(join(home, written), "utf8"), new RegExp(`"${URL}"`));
  assert.equal(text(), SETTINGS);
  const elsewhere = await run("disconnect", "claude", "--yes");
  assert.equal(elsewhere.code, 1);
  const there = `tollkeeper disconnect claude-code --directory ${project}`;
  assert.equal(
    elsewhere.stderr,
    `error: claude-code is not connected\nhint: it is connected in a project; disconnect it there with: ${there}\n`,
  );
  const undone = await run("disconnect", "claude", "--scope", "project", "--yes");
  assert.equal(undone.code, 0);
  assert.ok(!existsSync(join(project, ".claude")));
});

test("connect suggests the nearest name for an unknown tool, and --print", async (t) => {
  const { command } = prepare(t);
  const { code, stderr } = await command("connect", "cluade");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: tollkeeper does not know the tool "cluade"; did you mean "claude"\?\nhint: .*--list\n {6}.*--print\n$/,
  );
});

test("connect with a library's name, as the daemon gives it, says how programs that use it are connected", async (t) => {
  const { command } = prepare(t);
  for (const library of ["anthropic-sdk", "openai-sdk", "ai-sdk", "langchain", "openai-agents", "curl"]) {
    const { code, stderr } = await command("connect", library);
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(
        `^error: ${library} is a library .*\nhint: .*tollkeeper run -- .*\n.*connect sdk\n.*--print\n$`,
      ),
    );
    const printed = await command("connect", library, "--print");
    assert.match(printed.stdout, new RegExp(`127\\.0\\.0\\.1:${PORT}/t/${library}`));
  }
});

test("connect refuses a scope that the tool does not have, and names those it has", async (t) => {
  const { command } = prepare(t);
  const pi = await command("connect", "pi", "--scope", "project", "--yes");
  assert.equal(pi.code, 1);
  assert.match(
    pi.stderr,
    /^error: Pi has no settings that connect can change with --scope project\nhint: connect it with: tollkeeper connect pi --scope user\n$/,
  );
});

test("connect and disconnect refuse contradictory options as wrong usage", async (t) => {
  const { command } = prepare(t);
  for (const words of [
    [],
    ["claude", "--all"],
    ["--list", "--all"],
    ["claude", "--json"],
    ["claude", "--scope", "all"],
  ]) {
    assert.equal((await command("connect", ...words)).code, 2, words.join(" "));
  }
  const { stderr } = await command("connect", "claude", "--json");
  assert.match(stderr, /^error: --json works only with --list\n/);
  for (const words of [[], ["claude", "--all"], ["--all", "--directory", "/x"]]) {
    assert.equal((await command("disconnect", ...words)).code, 2, words.join(" "));
  }
});

test("connect --all connects every installed tool, even when one of them fails", async (t) => {
  const { home, env, configFile, settings } = prepare(t);
  put(settings, "{ not JSON");
  const directory = ["claude", "codex", "pi"].map((name) => writeToolScript(home, name, ""))[0] ?? "";
  const path = `${directory}:/usr/bin:/bin`;
  const run = (...words: string[]) =>
    runProgram([...words, "--config", configFile], { env: { ...env, PATH: path } });
  const { code, stdout, stderr } = await run("connect", "--all", "--yes");
  assert.equal(code, 1);
  assert.match(stderr, /^error: .*settings\.json:1\b/m);
  assert.match(stdout, /^Codex:$/m);
  assert.match(stdout, /^\d+ tools? (?:is|are) done\. 1 tool failed\.$/m);
  assert.match(
    readFileSync(join(home, ".codex", "config.toml"), "utf8"),
    new RegExp(`127\\.0\\.0\\.1:${PORT}/t/codex`),
  );
  assert.equal(readFileSync(settings, "utf8"), "{ not JSON");

  const undone = await run("disconnect", "--all", "--yes");
  assert.equal(undone.code, 0);
  assert.ok(!existsSync(join(home, ".codex", "config.toml")));
  assert.match((await run("disconnect", "--all", "--yes")).stdout, /^There is nothing to do\.$/m);
});

test("connect of a tool that is not on this machine says so, and connects it all the same with --yes", async (t) => {
  const { command } = await startDaemon(t, { env: { PATH: dirname(process.execPath) } });
  const missing = /^note: aider was not found on this machine: neither its program nor its settings$/m;
  const shown = await command("connect", "aider", "--dry-run");
  assert.match(shown.stderr, missing);
  const { code, stdout, stderr } = await command("connect", "aider", "--yes");
  assert.equal(code, 0, stderr);
  assert.match(stderr, missing);
  assert.match(stdout, /^aider is connected, for when it is installed\. To disconnect it, type: /m);
});
