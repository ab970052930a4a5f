import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { SHELLS, detectShell, formatEnvironment } from "../../../src/cli/connect/environment.ts";
import { prepareHome, startDaemon } from "../../helpers/daemon/daemon.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";

test("env prints variables that point a shell at tollkeeper when evaluated", async (t) => {
  const daemon = await startDaemon(t);
  const { code, stdout } = await daemon.command("env", "claude");
  assert.equal(code, 0);
  const seen = execFileSync("sh", ["-c", `${stdout}\nenv`], { encoding: "utf8" });
  assert.match(seen, new RegExp(`^ANTHROPIC_BASE_URL=${daemon.url}/t/claude-code$`, "m"));
  assert.match(seen, /^ANTHROPIC_AUTH_TOKEN=tk-claude-code$/m);
});

test("env unsets a variable that would override its own, if it is set", async (t) => {
  const daemon = await startDaemon(t);
  const env = { ...daemon.env, ANTHROPIC_API_KEY: "sk-of-mine" };
  const { stdout } = await runProgram(["env", "claude"], { env });
  assert.match(stdout, /^unset ANTHROPIC_API_KEY\n/);
  assert.doesNotMatch((await daemon.command("env", "claude")).stdout, /unset/);
});

test("env prints the SDK variables for an unknown tool, with its name", async (t) => {
  const daemon = await startDaemon(t);
  const { stdout } = await daemon.command("env", "MyAgent");
  assert.match(stdout, new RegExp(`^export OPENAI_BASE_URL='${daemon.url}/t/myagent/v1'$`, "m"));
  const { code, stderr } = await daemon.command("env", "my agent");
  assert.equal(code, 1);
  assert.match(stderr, /^error: "my agent" cannot be a tool's name\nhint: a name has [^;]*\n$/);
});

test("env uses the configured port without a daemon, and fails when there is none", async (t) => {
  const port = await freePort();
  const { command } = prepareHome(t, { config: { listen: { port } } });
  assert.match((await command("env", "claude")).stdout, new RegExp(`127\\.0\\.0\\.1:${port}/t/claude-code'`));
  const { code, stderr } = await prepareHome(t, {}).command("env", "claude");
  assert.equal(code, 1);
  assert.match(stderr, /^error: the port is unknown: .*\nhint: start it first with: tollkeeper serve/);
});

test("env chooses the first model that fits the tool, or takes the requested one", async (t) => {
  const daemon = await startDaemon(t);
  const taken = await daemon.command("env", "copilot");
  assert.match(taken.stdout, /^export COPILOT_MODEL='claude-[^']*'$/m);
  assert.match(
    taken.stderr,
    /^model: claude-.*, the first suitable one; to use another, add: --model MODEL\n/,
  );
  const asked = await daemon.command("env", "copilot", "--model", "claude-mine");
  assert.match(asked.stdout, /^export COPILOT_MODEL='claude-mine'$/m);
  assert.doesNotMatch(asked.stderr, /^model:/m);
  await daemon.stop();
  const { code, stderr } = await prepareHome(t, { config: { listen: { port: 8655 } } }).command(
    "env",
    "copilot",
  );
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: Copilot CLI needs a model, and .*\nhint: add to the command: --model MODEL\n$/,
  );
});

test("env prints flags, which a shell cannot set, on standard error", async (t) => {
  const { command } = prepareHome(t, { config: { listen: { port: 8655 } } });
  const { code, stderr } = await command("env", "codex");
  assert.equal(code, 0);
  assert.match(stderr, /^note: Codex also needs these flags: -c .*base_url.*\/t\/codex\/v1/);
});

test("env prints no token where tokens are required, and suggests alternatives", async (t) => {
  const { command } = prepareHome(t, { config: { access: "token", listen: { port: 8655 } } });
  const { code, stdout, stderr } = await command("env", "claude");
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(
    stderr,
    /tollkeeper run --tool claude-code -- .*\n.*tollkeeper connect claude-code\n.*token add claude-code\n/,
  );
});

test("env refuses a tool that follows no variable before anything else, and suggests a command that works", async (t) => {
  const { command } = prepareHome(t, { config: { access: "token", listen: { port: 8655 } } });
  const cline = await command("env", "cline");
  assert.deepEqual([cline.code, cline.stdout], [1, ""]);
  assert.match(
    cline.stderr,
    /^error: Cline reads neither .*\nhint: connect it instead: tollkeeper connect cline\n$/,
  );
  const cursor = await command("env", "cursor");
  assert.match(
    cursor.stderr,
    /^error: Cursor reads neither .*\nhint: .*tollkeeper connect cursor --print\n$/,
  );
});

test("env prints the language of the user's shell", async (t) => {
  const { env, configFile } = prepareHome(t, { config: { listen: { port: 8655 } } });
  const fish = await runProgram(["env", "x", "--config", configFile], {
    env: { ...env, SHELL: "/usr/bin/fish" },
  });
  assert.match(fish.stdout, /^set -gx ANTHROPIC_BASE_URL '/m);
  assert.deepEqual(
    ["/bin/zsh", "/usr/local/bin/fish", "fish", "/bin/notfish", undefined].map((SHELL) =>
      detectShell({ SHELL }),
    ),
    ["sh", "fish", "fish", "sh", "sh"],
  );
});

test("formatEnvironment quotes values so that a shell takes them literally", () => {
  const value = `it's $HOME \`id\` "x" \\ \\' !`;
  const [line = ""] = formatEnvironment("sh", { VALUE: value }, []);
  assert.equal(execFileSync("sh", ["-c", `${line}\nprintf %s "$VALUE"`], { encoding: "utf8" }), value);
  assert.deepEqual(formatEnvironment("fish", { VALUE: "it's \\ $x" }, ["OTHER"]), [
    "set -e OTHER",
    String.raw`set -gx VALUE 'it\'s \\ $x'`,
  ]);
  assert.deepEqual([...SHELLS], ["sh", "fish"]);
});
