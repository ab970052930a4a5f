// Anthropic's and AWS's SDKs for Amazon Bedrock, pointed at tollkeeper, before an upstream that responds as AWS's documents say. What the
// ledger has is what the upstream's books have, and no login of theirs is anywhere.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Tokens } from "../../src/core/usage/reading.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { runBounded } from "../helpers/process/run-bounded.ts";
import { billedAsBedrock } from "../helpers/upstream/bedrock-answers.ts";
import { sendJson, startUpstream, type Script } from "../helpers/upstream/scripted-upstream.ts";
import { findSignatureFault } from "../helpers/upstream/sigv4-verifier.ts";
import { CLAUDE_CODE, installTool } from "../helpers/tools/real-tool.ts";
import { expectSuccess, runTollkeeper } from "./connect-tool.ts";
import { installLibrary } from "./libraries.ts";

const SDKS = {
  package: "@anthropic-ai/bedrock-sdk",
  version: "1.1.3",
  additional: ["@aws-sdk/client-bedrock-runtime@3.1164.0", "@smithy/node-http-handler@4.14.2"],
  program: "bedrock.mjs",
  unmarked: [],
};

const MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const ARN = `arn:aws:bedrock:us-east-1:123456789012:inference-profile/${MODEL}`;

/** What the program prints for each of its two logins. */
const PRINTED = `create Good morning
stream Good morning
broken modelStreamErrorException
converse Good morning
converse-stream true
invoke true
invoke-stream true
count-tokens 15
error ThrottlingException
broken ModelStreamErrorException
guardrail ResourceNotFoundException
`;

const SETTINGS = {
  CLAUDE_CODE_USE_BEDROCK: "1",
  CLAUDE_CODE_SKIP_BEDROCK_AUTH: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  AWS_REGION: "us-east-1",
};

const ASKED = "/model/us.anthropic.claude-opus-5-5/invoke-with-response-stream";

/** Settings as a user has them. */
const OWN_SETTINGS =
  '{\n  "env": { "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "AWS_REGION": "us-west-2" }\n}\n';

/** Access keys that sign what tollkeeper sends. */
const KEYS = {
  accessKeyId: "ASIATOLLKEEPER4711",
  secretAccessKey: "upstream/secret+4711",
  sessionToken: "upstream//token+4711==",
};

const PRINTED_KEYS = JSON.stringify({
  Version: 1,
  AccessKeyId: KEYS.accessKeyId,
  SecretAccessKey: KEYS.secretAccessKey,
  SessionToken: KEYS.sessionToken,
});

/** Responds only to what is signed for one region with {@link KEYS}. */
function verifying(script: Script): Script {
  return (seen, res) => {
    const expected = { keys: KEYS, region: "eu-west-1", service: "bedrock", now: Date.now() };
    const fault = findSignatureFault(seen, expected);
    if (fault === null) script(seen, res);
    else sendJson(res, { message: fault }, 403);
  };
}

/** Starts an upstream that responds as Bedrock does to one way of logging in, and returns its settings. */
async function startBedrock(t: TestContext, login: Login, script: Script) {
  if (login === "key") {
    const upstream = await startUpstream(t, script);
    const { path } = writeKeyFile(t, upstream.baseUrl, "bedrock-api-key-4711");
    return {
      upstream,
      settings: { baseUrl: upstream.baseUrl, keySource: { file: path }, apis: ["bedrock"] },
    };
  }
  const upstream = await startUpstream(t, verifying(script));
  const keySource = { command: ["/bin/echo", PRINTED_KEYS] };
  const signed = { auth: "sigv4", region: "eu-west-1", apis: ["bedrock"] };
  return { upstream, settings: { baseUrl: upstream.baseUrl, keySource, ...signed } };
}

/** How tollkeeper logs in. */
const LOGINS = ["key", "signature"] as const;
type Login = (typeof LOGINS)[number];

const countsOf = ({ input_uncached: input, cache_read: read, cache_write: write, output }: Tokens) => [
  input,
  read,
  write,
  output,
];

