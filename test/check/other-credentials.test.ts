// What check says of upstreams whose requests are signed, or carry the keys of tools: by the real command, and of a tollkeeper with defects.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { IsolatedProxy } from "../../src/check/guarantee.ts";
import { runGuarantees } from "../../src/check/guarantees.ts";
import { OWN_KEYS, SIGNED } from "../../src/check/guarantees/other-credentials.ts";
import { startRecordingUpstream } from "../../src/check/recording-upstream.ts";
import type { Upstream } from "../../src/core/config/config.ts";
import { AwsKeys } from "../../src/core/secrets/aws-keys.ts";
import { prepareHome } from "../helpers/daemon/daemon.ts";
import { parseJsonOutput } from "../helpers/daemon/json-output.ts";
import { toolSettings } from "../helpers/config/tool-settings.ts";
import { startGate, TEST_KEY, upstreamAt } from "../helpers/gate/gate.ts";
import { createToken } from "../helpers/tools/create-token.ts";
import type { CheckReport } from "../../src/cli/commands/check.ts";
import type { Defect } from "./defective-path.ts";
import { replacing, startRelay } from "./tampering-relay.ts";

const SIGNING = {
  baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com/model",
  apis: ["bedrock"],
  auth: "sigv4",
  keySource: { command: ["/nowhere/prints-keys"] },
};
const OWN = { baseUrl: "https://api.invalid/v1", credential: "client" };

const LISTED = [
  ["a signed upstream alone", { bedrock: SIGNING }, ["signed requests"]],
  [
    "one behind a gateway, with a model list",
    {
      bedrock: {
        ...SIGNING,
        baseUrl: "https://gateway.invalid/model",
        region: "us-east-1",
        models: ["nova*"],
      },
    },
    ["signed requests"],
  ],
  ["a tool's own key alone", { own: OWN }, ["own keys"]],
  [
    "both beside a stored key",
    {
      default: { baseUrl: "https://api.invalid/v1", keySource: { file: "/nowhere/key" } },
      bedrock: SIGNING,
      google: { ...OWN, baseUrl: "https://google.invalid/v1beta", apis: ["gemini"] },
      chat: { ...OWN, apis: ["chat"], models: ["gpt-*"] },
    },
    ["signed requests", "own keys"],
  ],
] as const;

for (const [what, upstreams, expected] of LISTED) {
  test(`check passes with ${what}, and runs no command`, async (t) => {
    const { command } = prepareHome(t, { config: { upstreams } });
    const { code, stdout, stderr } = await command("check", "--json");
    const { checks } = parseJsonOutput(stdout) as CheckReport;
    assert.deepEqual(
      checks.filter(({ isOk }) => !isOk),
      [],
    );
    assert.deepEqual([code, stderr], [0, ""]);
    const added = checks.map(({ name }) => name).filter((name) => /signed requests|own keys/.test(name));
    assert.deepEqual(added, expected);
  });
}

test("check says nothing of signatures and own keys where no upstream has them", async (t) => {
  const { command } = prepareHome(t, {});
  assert.doesNotMatch((await command("check")).stdout, /signed requests|own keys/);
});

const KEYS = {
  accessKeyId: "ASIASENTINEL47110",
  secretAccessKey: "sentinel/secret+4711/abcdefghijklmnopq",
  sessionToken: "sentinelToken//4711+IQoJb3JpZ2luX2Vj",
};

