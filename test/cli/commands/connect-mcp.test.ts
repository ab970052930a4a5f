import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";

/** Of each tool: its settings file with the server, and a text of the user's own that is already there. */
const TOOLS = {
  "claude-code": {
    file: ".claude.json",
    text: '{\n  "numStartups": 3,\n  "mcpServers": {\n    "mine": { "command": "mine", "args": [] }\n  }\n}\n',
    server: /"tollkeeper": \{\s*"command": "\/\S+",\s*"args": \[\s*"\/\S+\/main\.js",\s*"mcp"\s*\]/,
  },
  codex: {
    file: ".codex/config.toml",
    text: '# mine\nmodel = "gpt-5"\n\n[mcp_servers.mine]\ncommand = "mine"\n',
    server: /\[mcp_servers\.tollkeeper\]\ncommand = "\/\S+"\nargs = \["\/\S+\/main\.js", "mcp"\]/,
  },
  opencode: {
    file: "config/opencode/opencode.json",
    text: '{\n  "theme": "mine",\n}\n',
    server:
      /"tollkeeper": \{\s*"type": "local",\s*"command": \[\s*"\/\S+",\s*"\/\S+\/main\.js",\s*"mcp"\s*\]/,
  },
  kilo: {
    file: "config/kilo/kilo.json",
    text: '{\n  "theme": "mine",\n}\n',
    server:
      /"tollkeeper": \{\s*"type": "local",\s*"command": \[\s*"\/\S+",\s*"\/\S+\/main\.js",\s*"mcp"\s*\]/,
  },
  "gemini-cli": {
    file: ".gemini/settings.json",
    text: '{\n  // mine\n  "ui": { "theme": "mine" }\n}\n',
    server: /"tollkeeper": \{\s*"command": "\/\S+",\s*"args": \[\s*"\/\S+\/main\.js",\s*"mcp"\s*\]/,
  },
  "qwen-code": {
    file: ".qwen/settings.json",
    text: '{\n  "ui": { "theme": "mine" },\n  "mcpServers": { "other": { "command": "mine" } }\n}\n',
    server: /"tollkeeper": \{\s*"command": "\/\S+",\s*"args": \[\s*"\/\S+\/main\.js",\s*"mcp"\s*\]/,
  },
};

function prepare(t: TestContext, file: string, text: string | null) {
  const machine = prepareHome(t, {
    config: { listen: { port: 4711 } },
    env: { SHELL: "/bin/bash" },
  });
  const path = join(machine.home, file);
  mkdirSync(dirname(path), { recursive: true });
  const write = (changed: string) => writeFileSync(path, changed);
  if (text !== null) write(text);
  return { ...machine, path, write, text: () => readFileSync(path, "utf8") };
}

/** Where the address is, if that is another file. */
const ADDRESSES: Readonly<Record<string, string>> = {
  "claude-code": ".claude/settings.json",
  "gemini-cli": ".bashrc",
};

/** Qwen Code offers only the models of its settings. */
const words = (tool: string) => [
  tool,
  "--yes",
  ...(tool === "qwen-code" ? ["--model", "claude-sonnet-5"] : []),
];

for (const [tool, { file, text: before, server }] of Object.entries(TOOLS)) {
  test(`connect ${tool} --mcp writes the server with absolute paths, and disconnect restores the file`, async (t) => {
    const { command, text } = prepare(t, file, before);
    const { code, stdout, stderr } = await command("connect", ...words(tool), "--mcp");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /an MCP server, so that the agent can ask what it costs and what is left/);
    assert.match(text(), server);
    assert.match(text(), /mine/);
    assert.equal((await command("disconnect", tool, "--yes")).code, 0);
    assert.equal(text(), before);
  });

  test(`the server of ${tool} keeps an option that was added, and is taken off with it`, async (t) => {
    const { command, text, write } = prepare(t, file, before);
    await command("connect", ...words(tool), "--mcp");
    write(text().replace(/main\.js",\s*"mcp"/, '$&, "--all-projects"'));
    const { code, stderr } = await command("connect", ...words(tool), "--mcp");
    assert.equal(code, 0, stderr);
    assert.match(text(), /"mcp",\s*"--all-projects"/);
    assert.equal((await command("connect", ...words(tool))).code, 0);
    assert.match(text(), /"--all-projects"/);
    assert.equal((await command("disconnect", tool, "--yes")).code, 0);
    assert.doesNotMatch(text(), /tollkeeper|main\.js/);
    assert.match(text(), /mine/);
  });

  test(`connect ${tool} --no-mcp takes only the server off`, async (t) => {
    const { command, text, home } = prepare(t, file, before);
    await command("connect", ...words(tool), "--mcp");
    assert.equal((await command("connect", ...words(tool), "--no-mcp")).code, 0);
    assert.doesNotMatch(text(), /main\.js/);
    assert.match(readFileSync(join(home, ADDRESSES[tool] ?? file), "utf8"), /127\.0\.0\.1:4711/);
  });
}

test("a file that connect has created for the server is removed again", async (t) => {
  const { command, path } = prepare(t, ".claude.json", null);
  assert.equal((await command("connect", "claude-code", "--mcp", "--yes")).code, 0);
  assert.ok(existsSync(path));
  assert.equal((await command("disconnect", "claude-code", "--yes")).code, 0);
  assert.equal(existsSync(path), false);
});

test("a server of the user's own with the same name is not replaced", async (t) => {
  const theirs = '{ "mcpServers": { "tollkeeper": { "command": "theirs" } } }\n';
  const { command, text } = prepare(t, ".claude.json", theirs);
  const { code, stderr } = await command("connect", "claude-code", "--mcp", "--yes");
  assert.equal(code, 1);
  assert.match(stderr, /has an MCP server of yours that is called "tollkeeper"; nothing was changed/);
  assert.equal((await command("connect", "claude-code", "--yes")).code, 0);
  assert.equal(text(), theirs);
});

test("a tool without MCP servers, and a project, say that there is none to set", async (t) => {
  const { command } = prepare(t, ".claude.json", null);
  const other = await command("connect", "aider", "--model", "gpt-5", "--mcp", "--yes");
  assert.equal(other.code, 1);
  assert.match(other.stderr, /aider has no MCP servers that connect can set\nhint: .*docs\/mcp\.md/);
  const project = await command("connect", "claude-code", "--scope", "project", "--mcp", "--yes");
  assert.match(project.stderr, /connect sets an MCP server of Claude Code for the user only/);
});

test("the server that is written answers, also with another configuration file than the usual one", async (t) => {
  const { home, env, text } = prepare(t, ".claude.json", null);
  const config = join(home, "other.jsonc");
  writeFileSync(config, '{ "listen": { "port": 4712 } }', { mode: 0o600 });
  const { code, stderr } = await runProgram(
    ["connect", "claude-code", "--mcp", "--yes", "--config", config],
    { env },
  );
  assert.equal(code, 0, stderr);
  const { mcpServers } = JSON.parse(text()) as {
    mcpServers: { tollkeeper: { command: string; args: string[] } };
  };
  const { command, args } = mcpServers.tollkeeper;
  assert.deepEqual(args.slice(1), ["mcp", "--config", config]);
  const client = new Client({ name: "claude-code", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, env, cwd: home }));
  t.after(() => client.close());
  assert.equal((await client.listTools()).tools.length, 6);
});