for (const login of LOGINS) {
  test(`${SDKS.package}@${SDKS.version} and AWS's own SDK work through tollkeeper with a ${login}, and the ledger has what was billed`, async (t) => {
    const installed = await installLibrary(t, SDKS);
    if (installed === null) return;
    const { script, books } = billedAsBedrock();
    const { upstream, settings: bedrock } = await startBedrock(t, login, script);
    const daemon = await startDaemon(t, { config: { upstreams: { bedrock } } });
    const { toolHome, command } = installed;
    const env = { BASE_URL: `${daemon.url}/t/zed`, MODEL, ARN };
    const { code, stdout, stderr } = await runBounded(t, command, {
      ...toolHome,
      env: { ...toolHome.env, ...env },
    });
    assert.equal(stdout, PRINTED.repeat(2), stderr);
    assert.equal(code, 0, stderr);
    const records = await daemon.ledger();
    const final = records.flatMap(({ usage, tokens }) =>
      usage === "final" && tokens !== null ? [tokens] : [],
    );
    assert.deepEqual(final.map(countsOf), books);
    assert.deepEqual(
      records
        .filter(({ usage }) => usage !== "final")
        .map(({ error_type: type, usage }) => `${usage} ${type}`),
      Array.from({ length: 2 }, () => [
        "partial modelStreamErrorException",
        "none null",
        "absent ThrottlingException",
        "absent modelStreamErrorException",
      ]).flat(),
    );
    const sent = upstream.seen.map(({ headers }) => headers);
    assert.doesNotMatch(JSON.stringify([records, sent, daemon.stderr()]), /AKIDLOCAL|local-se/);
    assert.doesNotMatch(JSON.stringify([records, daemon.stderr()]), /AWS4-HMAC|(?:secret|token)\+4711/);
  });

  test(`claude@${CLAUDE_CODE.version} asks Bedrock through tollkeeper with a ${login}, and shows a refusal after asking once`, async (t) => {
    const claude = await installTool(t, CLAUDE_CODE);
    if (claude === null) return;
    const { script, books } = billedAsBedrock();
    const { upstream, settings: bedrock } = await startBedrock(t, login, script);
    const groups = { none: { models: ["*haiku*"] } };
    const config = { upstreams: { bedrock }, groups, tools: { limited: { group: "none" } } };
    const daemon = await startDaemon(t, { config });
    const ask = (mark: string) => {
      Object.assign(claude.env, SETTINGS, { ANTHROPIC_BEDROCK_BASE_URL: daemon.url + mark });
      return claude.run("-p", "hello");
    };
    assert.match((await ask("")).stdout, /Good morning/);
    assert.match((await ask("/t/limited")).stdout, /402 tollkeeper: group none does not allow the model/);
    assert.deepEqual(
      upstream.seen.map(({ url }) => url),
      [ASKED],
    );
    const [record, ...refused] = await daemon.ledger();
    assert.deepEqual([record?.tool, record?.tokens === null], ["claude-code", false]);
    assert.deepEqual(record?.tokens && countsOf(record.tokens), books[0]);
    // It also asks for older models, each once.
    const asked = refused.map((one) => `${one.route} ${one.model_requested}`);
    assert.equal(new Set(asked).size, asked.length);
  });
}

test(`claude@${CLAUDE_CODE.version} is connected to Bedrock by its settings, answers, and is disconnected without a trace`, async (t) => {
  const claude = await installTool(t, CLAUDE_CODE);
  if (claude === null) return;
  claude.configure(".claude/settings.json", OWN_SETTINGS);
  const file = join(claude.home, ".claude", "settings.json");
  const { script, books } = billedAsBedrock();
  const { upstream, settings: bedrock } = await startBedrock(t, "signature", script);
  const daemon = await startDaemon(t, { config: { upstreams: { bedrock } } });
  await expectSuccess(runTollkeeper(t, daemon, claude, "connect", "claude-code", "--yes"));
  assert.match((await claude.run("-p", "hello")).stdout, /Good morning/);
  assert.deepEqual(
    upstream.seen.map(({ url }) => url.replace(/^\/model\/eu\./, "/model/us.")),
    [ASKED],
  );
  const [record] = await daemon.ledger();
  assert.deepEqual([record?.tool, record?.tool_by], ["claude-code", "path"]);
  assert.deepEqual(record?.tokens && countsOf(record.tokens), books[0]);
  await expectSuccess(runTollkeeper(t, daemon, claude, "disconnect", "claude-code", "--yes"));
  assert.equal(readFileSync(file, "utf8"), OWN_SETTINGS);
});
