// Setup for Amazon Bedrock, whose real host is reached through a proxy that leads to an upstream of this test.
import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { parse } from "jsonc-parser";
import { noKeyring } from "../../helpers/keychain/keychain-session.ts";
import { fakePrograms } from "../../helpers/process/fake-programs.ts";
import { noTerminal } from "../../helpers/process/terminal.ts";
import { startConnectProxy, startRemoteUpstream } from "../../helpers/upstream/connect-proxy.ts";
import { sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { findSignatureFault, type KnownKeys } from "../../helpers/upstream/sigv4-verifier.ts";
import { prepareSetup, setupWith, writeConfiguration } from "./setup-home.ts";

const skip = noKeyring || noTerminal;

const REGION = "eu-west-1";
const HOST = `bedrock-runtime.${REGION}.amazonaws.com`;
const BASE_URL = `https://${HOST}/model`;
const MENU = "1 to 8, a name or a base URL: ";
const HAS_KEY = "Do you have an API key of Bedrock? [Y/n] ";
const COMMAND = "Command [aws configure export-credentials --format process]: ";
const PASTE = "is not shown: ";
const CONNECT = "Connect them? Each change is shown first, and made only if you confirm it. [Y/n] ";
const USE_IT = "Use this command all the same? Answer no to choose the service again. [y/N] ";

const KEYS: KnownKeys = {
  accessKeyId: "ASIASENTINEL47110",
  secretAccessKey: "sentinel/secret+4711/abcdefghijklmnopq",
  sessionToken: null,
};

/** Prepares an account that reaches Bedrock's host, which knows one API key and the access keys above. */
async function prepareBedrock(t: TestContext, env: Record<string, string> = {}) {
  const machine = await prepareSetup(t, env);
  const service = await startUpstream(t, (seen, res) => {
    const isKey = seen.headers.authorization === `Bearer ${machine.key}`;
    const expected = { keys: KEYS, region: REGION, service: "bedrock", now: Date.now() };
    if (isKey || findSignatureFault(seen, expected) === null) {
      res.setHeader("x-amzn-errortype", "ValidationException:http://internal.amazon.com/coral/");
      return sendJson(res, { message: "The provided model identifier is invalid." }, 400);
    }
    return sendJson(res, { Message: "Authentication failed: Please make sure your API Key is valid." }, 403);
  });
  const remote = await startRemoteUpstream(t, service, [HOST, HOST.replace("runtime", "runtime-fips")]);
  const proxy = await startConnectProxy(t, { to: remote.port });
  const outbound = { httpsProxy: proxy.url, caFile: remote.certificate.file };
  writeConfiguration(machine, JSON.stringify({ outbound }));
  const written = () => {
    const text = readFileSync(machine.configFile, "utf8");
    return (parse(text) as { upstreams: { default: unknown } }).upstreams.default;
  };
  return { machine, service, written };
}

/** Writes a program that prints the access keys, and returns its path. */
function keysProgram({ home }: { home: string }, name: string, keys: KnownKeys): string {
  const file = join(home, name);
  const printed = { Version: 1, AccessKeyId: keys.accessKeyId, SecretAccessKey: keys.secretAccessKey };
  writeFileSync(file, `#!/bin/sh\nprintf '%s' '${JSON.stringify(printed)}'\n`);
  chmodSync(file, 0o700);
  return file;
}

test(
  "setup asks for the region and the API key of Bedrock, and tries the key for nothing",
  { skip },
  async (t) => {
    const { machine, service, written } = await prepareBedrock(t, { AWS_REGION: "us-west-2" });
    const { code, text } = await machine.onTerminal(
      ["setup"],
      [
        [MENU, "bedrock\n"],
        ["AWS region [us-west-2]: ", "Ireland\n"],
        ["AWS region [us-west-2]: ", `${REGION}\n`],
        [HAS_KEY, "perhaps\n"],
        [HAS_KEY, "\n"],
        [PASTE, "ABSKsentinel-of-another-account\n"],
        [PASTE, `${machine.key}\n`],
        [CONNECT, "n\n"],
      ],
    );
    assert.equal(code, 0, text);
    assert.match(text, /The region must be a region of AWS, such as "eu-west-1"\./);
    assert.match(text, /error: the key was rejected: .* 403: Authentication failed: Please make sure/);
    assert.ok(text.includes(`${BASE_URL} accepts the key.\n`), text);
    assert.deepEqual(written(), { baseUrl: BASE_URL, apis: ["bedrock"] });
    assert.deepEqual(await machine.storedKeys(), [`default@https://${HOST}`]);
    for (const { url } of service.seen) assert.equal(url, "/model/tollkeeper.key-test/converse");
  },
);

test("a key that is pasted where setup asks whether there is one is taken", { skip }, async (t) => {
  const { machine, written } = await prepareBedrock(t, { AWS_DEFAULT_REGION: REGION });
  const { code, text } = await machine.onTerminal(
    ["setup"],
    [
      [MENU, `${BASE_URL}\n`],
      [HAS_KEY, `${machine.key}\n`],
      [CONNECT, "n\n"],
    ],
  );
  assert.equal(code, 0, text);
  assert.deepEqual(written(), { baseUrl: BASE_URL, apis: ["bedrock"] });
});

test(
  "without an API key, setup takes a command that prints access keys, and tries these",
  { skip },
  async (t) => {
    const { machine, written } = await prepareBedrock(t);
    const { secretAccessKey } = KEYS;
    const [right, wrong] = [
      keysProgram(machine, "right", KEYS),
      keysProgram(machine, "wrong", { ...KEYS, secretAccessKey: "another/secret+4711/abcdefghijklmnopq" }),
    ];
    const { code, text } = await machine.onTerminal(
      ["setup", "--base-url", BASE_URL],
      [
        [HAS_KEY, "n\n"],
        [COMMAND, "sh -c 'echo keys'\n"],
        [COMMAND, `${wrong}\n`],
        [USE_IT, "n\n"],
        [MENU, "6\n"],
        ["AWS region, such as us-east-1: ", `${REGION}\n`],
        [HAS_KEY, "n\n"],
        [COMMAND, "/bin/echo keys\n"],
        [USE_IT, "\n"],
        [MENU, "amazon\n"],
        ["AWS region, such as us-east-1: ", `${REGION}\n`],
        [HAS_KEY, "n\n"],
        [COMMAND, `${right}\n`],
        [CONNECT, "n\n"],
      ],
    );
    assert.equal(code, 0, text);
    assert.match(text, /Type only words without quotes, or name a script: no shell reads the command\./);
    assert.match(text, /error: the key was rejected: .* responded with 403: /);
    assert.match(text, /error: the key command did not print AWS access keys, which sign requests\n/);
    assert.ok(text.includes(`${BASE_URL} accepts the access keys.\n`), text);
    assert.ok(!text.includes(secretAccessKey) && !text.includes("another/secret"), text);
    const keySource = { command: [right] };
    assert.deepEqual(written(), { baseUrl: BASE_URL, auth: "sigv4", apis: ["bedrock"], keySource });
    assert.deepEqual(await machine.storedKeys(), []);

    const again = await machine.onTerminal(
      ["setup"],
      [
        [`Requests go to ${BASE_URL}. Keep that? [Y/n] `, "\n"],
        [CONNECT, "n\n"],
      ],
    );
    assert.equal(again.code, 0, again.text);
    assert.deepEqual(written(), { baseUrl: BASE_URL, auth: "sigv4", apis: ["bedrock"], keySource });
  },
);

/** As people paste them: from the console, from a shell, from AWS's own file, and behind a program. */
const PASTED_SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const PASTED = [
  "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
  `export AWS_SECRET_ACCESS_KEY=${PASTED_SECRET}`,
  `aws_secret_access_key = ${PASTED_SECRET}`,
  `echo ${PASTED_SECRET}`,
  "echo ABSKQmVkcm9ja0FQSUtleS1sentinel/4711+abcdef=",
];

const typedAt =
  (question: string) =>
  (line: string): [string, string] => [question, `${line}\n`];

test("access keys that are pasted are never a key or a command, and are not shown", { skip }, async (t) => {
  const { machine, service, written } = await prepareBedrock(t);
  const right = keysProgram(machine, "right", KEYS);
  const { code, text } = await machine.onTerminal(
    ["setup", "--base-url", BASE_URL],
    [
      ...[...PASTED.slice(0, 2), PASTED_SECRET].map(typedAt(HAS_KEY)),
      [HAS_KEY, "n\n"],
      ...PASTED.map(typedAt(COMMAND)),
      [COMMAND, `${right}\n`],
      [CONNECT, "n\n"],
    ],
  );
  assert.equal(code, 0, text);
  assert.equal(text.match(/Those look like access keys\. tollkeeper does not store them/g)?.length, 3, text);
  assert.equal(text.match(/That looks like a key\. Type a command/g)?.length, PASTED.length, text);
  assert.doesNotMatch(text, /wJalrXUtn|AKIAIOSFODNN7|ABSK/);
  const keySource = { command: [right] };
  assert.deepEqual(written(), { baseUrl: BASE_URL, auth: "sigv4", apis: ["bedrock"], keySource });
  assert.ok(service.seen.every(({ headers }) => !headers.authorization?.includes(PASTED_SECRET)));
});

test("the keys that the AWS CLI exports are proposed, and a script gives an API key", { skip }, async (t) => {
  const printed = { Version: 1, AccessKeyId: KEYS.accessKeyId, SecretAccessKey: KEYS.secretAccessKey };
  const argv = ["aws", "configure", "export-credentials", "--format", "process"];
  const { directory } = fakePrograms(t, {
    systemctl: [{ match: "*", code: 127 }],
    aws: [{ match: argv.slice(1).join(" "), stdout: JSON.stringify(printed) }],
  });
  const { machine, written } = await prepareBedrock(t, { PATH: `${directory}:${process.env["PATH"]}` });
  const { code, text } = await machine.onTerminal(
    ["setup", "--base-url", BASE_URL],
    [
      [HAS_KEY, "n\n"],
      [COMMAND, "\n"],
      [CONNECT, "n\n"],
    ],
  );
  assert.equal(code, 0, text);
  assert.deepEqual(written(), {
    baseUrl: BASE_URL,
    auth: "sigv4",
    apis: ["bedrock"],
    keySource: { command: argv },
  });
  const elsewhere = "https://bedrock-runtime-fips.eu-west-1.amazonaws.com/model";
  const refused = await machine.run(setupWith(elsewhere, "--force"), "ABSKsentinel-of-another-account");
  assert.equal(refused.code, 1);
  const scripted = await machine.run(setupWith(elsewhere), machine.key);
  assert.equal(scripted.code, 0, scripted.stderr);
  assert.deepEqual(written(), { baseUrl: elsewhere, apis: ["bedrock"] });
});
