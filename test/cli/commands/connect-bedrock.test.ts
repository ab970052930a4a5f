// What connect says where a tool can use nothing but Amazon Bedrock, and that what it prints leads there.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
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

test("connect changes nothing where a tool can use only Bedrock, and says what to type", async (t) => {
  const { daemon, upstream } = await start(t);
  const connect = async (tool: string) => {
    const { code, stderr } = await daemon.command("connect", tool, "--yes");
    assert.equal(code, 1);
    assert.match(stderr, /error: .* reaches only Amazon Bedrock here \(upstream default\)/);
    assert.ok(!stderr.includes(KEY));
    return stderr;
  };
  const claude = await connect("claude-code");
  assert.match(
    claude,
    /hint: start it with: CLAUDE_CODE_USE_BEDROCK=1 CLAUDE_CODE_SKIP_BEDROCK_AUTH=1 AWS_REGION=us-east-1 ANTHROPIC_BEDROCK_BASE_URL=http:\/\/127\.0\.0\.1:\d+\/t\/claude-code claude$/m,
  );
  assert.match(
    await connect("sdk"),
    /AWS_ENDPOINT_URL_BEDROCK_RUNTIME=\S+\/t\/sdk AWS_BEARER_TOKEN_BEDROCK=local/,
  );
  assert.match(await connect("codex"), /hint: add an upstream with another API: tollkeeper config edit/);
  for (const directory of [".claude", ".codex", ".profile"])
    assert.ok(!existsSync(join(daemon.home, directory)));
  // What is printed leads to the upstream, as Claude Code uses it.
  const [, baseUrl = ""] = /ANTHROPIC_BEDROCK_BASE_URL=(\S+)/.exec(claude) ?? [];
  const response = await fetch(`${baseUrl}/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ anthropic_version: "bedrock-2023-05-31", max_tokens: 9, messages: [] }),
  });
  assert.equal(response.status, 200, await response.text());
  assert.equal(upstream.seen[0]?.headers.authorization, `Bearer ${KEY}`);
  assert.equal((await daemon.ledger())[0]?.tool, "claude-code");
});

test("with local tokens, the hint has a place for one, and another API connects as ever", async (t) => {
  const { daemon } = await start(t, {}, { mode: "token" });
  const { stderr } = await daemon.command("connect", "claude-code", "--yes");
  assert.match(stderr, /CLAUDE_CODE_USE_BEDROCK=1 AWS_BEARER_TOKEN_BEDROCK=LOCAL-TOKEN AWS_REGION=/);
  const other = { baseUrl: "http://127.0.0.1:9/v1", auth: "none", apis: ["messages"] };
  const both = await start(t, { other });
  const connected = await both.daemon.command("connect", "claude-code", "--yes");
  assert.equal(connected.code, 0, connected.stderr);
});
