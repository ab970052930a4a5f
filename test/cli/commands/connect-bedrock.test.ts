// What connect writes or says where a tool can use nothing but Amazon Bedrock, and that it reaches the upstream.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { parse } from "jsonc-parser";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { respondAsBedrock } from "../../helpers/upstream/bedrock-answers.ts";
import { startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";

const KEY = "sentinel-key-of-bedrock-4711";

async function start(t: TestContext, more: object = {}, access: object = {}) {
  const upstream = await startUpstream(t, respondAsBedrock);
  const { config } = writeKeyFile(t, `${upstream.origin}/model`, KEY);
  const { upstreams } = config as { upstreams: { default: object } };
  const bedrock = { ...upstreams.default, apis: ["bedrock"] };
  const daemon = await startDaemon(t, { config: { upstreams: { default: bedrock, ...more }, access } });
  return { daemon, upstream };
}

/** What Claude Code's settings have for a daemon, as its own text. */
const settingsFile = ({ home }: { home: string }) => join(home, ".claude", "settings.json");
const OWN = '{\n  // mine\n  "env": { "AWS_REGION": "us-west-2", "MINE": "1" }\n}\n';

function variablesOf(daemon: { home: string }): Record<string, string> {
  return (parse(readFileSync(settingsFile(daemon), "utf8")) as { env: Record<string, string> }).env;
}

test("connect has Claude Code use Bedrock where its upstreams serve only that, and disconnect restores its settings byte for byte", async (t) => {
  const { daemon, upstream } = await start(t);
  mkdirSync(join(daemon.home, ".claude"));
  writeFileSync(settingsFile(daemon), OWN);
  const connected = await daemon.command("connect", "claude-code", "--yes");
  assert.equal(connected.code, 0, connected.stderr);
  const { ANTHROPIC_BEDROCK_BASE_URL: baseUrl = "", ...others } = variablesOf(daemon);
  assert.deepEqual(others, {
    CLAUDE_CODE_USE_BEDROCK: "1",
    CLAUDE_CODE_SKIP_BEDROCK_AUTH: "1",
    AWS_REGION: "us-east-1",
    MINE: "1",
  });
  // What is written leads to the upstream, as Claude Code uses it.
  const response = await fetch(`${baseUrl}/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ anthropic_version: "bedrock-2023-05-31", max_tokens: 9, messages: [] }),
  });
  assert.equal(response.status, 200, await response.text());
  assert.equal(upstream.seen[0]?.headers.authorization, `Bearer ${KEY}`);
  assert.equal((await daemon.ledger())[0]?.tool, "claude-code");
  const listed = await daemon.command("connect", "--list", "--json");
  const tools = JSON.parse(listed.stdout) as { tool: string; connections: Record<string, unknown>[] }[];
  const [connection] = tools.find(({ tool }) => tool === "claude-code")?.connections ?? [];
  assert.equal(connection?.["state"], "connected");
  assert.deepEqual(connection["conflicts"], [], listed.stdout);
  const again = await daemon.command("connect", "claude-code", "--yes");
  assert.match(again.stdout, /Claude Code is already connected/);
  const disconnected = await daemon.command("disconnect", "claude-code", "--yes");
  assert.equal(disconnected.code, 0, disconnected.stderr);
  assert.equal(readFileSync(settingsFile(daemon), "utf8"), OWN);
});

test("connect changes nothing where a tool that is not told to use Bedrock can use only that, and says what to type", async (t) => {
  const { daemon } = await start(t);
  const connect = async (tool: string) => {
    const { code, stderr } = await daemon.command("connect", tool, "--yes");
    assert.equal(code, 1);
    assert.match(stderr, /error: .* reaches only Amazon Bedrock here \(upstream default\)/);
    assert.ok(!stderr.includes(KEY));
    return stderr;
  };
  assert.match(
    await connect("sdk"),
    /AWS_ENDPOINT_URL_BEDROCK_RUNTIME=\S+\/t\/sdk AWS_BEARER_TOKEN_BEDROCK=local/,
  );
  assert.match(await connect("codex"), /hint: add an upstream with another API: tollkeeper config edit/);
  for (const directory of [".codex", ".profile"]) assert.ok(!existsSync(join(daemon.home, directory)));
});

test("with local tokens, Claude Code's is its key of Bedrock; with another API, it connects as ever", async (t) => {
  const { daemon } = await start(t, {}, { mode: "token" });
  const { code, stderr } = await daemon.command("connect", "claude-code", "--yes");
  assert.equal(code, 0, stderr);
  const { AWS_BEARER_TOKEN_BEDROCK: token = "", ...others } = variablesOf(daemon);
  assert.ok(token.length > 20 && !("CLAUDE_CODE_SKIP_BEDROCK_AUTH" in others));
  const other = { baseUrl: "http://127.0.0.1:9/v1", auth: "none", apis: ["messages"] };
  const both = await start(t, { other });
  const connected = await both.daemon.command("connect", "claude-code", "--yes");
  assert.equal(connected.code, 0, connected.stderr);
  assert.ok("ANTHROPIC_BASE_URL" in variablesOf(both.daemon));
});