/** Returns what the guarantees say of a gate between two relays. */
async function verify(t: TestContext, kind: "signed" | "own", { front = {}, back = {} }: Defect) {
  const upstream = await startRecordingUpstream();
  t.after(() => upstream.close());
  const origin = `http://127.0.0.1:${await startRelay(t, () => upstream.port, back)}`;
  const settings: Partial<Upstream> =
    kind === "signed"
      ? { apis: ["bedrock"], auth: "sigv4", region: "eu-west-1" }
      : { apis: ["messages"], credential: "client" };
  const gate = await startGate(t, `${origin}/v1`, {
    config: {
      upstreams: { one: upstreamAt(`${origin}/v1`, { ...settings, name: "one" }) },
      tools: { one: toolSettings({ upstreams: ["one"] }) },
    },
    keyStore: { read: () => Promise.resolve(new AwsKeys(KEYS, null)) },
  });
  const { token, hash } = createToken("one");
  gate.tokenGuard.lease("one", hash);
  let port = 0;
  // The client addresses the relay, which is not a host of the gate.
  const up = (text: string, sockets: Parameters<NonNullable<(typeof front)["up"]>>[1]) =>
    (front.up?.(text, sockets) ?? text).replace(`host: 127.0.0.1:${port}`, `host: 127.0.0.1:${gate.port}`);
  port = await startRelay(t, () => gate.port, { ...front, up });
  const { config } = gate.gate.settings;
  const records = () => Promise.resolve([...gate.ledger.records]);
  const proxy = { upstream, config, keyNamed: () => TEST_KEY, accessKeys: KEYS, token, records };
  const guarantee = kind === "signed" ? SIGNED : OWN_KEYS;
  // The host of the upstream is part of what is signed.
  const [result] = await runGuarantees<IsolatedProxy>([guarantee], port, proxy, 5000);
  return result ?? assert.fail("no result");
}

test("a correct tollkeeper violates neither guarantee", async (t) => {
  for (const kind of ["signed", "own"] as const) assert.equal((await verify(t, kind, {})).fault, null);
});

const DEFECTS: [title: string, kind: "signed" | "own", defect: Defect, fault: RegExp][] = [
  [
    "signs another body",
    "signed",
    { back: { up: replacing("x-amz-content-sha256: ", "x-amz-content-sha256: 0") } },
    /^one: another body$/,
  ],
  [
    "signs for another path",
    "signed",
    { back: { up: replacing("a=%2F", "a=%2f%2F") } },
    /^one: the signature does not match/,
  ],
  [
    "signs nothing",
    "signed",
    { back: { up: replacing(/authorization: [^\r]*\r\n/, "") } },
    /^one: no signature$/,
  ],
  [
    "sends the secret access key",
    "signed",
    { back: { up: replacing("\r\nhost:", `\r\nx-more: ${KEYS.secretAccessKey}\r\nhost:`) } },
    /^one: the secret access key reached the upstream$/,
  ],
  [
    "forwards the client's cookie",
    "signed",
    {
      front: { up: replacing("\r\ncookie:", "\r\nx-kept:") },
      back: { up: replacing("\r\nx-kept:", "\r\ncookie:") },
    },
    /^one: what the client signed reached the upstream$/,
  ],
  [
    "passes on the session token that AWS repeats",
    "signed",
    { front: { down: replacing("x-echo: *", `x-echo: ${KEYS.sessionToken}`) } },
    /^one: the session token reached the client$/,
  ],
  [
    "changes a tool's own key",
    "own",
    { back: { up: replacing("x-api-key: own-key-", "x-api-key: another-") } },
    /^one: x-api-key is not the key that the tool sent$/,
  ],
  [
    "sends a stored key, too",
    "own",
    { back: { up: replacing("\r\nhost:", `\r\nx-more: ${TEST_KEY}\r\nhost:`) } },
    /^one: a stored key reached the upstream$/,
  ],
  [
    "forwards the cookie beside a tool's own key",
    "own",
    {
      front: { up: replacing("\r\ncookie:", "\r\nx-kept:") },
      back: { up: replacing("\r\nx-kept:", "\r\ncookie:") },
    },
    /^one: cookie is sent in addition to x-api-key$/,
  ],
  [
    "answers 401 where the tool has no key",
    "own",
    { front: { down: replacing(/^HTTP\/1\.1 4\d\d /, "HTTP/1.1 401 ") } },
    /^one: a refusal other than 401 was expected, got 401/,
  ],
];

for (const [title, kind, defect, fault] of DEFECTS) {
  test(`a tollkeeper that ${title} violates the guarantee`, async (t) => {
    const result = await verify(t, kind, defect);
    assert.match(result.fault ?? "", fault);
    assert.match(result.remedy ?? "", /^.*; stop the daemon until this is fixed, and report it with/);
  });
}
