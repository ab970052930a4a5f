// How a key for Amazon Bedrock is tested, which has no list of models where models are asked. The responses are those that AWS documents,
// and users of other clients report.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createUpstream, defaultConfig, type Upstream } from "../../../src/core/config/config.ts";
import { AwsKeys } from "../../../src/core/secrets/aws-keys.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { fetchModels, KeyCheckFailure } from "../../../src/proxy/upstream/fetch-models.ts";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { sendJson, startUpstream, type Script } from "../../helpers/upstream/scripted-upstream.ts";
import { findSignatureFault } from "../../helpers/upstream/sigv4-verifier.ts";

const PATH = "/model/tollkeeper.key-test/converse";
const REGION = "eu-west-1";
const KEYS = {
  accessKeyId: "ASIASENTINEL47110",
  secretAccessKey: "sentinel/secret+4711/abcdefghijklmnopq",
  sessionToken: `sentinelToken//4711+${"IQoJb3JpZ2luX2Vj".repeat(9)}==`,
};

const exception = (type: string, status: number, body: object): Script => {
  return (_seen, res) => {
    res.setHeader("x-amzn-errortype", `${type}:http://internal.amazon.com/coral/`);
    sendJson(res, body, status);
  };
};

const NO_SUCH_MODEL = exception("ValidationException", 400, {
  message: "The provided model identifier is invalid.",
});
const notAllowed = (action: string) =>
  exception("AccessDeniedException", 403, {
    Message: `User: arn:aws:iam::123456789012:user/a is not authorized to perform: ${action} on resource: b`,
  });

async function open(t: TestContext, script: Script, settings: Partial<Upstream> = {}) {
  const server = await startUpstream(t, script);
  const upstream = {
    ...createUpstream("default", `${server.origin}/model`),
    apis: ["bedrock" as const],
    ...settings,
  };
  const check = (secret: Secret) => fetchModels(upstream, secret, defaultConfig.outbound);
  return { server, upstream, check };
}

test("an API key is accepted where Bedrock knows who asks: of a model that does not exist, or may not be asked", async (t) => {
  for (const script of [
    NO_SUCH_MODEL,
    exception("ResourceNotFoundException", 404, { message: "Could not resolve the foundation model" }),
    (_seen, res) => sendJson(res, { message: "The provided model identifier is invalid." }, 400),
    notAllowed("bedrock:InvokeModel"),
    (_seen, res) => sendJson(res, { output: {} }),
  ] as Script[]) {
    const { server, check } = await open(t, script);
    const key = sentinelKey();
    assert.equal((await check(new Secret(key))).models, null);
    const { method, url, headers } = server.seen[0] ?? assert.fail("nothing was asked");
    assert.deepEqual(
      [method, url, headers.authorization, headers["content-type"], server.seen.length],
      ["POST", PATH, `Bearer ${key}`, "application/json", 1],
    );
  }
});

test("a test signs its request as the daemon does, and fails with the words of AWS", async (t) => {
  const settings = { auth: "sigv4" as const, region: REGION };
  const { server, check } = await open(t, NO_SUCH_MODEL, settings);
  const keys = new AwsKeys(KEYS, null);
  await check(keys);
  const [seen] = server.seen;
  assert.ok(seen);
  const expected = { keys: KEYS, region: REGION, service: "bedrock", now: Date.now() };
  assert.equal(findSignatureFault(seen, expected), null);
  // AWS repeats the session token where a signature is wrong.
  server.respondWith(
    exception("InvalidSignatureException", 403, {
      message: `wrong: ${KEYS.sessionToken} ${KEYS.secretAccessKey}`,
    }),
  );
  const failure: unknown = await check(keys).catch((error: unknown) => error);
  assert.ok(failure instanceof KeyCheckFailure);
  assert.equal(failure.code, "refused");
  assert.match(failure.message, /responded with 403: wrong: \*+ \*+$/);
});

for (const [what, script, code, message] of [
  [
    "a key that Bedrock does not know",
    (_seen, res) =>
      sendJson(res, { Message: "Authentication failed: Please make sure your API Key is valid." }, 403),
    "refused",
    /^the key was rejected: .*\/model responded with 403: Authentication failed: Please make sure/,
  ],
  [
    "a key that has expired",
    exception("ExpiredTokenException", 403, {
      message: "The security token included in the request is expired",
    }),
    "refused",
    /403: The security token included in the request is expired$/,
  ],
  [
    "an account that forbids API keys",
    notAllowed("bedrock:CallWithBearerToken"),
    "refused",
    /bedrock:CallWithBearerToken/,
  ],
  [
    "a path that is not Bedrock's",
    exception("UnknownOperationException", 404, {}),
    "undecided",
    /key-test\/converse responded with 404: \{\}$/,
  ],
  [
    "too many requests",
    exception("ThrottlingException", 429, { message: "Too many requests" }),
    "undecided",
    /responded with 429: Too many requests$/,
  ],
  [
    "a web page",
    (_seen, res) => res.setHeader("content-type", "text/html").end("<html>"),
    "web_page",
    /key-test\/converse responded with a web page \(200\)/,
  ],
  ["something else", (_seen, res) => res.end("hello"), "undecided", /responded with 200: hello$/],
] as [string, Script, KeyCheckFailure["code"], RegExp][]) {
  test(`${what} is no acceptance of a key`, async (t) => {
    const { check } = await open(t, script);
    const failure: unknown = await check(new Secret(sentinelKey())).catch((error: unknown) => error);
    assert.ok(failure instanceof KeyCheckFailure);
    assert.equal(failure.code, code);
    assert.match(failure.message, message);
    assert.doesNotMatch(failure.hint ?? "", /\/v1/);
  });
}

test("key test and doctor use access keys that a command prints, and name no model", async (t) => {
  const server = await startUpstream(t, (seen, res) => {
    const expected = { keys: KEYS, region: REGION, service: "bedrock", now: Date.now() };
    const fault = findSignatureFault(seen, expected);
    if (fault === null) NO_SUCH_MODEL(seen, res);
    else exception("InvalidSignatureException", 403, { message: fault })(seen, res);
  });
  const file = join(scratchDirectory(t), "keys.json");
  const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken } = KEYS;
  writeFileSync(file, JSON.stringify({ Version: 1, AccessKeyId, SecretAccessKey, SessionToken }));
  const baseUrl = `${server.origin}/model`;
  const keySource = { command: ["/bin/cat", file] };
  const bedrock = { baseUrl, apis: ["bedrock"], auth: "sigv4", region: REGION, keySource };
  const { command } = prepareHome(t, { config: { upstreams: { default: bedrock } } });
  const { code, stdout, stderr } = await command("key", "test");
  assert.deepEqual([code, stdout], [0, `${baseUrl} accepts the key "default".\n`], stderr);
  const json = await command("key", "test", "--json");
  const { verdict, models } = parseJsonOutput(json.stdout) as Record<string, unknown>;
  assert.deepEqual([verdict, models], ["accepted", null]);
  const doctor = await command("doctor");
  assert.match(doctor.stdout, /accepts key "default": connected in \d+ ms, response in \d+ ms/);
  for (const { url } of server.seen) assert.equal(url, PATH);
  const all = [stdout, stderr, json.stdout, doctor.stdout, doctor.stderr].join("\n");
  assert.ok(!all.includes(SecretAccessKey) && !all.includes(SessionToken));
});
