import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { CheckedFinding } from "../../../src/check/check.ts";
import type { ListedTool } from "../../../src/cli/connect/list-tools.ts";
import { prepareHome, startDaemon } from "../../helpers/daemon/daemon.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";

/** A home directory with these files, by path below it, and a project. */
interface Scene {
  home: string;
  /** Runs a command in the project. */
  run(...words: string[]): ReturnType<typeof runProgram>;
  read(path: string): string;
  /** What `connect --list` and `doctor` say of the tool that is connected, without the home's path. */
  listed(): Promise<{ state: string; where: string; what: string; fix: string }[]>;
}

async function prepare(
  t: TestContext,
  files: Record<string, string>,
  { env = {}, isRunning = false }: { env?: Record<string, string>; isRunning?: boolean } = {},
): Promise<Scene> {
  const config = { listen: { port: isRunning ? 0 : 4711 } };
  const machine = isRunning ? await startDaemon(t, { config }) : prepareHome(t, { config });
  const { home, configFile } = machine;
  const project = join(home, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const run = (...words: string[]) =>
    runProgram([...words, "--config", configFile], {
      env: { ...machine.env, SHELL: "/bin/bash", ...env },
      cwd: project,
    });
  return {
    home,
    run,
    read: (path) => readFileSync(join(home, path), "utf8"),
    async listed() {
      const tools = parseJsonOutput((await run("connect", "--list", "--json")).stdout) as ListedTool[];
      const { checks } = parseJsonOutput((await run("doctor", "--json")).stdout) as {
        checks: CheckedFinding[];
      };
      const found = tools.flatMap(({ title, connections }) =>
        connections.flatMap(({ state, conflicts }) =>
          conflicts.filter(({ effect }) => effect === "elsewhere").map((one) => ({ title, state, ...one })),
        ),
      );
      const warnings = checks.filter(({ id, verdict }) => id === "tools" && verdict === "warning");
      assert.deepEqual(
        warnings.map(({ message, fix }) => [message, fix]),
        found.map(({ title, where, what, fix }) => [`${title} is connected, but ${where} ${what}`, fix]),
      );
      return found.map(({ state, where, what, fix }) => ({ state, where, what, fix }));
    },
  };
}

/** Each case: a setting that sends requests elsewhere, and that connecting changes. */
const RESOLVED = [
  {
    tool: "claude-code",
    path: ".claude/settings.json",
    text: '{\n\t"env": {\n\t\t"CLAUDE_CODE_USE_BEDROCK": "1" // at work\n\t}\n}\n',
    diff: [/^-\t\t"CLAUDE_CODE_USE_BEDROCK": "1" \/\/ at work$/m, /^\+\t\t"CLAUDE_CODE_USE_BEDROCK": "0"/m],
    purpose: "env.CLAUDE_CODE_USE_BEDROCK: Claude Code uses tollkeeper, not Amazon Bedrock",
  },
  {
    tool: "codex",
    path: ".codex/config.toml",
    text: 'profile = "work"\n\n[profiles.work]\nmodel = "x"\nmodel_provider = "azure"   # theirs\n',
    diff: [/^-model_provider = "azure" {3}# theirs$/m, /^\+model_provider = "tollkeeper" {3}# theirs$/m],
    purpose: "profiles.work.model_provider: the provider of the active profile",
  },
  {
    tool: "opencode",
    path: "config/opencode/opencode.jsonc",
    text: '// mine\n{\n  "enabled_providers": [\n    "openrouter", // cheap\n  ],\n}\n',
    diff: [/^-.*"openrouter", \/\/ cheap$/m, /^\+.*"anthropic"/m],
    purpose: "enabled_providers: allows anthropic and openai, which point at tollkeeper",
  },
  {
    tool: "droid",
    path: ".factory/settings.local.json",
    text: '{ "sessionDefaultSettings": { "model": "claude-opus" } }',
    diff: [/^\+.*"custom:tollkeeper"/m],
    purpose: "sessionDefaultSettings.model: the default model of sessions",
  },
] as const;

for (const { tool, path, text, diff, purpose } of RESOLVED) {
  test(`connect ${tool} changes a setting that sends requests elsewhere, and disconnect restores it byte for byte`, async (t) => {
    const { run, read, listed } = await prepare(t, { [path]: text });
    const model = ["--model", "claude-sonnet-5"];
    const { code, stdout, stderr } = await run("connect", tool, "--yes", ...(tool === "droid" ? model : []));
    assert.equal(code, 0, stderr);
    for (const line of diff) assert.match(stdout, line);
    assert.ok(stdout.includes(`  ${purpose}\n`), stdout);
    assert.doesNotMatch(stderr, /warning/);
    assert.match(stdout, / is connected\. To disconnect it, type: /);
    assert.notEqual(read(path), text);
    assert.deepEqual(await listed(), []);
    const again = await run("connect", tool, ...(tool === "droid" ? model : []));
    assert.match(again.stdout, / is already connected: http/);
    assert.equal((await run("disconnect", tool, "--yes")).code, 0);
    assert.equal(read(path), text);
  });
}

/** Each case: a choice of another provider's model. */
const OTHER_MODELS = [
  {
    tool: "opencode",
    path: "config/opencode/opencode.json",
    text: '{ "model": "openrouter/x", "agent": { "plan": { "model": "openrouter/y" } } }\n',
    where: "~/config/opencode/opencode.json:1 (model)",
    written: /"model": "anthropic\/claude-[^]*"plan": \{ "model": "anthropic\/claude-/,
  },
  {
    tool: "pi",
    path: ".pi/agent/settings.json",
    text: '{\n  "defaultProvider": "ollama",\n  "defaultModel": "llama3.1:8b"\n}\n',
    where: "~/.pi/agent/settings.json:2 (defaultProvider)",
    written: /"defaultProvider": "anthropic",\n {2}"defaultModel": "claude-/,
  },
] as const;

for (const { tool, path, text, where, written } of OTHER_MODELS) {
  test(`connect ${tool} replaces a choice of another provider's model by the first model that fits, and disconnect restores it`, async (t) => {
    const { run, read, listed } = await prepare(t, { [path]: text }, { isRunning: true });
    const { code, stdout, stderr } = await run("connect", tool, "--yes");
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^model: claude-\S+, the first suitable one; to use another, add: --model MODEL$/m);
    assert.match(stdout, /^-.*(?:openrouter|ollama)/m);
    assert.match(read(path), written);
    assert.deepEqual(await listed(), []);
    assert.match((await run("connect", tool)).stdout, / is already connected: http/);
    assert.equal((await run("disconnect", tool, "--yes")).code, 0);
    assert.equal(read(path), text);
  });

  test(`connect ${tool} wants a model where another provider's is chosen and tollkeeper does not run`, async (t) => {
    const { run, read } = await prepare(t, { [path]: text });
    const { code, stderr } = await run("connect", tool, "--yes");
    assert.equal(code, 1);
    assert.match(stderr, / needs a model, [^]*\nhint: add to the command: --model MODEL\n$/);
    assert.equal(read(path), text);
    assert.equal((await run("connect", tool, "--yes", "--model", "claude-x")).code, 0);
  });

  test(`connect --list and doctor say that ${tool} sends requests elsewhere once another model was chosen in it`, async (t) => {
    const { home, run, listed } = await prepare(t, {});
    await run("connect", tool, "--yes");
    const current = existsSync(join(home, path)) ? readFileSync(join(home, path), "utf8") : "";
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(
      join(home, path),
      current === "" ? text : current.replace(/^\{/, `{${text.trim().slice(1, -1)},`),
    );
    const [conflict] = await listed();
    assert.ok(conflict);
    assert.equal(conflict.where.replace(/:\d+/, ""), where.replace(/:\d+/, ""));
    assert.match(conflict.what, /^sends requests elsewhere: /);
    assert.equal(conflict.fix, `tollkeeper connect ${tool}`);
    const { stdout } = await run("connect", "--list");
    assert.match(stdout, new RegExp(`^\\S.* ${tool} .* yes, but see below `, "m"));
    assert.ok(stdout.includes(`${tool}: ${conflict.where} ${conflict.what}\n  -> ${conflict.fix}`), stdout);
  });
}

test("connect does not change a project's settings: it says where they send requests, and what overrides them there", async (t) => {
  const path = "project/.claude/settings.json";
  const text = '{\n  "env": {\n    "ANTHROPIC_BASE_URL": "https://models.work.example"\n  }\n}\n';
  const { run, read, listed } = await prepare(t, { [path]: text });
  const where = "~/project/.claude/settings.json:3 (env.ANTHROPIC_BASE_URL)";
  const what = "sends requests elsewhere: it is another base URL";
  const fix = "remove it, or override it in this project: tollkeeper connect claude-code --scope project";
  const { code, stdout, stderr } = await run("connect", "claude", "--yes");
  assert.equal(code, 0);
  assert.ok(stderr.includes(`warning: ${where} ${what}; ${fix}\n`), stderr);
  assert.match(
    stdout,
    /^Claude Code is connected, but ~\/project\/\S+ \(\S+\) sends requests elsewhere\. To disconnect it, type: /m,
  );
  assert.deepEqual(await listed(), [{ state: "connected", where, what, fix }]);
  const again = await run("connect", "claude");
  assert.match(
    again.stdout,
    /^Claude Code is already connected, but \S+ \(\S+\) sends requests elsewhere: http/m,
  );
  assert.equal(read(path), text);
  // The command that the hint names.
  assert.equal((await run("connect", "claude-code", "--scope", "project", "--yes")).code, 0);
  assert.deepEqual(await listed(), []);
  assert.equal(read(path), text);
});

test("connect turns off a switch of the environment that its settings override, and warns of a second credential there", async (t) => {
  const env = { CLAUDE_CODE_USE_VERTEX: "1", ANTHROPIC_API_KEY: "another" };
  const { run, read } = await prepare(t, {}, { env });
  const { stderr } = await run("connect", "claude", "--yes");
  assert.match(read(".claude/settings.json"), /"CLAUDE_CODE_USE_VERTEX": "0"/);
  assert.match(
    stderr,
    /^warning: the environment \(ANTHROPIC_API_KEY\) sends another credential as well: Claude Code sends it in addition to ANTHROPIC_AUTH_TOKEN, which wins; unset ANTHROPIC_API_KEY, /m,
  );
});

test("connect warns of base URLs and keys elsewhere in a start-up file, without their values", async (t) => {
  const key = sentinelKey();
  const lines = [
    "# export OPENAI_API_BASE=https://old",
    `export OPENAI_API_KEY=${key}`,
    "OPENAI_API_BASE=https://elsewhere/v1",
    "alias ll='ls -l'",
  ];
  const { run, read } = await prepare(t, { ".bashrc": `${lines.join("\n")}\n` });
  const { code, stdout, stderr } = await run("connect", "sdk", "--yes");
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^SDK environment is connected, but ~\/\.bashrc:3 \(OPENAI_API_BASE\) sends requests elsewhere\. /m,
  );
  assert.match(
    stderr,
    /^warning: ~\/\.bashrc:3 \(OPENAI_API_BASE\) sends requests elsewhere: it is another base URL; remove it$/m,
  );
  assert.match(stderr, /^warning: ~\/\.bashrc:2 \(OPENAI_API_KEY\) looks like an API key; /m);
  assert.equal(stderr.match(/warning/g)?.length, 2);
  assert.ok(!(stdout + stderr).includes(key));
  assert.ok(read(".bashrc").startsWith(lines.join("\n")));
  const other = await run("connect", "copilot", "--model", "claude-x", "--yes");
  assert.match(other.stderr, /~\/\.bashrc:2 \(OPENAI_API_KEY\)/);
  assert.doesNotMatch(other.stderr, /OPENAI_API_BASE/);
});

test("a base URL behind the block in a start-up file is found, which overrides it", async (t) => {
  const { home, run, listed } = await prepare(t, {
    ".bashrc": "export COPILOT_PROVIDER_BASE_URL=https://old\n",
  });
  const args = ["connect", "copilot", "--model", "claude-x", "--yes"];
  assert.doesNotMatch((await run(...args)).stderr, /warning/);
  assert.deepEqual(await listed(), []);
  writeFileSync(join(home, ".bashrc"), "export COPILOT_PROVIDER_BASE_URL=https://new\n", { flag: "a" });
  const [conflict] = await listed();
  assert.match(conflict?.where ?? "", /^~\/\.bashrc:\d+ \(COPILOT_PROVIDER_BASE_URL\)$/);
});

test("a Codex profile in a file of its own is found and told, and stays as it is", async (t) => {
  const path = ".codex/work.config.toml";
  const text = '# at work\nmodel_provider = "azure"\n';
  const { run, read, listed } = await prepare(t, { [path]: text });
  const { stderr } = await run("connect", "codex", "--yes");
  assert.match(
    stderr,
    /^warning: ~\/\.codex\/work\.config\.toml:2 \(model_provider\) sends requests elsewhere: with --profile work Codex uses the provider azure; to use tollkeeper there too, write in that file: model_provider = "tollkeeper"$/m,
  );
  assert.equal((await listed()).length, 1);
  assert.equal(read(path), text);
});

test("connect codex has nothing to say of a profile without a provider", async (t) => {
  const text = 'profile = "work"\n\n[profiles.work]\nmodel = "x"\n';
  const { run } = await prepare(t, { ".codex/config.toml": text });
  assert.doesNotMatch((await run("connect", "codex", "--yes")).stderr, /warning/);
});

for (const [tool, name] of [
  ["opencode", "opencode.json"],
  ["kilo", "kilo.json"],
] as const) {
  test(`connect edits the .jsonc file of ${tool} where it exists, because it takes precedence`, async (t) => {
    const directory = join("config", tool);
    const options = { options: { baseURL: "https://elsewhere/v1" } };
    const before = `// mine\n${JSON.stringify({ provider: { anthropic: options } }, null, 2)}\n`;
    const { home, run, read } = await prepare(t, { [join(directory, `${name}c`)]: before });
    const { code, stdout } = await run("connect", tool, "--yes");
    assert.equal(code, 0);
    assert.match(read(join(directory, `${name}c`)), /^\/\/ mine\n[^]*"baseURL": "http:\/\/127\.0\.0\.1:4711/);
    assert.ok(!existsSync(join(home, directory, name)));
    assert.doesNotMatch(stdout, /beside it/);
    assert.equal((await run("disconnect", tool, "--yes")).code, 0);
    assert.equal(read(join(directory, `${name}c`)), before);
  });
}

test("a variable that works against a connection is named as it is set", async (t) => {
  const { run } = await prepare(t, {}, { env: { AIDER_WEAK_MODEL: "gpt-5-mini" } });
  const { stderr } = await run("connect", "aider", "--model", "claude-sonnet-5", "--dry-run");
  assert.equal(
    stderr.replace(/^note: aider was not found on this machine.*\n/, ""),
    "warning: the environment (AIDER_WEAK_MODEL) sends requests elsewhere: it chooses gpt-5-mini; unset AIDER_WEAK_MODEL, and remove it from where it is set\n",
  );
});
