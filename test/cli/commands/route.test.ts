import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemonWithUpstream } from "../../helpers/daemon/daemon-with-upstream.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { post } from "../../helpers/gate/gate.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const CONFIG = {
  upstreams: {
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none", models: ["qwen*"] },
    anthropic: { baseUrl: "https://api.anthropic.com/v1", apis: ["messages"] },
    openai: { baseUrl: "https://api.openai.com/v1", key: "team" },
  },
  tools: { zed: { upstreams: ["openai"] } },
};

function prepare(t: TestContext, config: object = CONFIG) {
  const home = scratchDirectory(t);
  const file = join(home, ".config", "tollkeeper", "config.jsonc");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_RUNTIME_DIR: home };
  return (...args: string[]) => runProgram(["route", ...args, "--config", file], { env });
}

/** The rows of the table as `API UPSTREAM yes|no`. */
function rowsOf(stdout: string): string[] {
  let api = "";
  return stdout
    .split("\n")
    .slice(1, -1)
    .map((line) => {
      api = /^(\w+) /.exec(line)?.[1] ?? api;
      return `${api} ${/(\w+) +(yes|no) /.exec(line)?.slice(1).join(" ")}`;
    });
}

test("route says for each API which upstream serves a model, and what keeps it from the others", async (t) => {
  const route = prepare(t);
  const { code, stdout } = await route("gpt-5", "--all");
  assert.equal(code, 0);
  assert.deepEqual(
    rowsOf(stdout).filter((row) => /^(?:messages|responses) /.test(row)),
    [
      "messages local no",
      "messages anthropic yes",
      "messages openai no",
      "responses local no",
      "responses anthropic no",
      "responses openai yes",
    ],
  );
  assert.match(stdout, /"models" has only qwen\*/);
  assert.match(stdout, /openai +no +would get it, but comes after anthropic/);
  assert.match(stdout, /anthropic +no +"apis" has only messages/);
  assert.match(stdout, /openai +yes +the first that fits, with key "team"/);
});

test("route answers in a line for each place, and says once why not the others", async (t) => {
  const { code, stdout } = await prepare(t)("gpt-5");
  assert.equal(code, 0);
  assert.deepEqual(stdout.split("\n"), [
    'gpt-5 → anthropic, with key "default" (messages)',
    'gpt-5 → openai, with key "team" (responses, chat)',
    "gpt-5 → no upstream (gemini, bedrock)",
    "",
    "not to     why",
    'local      "models" has only qwen*',
    'anthropic  responses, chat, gemini, bedrock: "apis" has only messages',
    "openai     messages: would get it, but comes after anthropic",
    "",
  ]);
  const only = await prepare(t, { upstreams: { one: CONFIG.upstreams.openai } })("gpt-5", "--api", "chat");
  assert.equal(only.stdout, 'gpt-5 → one, with key "team" (chat)\n');
  const whole = await prepare(t, { upstreams: { one: CONFIG.upstreams.openai } })("gpt-5");
  assert.match(whole.stdout, /\(messages, responses, chat\)\ngemini, bedrock: no upstream has this route\n$/);
});

test("route for a tool leaves out what the tool may not use", async (t) => {
  const { stdout } = await prepare(t)("qwen3", "--tool", "zed", "--api", "messages", "--all");
  assert.deepEqual(rowsOf(stdout), ["messages local no", "messages anthropic no", "messages openai yes"]);
  assert.match(stdout, /local +no +"tools\.zed\.upstreams" does not name it/);
});

test("route says what the tool's group decides, by the model that an alias stands for", async (t) => {
  const groups = { small: { models: ["qwen*", "gpt-5-mini"] } };
  const tools = { codex: { group: "small" } };
  const route = prepare(t, { ...CONFIG, groups, tools, aliases: { cheap: "gpt-5", fast: "qwen3" } });
  const refused = await route("cheap", "--tool", "codex", "--api", "responses");
  assert.equal(refused.code, 1);
  assert.match(
    refused.stdout,
    /^cheap is an alias of gpt-5\ngroup small \(qwen\* gpt-5-mini\) does not allow the model: the request is refused; to change that, type: tollkeeper group set small --models PATTERN,\.\.\.\n/,
  );
  assert.match(
    refused.stdout,
    /\ncheap → no upstream \(responses\)\n[^]*openai +would get it, but group small does not allow the model/,
  );
  const allowed = await route("fast", "--tool", "codex", "--api", "responses");
  assert.equal(allowed.code, 0);
  assert.match(allowed.stdout, /\ngroup small \(.*\) allows the model\nfast → local \(responses\)\n/);
  const free = await route("cheap", "--tool", "zed", "--api", "responses");
  assert.equal(free.code, 0);
  assert.doesNotMatch(free.stdout, /group/);
  const json = await route("cheap", "--tool", "codex", "--api", "responses", "--json");
  const [first] = parseJsonOutput(json.stdout) as Record<string, unknown>[];
  assert.deepEqual(
    [first?.["model"], first?.["alias"], first?.["group"]],
    ["cheap", "gpt-5", { group: "small", models: ["qwen*", "gpt-5-mini"], isAllowed: false }],
  );
});

