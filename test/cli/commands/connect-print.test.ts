import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";

const PORT = 4711;
const config = { listen: { port: PORT } };

test("connect --print shows a known tool's file, and what each setting is for", async (t) => {
  const { home, command } = prepareHome(t, { config });
  const { code, stdout, stderr } = await command("connect", "claude", "--print");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^~\/\.claude\/settings\.json:\n\n\{\n/);
  assert.match(stdout, new RegExp(`"ANTHROPIC_BASE_URL": "http://127\\.0\\.0\\.1:${PORT}/t/claude-code"`));
  assert.match(stdout, /^env\.ANTHROPIC_BASE_URL: \w/m);
  assert.ok(!existsSync(join(home, ".claude")));
});

test("connect --print shows base URLs, placeholder, header and variables for an unknown tool", async (t) => {
  const { home, command } = prepareHome(t, { config });
  const { code, stdout } = await command("connect", "My.Tool", "--print");
  assert.equal(code, 0);
  const url = `http://127.0.0.1:${PORT}/t/my.tool`;
  for (const part of [
    `export ANTHROPIC_BASE_URL='${url}'`,
    `export OPENAI_BASE_URL='${url}/v1'`,
    `base URL:  ${url}/v1 (without /v1 where the tool adds it: ${url})`,
    "API key:   tk-my.tool, or any other text",
    "the header x-tollkeeper-tool: my.tool",
  ]) {
    assert.ok(stdout.includes(part), `${part} is not in\n${stdout}`);
  }
  assert.ok(!existsSync(join(home, "state")));
});

test("connect --print creates no token, but says how to create one", async (t) => {
  const { command } = prepareHome(t, { config: { ...config, access: "token" } });
  const { stdout } = await command("connect", "mytool", "--print");
  assert.match(stdout, /^API key: +LOCAL-TOKEN; register one with: tollkeeper token add mytool$/m);
});

test("connect --print says why a tool cannot be connected", async (t) => {
  const { command } = prepareHome(t, { config });
  const { code, stdout } = await command("connect", "cursor", "--print");
  assert.equal(code, 0);
  assert.match(stdout, /^Cursor cannot be connected: /);
});

test("connect --print explains the placeholder for a token in a file", async (t) => {
  const { command } = prepareHome(t, { config: { ...config, access: "token" } });
  const { stdout } = await command("connect", "claude", "--print");
  assert.match(stdout, /"ANTHROPIC_AUTH_TOKEN": "LOCAL-TOKEN"/);
  assert.match(
    stdout,
    /^replace LOCAL-TOKEN with a local token; register one with: tollkeeper token add claude-code$/m,
  );
});

test("connect --print shows flags without an empty list of variables", async (t) => {
  const { command } = prepareHome(t, { config });
  const { stdout } = await command("connect", "codex", "--print");
  assert.doesNotMatch(stdout, /environment:/);
  assert.match(stdout, /^flags: -c .*base_url/m);
});

test("connect --print refuses an invalid tool name, and says what is valid", async (t) => {
  const { command } = prepareHome(t, { config });
  const { code, stderr } = await command("connect", "a b", "--print");
  assert.equal(code, 1);
  assert.match(stderr, /^error: "a b" cannot be a tool's name\nhint: a name has [^;]*\n$/);
});

for (const [tool, words] of [
  ["cursor", /^Cursor cannot be connected: /],
  [
    "vscode",
    /^tollkeeper cannot change these settings\. In VS Code 1\.122 or later, change them yourself:$/m,
  ],
  ["jetbrains", /Enter the URL http:\/\/127\.0\.0\.1:4711\/t\/jetbrains\/v1 and the key tk-jetbrains\.$/m],
] as const) {
  test(`connect ${tool}, whose settings only its user can change, prints the same as with --print`, async (t) => {
    const { home, command } = prepareHome(t, { config });
    const printed = await command("connect", tool, "--print");
    assert.match(printed.stdout, words);
    for (const options of [[], ["--yes"], ["--dry-run"]])
      assert.deepEqual(await command("connect", tool, ...options), printed);
    assert.deepEqual([printed.code, printed.stderr], [0, ""]);
    assert.ok(!existsSync(join(home, "state")));
  });
}

test("connect jetbrains prints a route that the configuration takes", async (t) => {
  const { command, configFile } = prepareHome(t, { config });
  const { stdout } = await command("connect", "jetbrains");
  const [line = ""] = /"routes": .*/.exec(stdout) ?? [];
  const upstream = `{ "baseUrl": "https://api.example.com/v1", ${line} }`;
  writeFileSync(configFile, `{ "upstreams": { "default": ${upstream} } }`);
  const { code, stderr } = await command("config", "check");
  assert.equal(code, 0, stderr);
});
