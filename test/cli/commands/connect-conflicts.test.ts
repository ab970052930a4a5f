import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";

/** Prepares a home directory with one file, in which no daemon runs. */
function prepare(t: TestContext, file: string, text: string) {
  const env = { SHELL: "/bin/bash" };
  const machine = prepareHome(t, { config: { listen: { port: 4711 } }, env });
  const path = join(machine.home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return { ...machine, text: () => readFileSync(path, "utf8") };
}

test("connect warns of a real key and an overriding variable in the same settings, without their values", async (t) => {
  const key = sentinelKey();
  const variables = { CLAUDE_CODE_USE_BEDROCK: "1", ANTHROPIC_API_KEY: key, PATH: "/bin" };
  const settings = JSON.stringify({ env: variables }, null, 2);
  const { command } = prepare(t, ".claude/settings.json", settings);
  const dry = await command("connect", "claude", "--dry-run");
  const { code, stdout, stderr } = await command("connect", "claude", "--yes");
  assert.equal(code, 0, stderr);
  for (const said of [dry.stderr, stderr]) {
    assert.match(
      said,
      /^warning: ~\/\.claude\/settings\.json:3 \(env\.CLAUDE_CODE_USE_BEDROCK\) leads elsewhere, .*: take it out$/m,
    );
    assert.match(
      said,
      /^warning: what looks like an API key stands in ~\/\.claude\/settings\.json:4 \(ANTHROPIC_API_KEY\): .*key set; then take it out$/m,
    );
    assert.equal(said.match(/warning/g)?.length, 2);
  }
  assert.ok(![dry.stdout, dry.stderr, stdout, stderr].join().includes(key));
  const again = await command("connect", "claude");
  assert.match(again.stdout, /is connected already/);
  assert.match(again.stderr, /CLAUDE_CODE_USE_BEDROCK/);
  const doctor = await command("doctor");
  assert.match(doctor.stdout, /settings\.json:4 \(ANTHROPIC_API_KEY\)/);
});

test("connect warns of keys and overriding variables elsewhere in a start-up file", async (t) => {
  const key = sentinelKey();
  const lines = [
    "# export OPENAI_API_BASE=https://old",
    `export OPENAI_API_KEY=${key}`,
    "OPENAI_API_BASE=https://elsewhere/v1",
    "alias ll='ls -l'",
  ];
  const { command, text } = prepare(t, ".bashrc", `${lines.join("\n")}\n`);
  const { code, stdout, stderr } = await command("connect", "sdk", "--yes");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^SDK environment is connected; /m);
  assert.match(stderr, /^warning: ~\/\.bashrc:3 \(OPENAI_API_BASE\) leads elsewhere, .*$/m);
  assert.match(stderr, /^warning: what looks like an API key stands in ~\/\.bashrc:2 \(OPENAI_API_KEY\): /m);
  assert.equal(stderr.match(/warning/g)?.length, 2);
  assert.ok(text().startsWith(lines.join("\n")));
  const other = await command("connect", "copilot", "--model", "claude-x", "--yes");
  assert.match(other.stderr, /~\/\.bashrc:2 \(OPENAI_API_KEY\)/);
  assert.doesNotMatch(other.stderr, /OPENAI_API_BASE/);
});

test("connect warns of an active Codex profile with another provider", async (t) => {
  const profile = 'profile = "work"\n\n[profiles.work]\nmodel = "x"\nmodel_provider = "azure"\n';
  const { command } = prepare(t, ".codex/config.toml", profile);
  const { stderr } = await command("connect", "codex", "--yes");
  assert.match(stderr, /config\.toml:\d+ \(profiles\.work\.model_provider\) leads elsewhere, /);
});

test("connect does not warn of an active Codex profile without a provider", async (t) => {
  const { command } = prepare(t, ".codex/config.toml", 'profile = "work"\n\n[profiles.work]\nmodel = "x"\n');
  assert.doesNotMatch((await command("connect", "codex", "--yes")).stderr, /warning/);
});

for (const [tool, name] of [
  ["opencode", "opencode.json"],
  ["kilo", "kilo.json"],
] as const) {
  test(`connect edits the .jsonc file of ${tool} where it exists, because it takes precedence`, async (t) => {
    const directory = join("config", tool);
    const options = { options: { baseURL: "https://elsewhere/v1" } };
    const before = `// mine\n${JSON.stringify({ provider: { anthropic: options } }, null, 2)}\n`;
    const { home, command, text } = prepare(t, join(directory, `${name}c`), before);
    const { code, stdout } = await command("connect", tool, "--yes");
    assert.equal(code, 0);
    assert.match(text(), /^\/\/ mine\n[^]*"baseURL": "http:\/\/127\.0\.0\.1:4711/);
    assert.ok(!existsSync(join(home, directory, name)));
    assert.doesNotMatch(stdout, /beside it/);
    assert.equal((await command("disconnect", tool, "--yes")).code, 0);
    assert.equal(text(), before);
  });
}