test("route --explain of a request that a group has refused says so, also where the sandbox responds", async (t) => {
  const daemon = await startDaemon(t, {
    config: {
      tools: { codex: { group: "small", key: "of-its-own" } },
      groups: { small: { models: ["gpt-5-mini"], key: "of-the-group" } },
    },
  });
  for (const [model, status] of [
    ["gpt-5", 400],
    ["gpt-5-mini", 200],
  ] as const) {
    const response = await post(daemon, "/t/codex/v1/responses", { model, input: "hi" });
    await response.text();
    assert.equal(response.status, status);
  }
  const [refused] = (await daemon.ledger()).filter(({ outcome }) => outcome === "rejected");
  const { stdout } = await daemon.command("route", "--explain", refused?.id ?? "");
  assert.match(
    stdout,
    /: codex requested gpt-5 on \/responses, and tollkeeper refused it \(model_not_allowed\)\n/,
  );
});

test("route says what the daemon would refuse at this moment, and what to type", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t);
  const before = await daemon.command("route", "gpt-5", "--tool", "codex", "--api", "responses");
  assert.deepEqual([before.code, /moment/.test(before.stdout)], [0, false]);
  await daemon.command("pause", "codex");
  const paused = await daemon.command("route", "gpt-5", "--tool", "codex", "--api", "responses");
  assert.equal(paused.code, 1);
  assert.match(
    paused.stdout,
    /^gpt-5 → default, with key "default" \(responses\)\nAt this moment tollkeeper would refuse it: codex is paused: a person paused it at .*Z\nTo change that, type: .*resume codex\n$/,
  );
  const other = await daemon.command("route", "gpt-5", "--tool", "zed", "--json");
  assert.equal(other.code, 0);
  assert.deepEqual(
    (parseJsonOutput(other.stdout) as { refused: unknown }[]).map(({ refused }) => refused),
    [null, null, null, null, null],
  );
});

test("route without upstreams says what the group decides, as the sandbox serves groups too", async (t) => {
  const config = { groups: { small: { models: ["a"] } }, tools: { "*": { group: "small" } } };
  const { code, stdout } = await prepare(t, config)("b");
  assert.equal(code, 1);
  assert.match(stdout, /^group small \(a\) does not allow the model.*\nno upstream is configured/);
});

test("route exits with 1 when no upstream serves the model", async (t) => {
  const upstreams = { local: CONFIG.upstreams.local };
  const { code, stdout } = await prepare(t, { upstreams })("gpt-5", "--all");
  assert.equal(code, 1);
  assert.ok(rowsOf(stdout).every((row) => row.endsWith(" no")));
});

test("route without upstreams says that the sandbox responds", async (t) => {
  const { code, stdout } = await prepare(t, {})("gpt-5");
  assert.deepEqual(
    [code, stdout],
    [0, "no upstream is configured: the built-in sandbox responds to every request\n"],
  );
});

test("route --json has a choice for each upstream", async (t) => {
  const { stdout } = await prepare(t)("qwen3", "--api", "responses", "--json");
  const [first] = parseJsonOutput(stdout) as Record<string, unknown>[];
  assert.deepEqual(
    { tool: first?.["tool"], api: first?.["api"], model: first?.["model"], recorded: first?.["recorded"] },
    { tool: null, api: "responses", model: "qwen3", recorded: null },
  );
  const choices = first?.["choices"] as Record<string, unknown>[];
  assert.deepEqual(
    choices.map((choice) => [choice["upstream"], choice["key"], choice["isChosen"]]),
    [
      ["local", null, true],
      ["anthropic", "default", false],
      ["openai", "team", false],
    ],
  );
});

test("route --explain finds the request of a record, and an unknown id is an error with the next command", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t);
  await fetch(`${daemon.url}/t/zed/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"model":"claude-sonnet-5"}',
  }).then((response) => response.text());
  const [record] = await daemon.ledger();
  const { code, stdout } = await daemon.command("route", "--explain", record?.id ?? "");
  assert.equal(code, 0);
  assert.match(stdout, /: zed requested claude-sonnet-5 on \/messages, and default served it\n/);
  assert.match(
    stdout,
    /\nWith the present configuration:\nclaude-sonnet-5 → default, with key .* \(messages\)\n/,
  );
  const unknown = await daemon.command("route", "--explain", "no-such-id");
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /no record with this id\nhint: .*tollkeeper tail --json/);
});
