import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { SHELLS, shellOf, writeEnvironment } from "../../../src/cli/commands/env/shell-environment.ts";
import { prepareHome, startDaemon } from "../../helpers/daemon/daemon.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { runProgram } from "../../helpers/daemon/program.ts";

test("what it prints leads a shell here when it is evaluated", async (t) => {
  const daemon = await startDaemon(t);
  const { code, stdout } = await daemon.command("env", "claude");
  assert.equal(code, 0);
  const seen = execFileSync("sh", ["-c", `${stdout}\nenv`], { encoding: "utf8" });
  assert.match(seen, new RegExp(`^ANTHROPIC_BASE_URL=${daemon.url}/t/claude-code$`, "m"));
  assert.match(seen, /^ANTHROPIC_AUTH_TOKEN=tk-claude-code$/m);
});

test("a variable that would win over them is taken away, where it is set", async (t) => {
  const daemon = await startDaemon(t);
  const env = { ...daemon.env, ANTHROPIC_API_KEY: "sk-of-mine" };
  const { stdout } = await runProgram(["env", "claude"], { env });
  assert.match(stdout, /^unset ANTHROPIC_API_KEY\n/);
  assert.doesNotMatch((await daemon.command("env", "claude")).stdout, /unset/);
});

test("a tool that nobody knows gets what the makers' libraries listen to, under its name", async (t) => {
  const daemon = await startDaemon(t);
  const { stdout } = await daemon.command("env", "MyAgent");
  assert.match(stdout, new RegExp(`^export OPENAI_BASE_URL='${daemon.url}/t/myagent/v1'$`, "m"));
  const { code, stderr } = await daemon.command("env", "my agent");
  assert.equal(code, 1);
  assert.match(stderr, /^error: "my agent" cannot be a tool's name\nhint: a name is [^;]*\n$/);
});

test("without a daemon the configured port holds, and with none it fails", async (t) => {
  const port = await freePort();
  const { command } = prepareHome(t, { config: { listen: { port } } });
  assert.match((await command("env", "claude")).stdout, new RegExp(`127\\.0\\.0\\.1:${port}/t/claude-code'`));
  const { code, stderr } = await prepareHome(t, {}).command("env", "claude");
  assert.equal(code, 1);
  assert.match(stderr, /^error: no port is known: .*\nhint: start it first: tollkeeper serve/);
});

test("a tool that needs a model gets the first that fits, or the one that is asked for", async (t) => {
  const daemon = await startDaemon(t);
  const taken = await daemon.command("env", "copilot");
  assert.match(taken.stdout, /^export COPILOT_MODEL='claude-[^']*'$/m);
  assert.match(taken.stderr, /^model: claude-.*, the first that fits; another one: --model MODEL\n/);
  const asked = await daemon.command("env", "copilot", "--model", "claude-mine");
  assert.match(asked.stdout, /^export COPILOT_MODEL='claude-mine'$/m);
  assert.doesNotMatch(asked.stderr, /^model:/m);
  await daemon.stop();
  const { code, stderr } = await prepareHome(t, { config: { listen: { port: 8655 } } }).command(
    "env",
    "copilot",
  );
  assert.equal(code, 1);
  assert.match(stderr, /^error: Copilot CLI must be told a model, and .*\nhint: name one: --model MODEL\n$/);
});

test("flags, which a shell cannot set, are told on standard error", async (t) => {
  const { command } = prepareHome(t, { config: { listen: { port: 8655 } } });
  const { code, stderr } = await command("env", "codex");
  assert.equal(code, 0);
  assert.match(stderr, /^note: Codex needs flags, too: -c .*base_url.*\/t\/codex\/v1/);
});

test("where tokens are needed none is printed, and it is said what to do instead", async (t) => {
  const { command } = prepareHome(t, { config: { access: "token", listen: { port: 8655 } } });
  const { code, stdout, stderr } = await command("env", "claude");
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(
    stderr,
    /tollkeeper run --tool claude-code -- .*tollkeeper connect claude-code.*token add claude-code/,
  );
});

test("a tool that listens to no variable is told so first, with a command that works", async (t) => {
  const { command } = prepareHome(t, { config: { access: "token", listen: { port: 8655 } } });
  const cline = await command("env", "cline");
  assert.deepEqual([cline.code, cline.stdout], [1, ""]);
  assert.match(
    cline.stderr,
    /^error: Cline listens neither to .*\nhint: connect it instead: tollkeeper connect cline\n$/,
  );
  const cursor = await command("env", "cursor");
  assert.match(
    cursor.stderr,
    /^error: Cursor listens neither to .*\nhint: .*tollkeeper connect cursor --print\n$/,
  );
});

test("the language is that of the person's shell, or the one asked for", async (t) => {
  const { env } = prepareHome(t, { config: { listen: { port: 8655 } } });
  const fish = await runProgram(["env", "x", "--config", `${env["HOME"]}/config.jsonc`], {
    env: { ...env, SHELL: "/usr/bin/fish" },
  });
  assert.match(fish.stdout, /^set -gx ANTHROPIC_BASE_URL '/m);
  assert.deepEqual(
    ["/bin/zsh", "/usr/local/bin/fish", "fish", "/bin/notfish", undefined].map((SHELL) => shellOf({ SHELL })),
    ["sh", "fish", "fish", "sh", "sh"],
  );
});

test("values are quoted so that a shell takes them for nothing but text", () => {
  const value = `it's $HOME \`id\` "x" \\ \\' !`;
  const [line = ""] = writeEnvironment("sh", { VALUE: value }, []);
  assert.equal(execFileSync("sh", ["-c", `${line}\nprintf %s "$VALUE"`], { encoding: "utf8" }), value);
  assert.deepEqual(writeEnvironment("fish", { VALUE: "it's \\ $x" }, ["OTHER"]), [
    "set -e OTHER",
    String.raw`set -gx VALUE 'it\'s \\ $x'`,
  ]);
  assert.deepEqual([...SHELLS], ["sh", "fish"]);
});
