// Requests to Amazon Bedrock that tollkeeper signs, with a real command that prints access keys, before an upstream that verifies each
// signature by AWS's documents.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createKeySources } from "../../src/adapters/key-sources.ts";
import { defaultConfig, type Upstream } from "../../src/core/config/config.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { rawClient } from "../helpers/client/raw-client.ts";
import { post, startGate, upstreamAt, type GateOptions } from "../helpers/gate/gate.ts";
import { ManualClock, MemoryKeys } from "../helpers/gate/memory.ts";
import { useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { respondAsBedrock } from "../helpers/upstream/bedrock-answers.ts";
import {
  sendJson,
  startUpstream,
  type Script,
  type SeenRequest,
} from "../helpers/upstream/scripted-upstream.ts";
import { findSignatureFault, type KnownKeys } from "../helpers/upstream/sigv4-verifier.ts";

const HOUR_MS = 3_600_000;
const MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const ARN = `arn:aws:bedrock:us-east-1:123456789012:inference-profile/${MODEL}`;
const BODY = { messages: [{ role: "user", content: [{ text: "grüße, good morning" }] }] };
const CONVERSE = `/model/${encodeURIComponent(MODEL)}/converse`;

/** Access keys as the command prints them at its n-th run. */
function keysOfRun(run: number): KnownKeys {
  return {
    accessKeyId: `ASIASENTINEL4711${run}`,
    secretAccessKey: `sentinel/secret+4711/${run}abcdefghijklmno`,
    sessionToken: `sentinelToken//4711+${run}/${"IQoJb3JpZ2luX2Vj".repeat(40)}==`,
  };
}

interface Signing {
  settings: Partial<Upstream>;
  runs(): number;
}

/** Returns an upstream's settings with a command that prints other access keys each time. Without `lifeMs` they do not expire. */
function signing(t: TestContext, region: string, expiresAt: number | null): Signing {
  const directory = scratchDirectory(t);
  const script = join(directory, "keys.sh");
  const { accessKeyId, secretAccessKey, sessionToken } = keysOfRun(0);
  const printed = {
    Version: 1,
    AccessKeyId: accessKeyId.replace(/0$/, "%s"),
    SecretAccessKey: secretAccessKey.replace("0abc", "%sabc"),
    SessionToken: sessionToken?.replace("+0/", "+%s/"),
    ...(expiresAt !== null && { Expiration: new Date(expiresAt).toISOString() }),
  };
  const runs = join(directory, "runs");
  writeFileSync(
    script,
    `echo run >> '${runs}'\nn=$(wc -l < '${runs}' | tr -d ' ')\nprintf '${JSON.stringify(printed)}' "$n" "$n" "$n"\n`,
    { mode: 0o700 },
  );
  return {
    settings: {
      apis: ["bedrock"],
      auth: "sigv4",
      region,
      keySource: { kind: "command", argv: ["/bin/sh", script], prints: "aws-keys" },
    },
    runs: () => readFileSync(runs, "utf8").split("\n").length - 1,
  };
}

/** The run of the command that printed the keys of a request. */
function runOf({ headers }: SeenRequest): number {
  return Number(/Credential=ASIASENTINEL4711(\d+)\//.exec(headers.authorization ?? "")?.[1]);
}

/** Responds as `script` does where the signature is right, with the keys of any run, and as AWS does where it is not. */
function verifying(region: string, now: () => number, script: Script): Script {
  return (seen, res) => {
    const keys = keysOfRun(runOf(seen));
    const fault = findSignatureFault(seen, { service: "bedrock", keys, region, now: now() });
    if (fault === null) return script(seen, res);
    res.setHeader("x-amzn-errortype", "InvalidSignatureException:http://internal.amazon.com/coral/");
    sendJson(res, { message: fault }, 403);
  };
}

async function open(t: TestContext, options: GateOptions & { expiresAt?: number; script?: Script } = {}) {
  const { settings, runs } = signing(t, "eu-west-1", options.expiresAt ?? null);
  const now = () => options.clock?.now() ?? Date.now();
  const script = verifying("eu-west-1", now, options.script ?? respondAsBedrock);
  const upstream = await startUpstream(t, script);
  const gate = await startGate(t, upstream.baseUrl, {
    ...options,
    upstream: settings,
    keyStore: createKeySources(new MemoryKeys()),
  });
  return { gate, upstream, runs, script };
}

async function assertOk(response: Response): Promise<void> {
  assert.equal(response.status, 200, await response.clone().text());
}

test("each way of asking a model is signed over its bytes, whatever spelling the model has", async (t) => {
  const { gate, upstream, runs } = await open(t);
  const paths = [MODEL, encodeURIComponent(MODEL), encodeURIComponent(ARN), "amazon.nova-lite-v1:0"].flatMap(
    (model) =>
      ["converse", "converse-stream", "invoke", "invoke-with-response-stream", "count-tokens"].map(
        (action) => `/model/${model}/${action}`,
      ),
  );
  for (const path of paths) await assertOk(await post(gate, path, BODY));
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    paths,
  );
  assert.deepEqual(
    new Set(upstream.seen.map(({ body }) => body.toString())),
    new Set([JSON.stringify(BODY)]),
  );
  assert.equal(runs(), 1);
  const [record] = gate.ledger.records;
  assert.deepEqual([record?.usage, record?.spend, record?.model_requested], ["final", "count", MODEL]);
});

test("nothing of a client's own signature reaches AWS, and AWS's own headers are signed", async (t) => {
  const { gate, upstream } = await open(t, { script: (_seen, res) => sendJson(res, {}) });
  const own = {
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIDCLIENT/20261130/us-east-1/bedrock/aws4_request, Signature=0",
    "x-amz-date": "20000101T000000Z",
    "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
    "x-amz-security-token": "client-token",
    "x-amzn-bedrock-trace": "ENABLED",
    "amz-sdk-invocation-id": "1",
  };
  await assertOk(await post(gate, `${CONVERSE}?X-Amz-Signature=client&a=b%20c&a=1`, BODY, own));
  const { rawHeaders, headers, url } = upstream.seen[0] as SeenRequest;
  assert.doesNotMatch(`${url} ${rawHeaders.join(" ")}`, /client|AKIDCLIENT|20000101|UNSIGNED/i);
  assert.match(
    headers.authorization ?? "",
    /SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-amzn-bedrock-trace, /,
  );
  for (const name of ["authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"])
    assert.equal(rawHeaders.filter((one) => one.toLowerCase() === name).length, 1, name);
});

test("a long body, one in chunks and one that is announced are each sent with their length, byte for byte", async (t) => {
  const { gate, upstream } = await open(t);
  const long = { ...BODY, system: [{ text: "x".repeat(700_000) }] };
  await assertOk(await post(gate, CONVERSE, long));
  const { port } = gate;
  const text = JSON.stringify(BODY);
  const chunked = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const req = request({ port, path: CONVERSE, method: "POST", headers }, (res) => resolve(res.statusCode));
    req.once("error", reject);
    req.write(text.slice(0, 10));
    setTimeout(() => req.end(text.slice(10)), 30);
  });
  assert.equal(chunked, 200);
  const client = await rawClient(t, port);
  client.write(
    `POST ${CONVERSE} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`,
  );
  setTimeout(() => client.socket.write(text), 30);
  assert.match(await client.closed, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  assert.deepEqual(
    upstream.seen.map(({ headers, body }) => [Number(headers["content-length"]), body.toString()]),
    [long, BODY, BODY].map((body) => [Buffer.byteLength(JSON.stringify(body)), JSON.stringify(body)]),
  );
});

test("what memory has no room for is refused before a key is read, and says which limit", async (t) => {
  const limits = { ...defaultConfig.limits, bufferBytes: 100_000 };
  const { gate, upstream } = await open(t);
  useConfig(gate, { limits });
  const refused = await post(gate, CONVERSE, { ...BODY, system: [{ text: "x".repeat(700_000) }] });
  assert.deepEqual([refused.status, refused.headers.get("x-tollkeeper-refusal")], [503, "buffer_full"]);
  assert.match(await refused.text(), /signed once its whole body is there, and .{0,4}limits\.bufferBytes/);
  assert.equal(upstream.seen.length, 0);
  assert.equal(gate.gate.bufferedBytes, 0);
  await assertOk(await post(gate, CONVERSE, BODY));
});

test("a client that leaves within its body has nothing signed or sent", async (t) => {
  const { gate, upstream } = await open(t);
  const client = await rawClient(t, gate.port);
  client.write(
    `POST ${CONVERSE} HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"messages":`,
  );
  setTimeout(() => client.socket.destroy(), 50);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "client", null]);
  assert.equal(upstream.seen.length, 0);
});

test("keys that expire are refreshed ahead, once for all requests, and a 403 for expired ones once more", async (t) => {
  const clock = new ManualClock();
  clock.wallMs = Date.now();
  const { gate, upstream, runs, script } = await open(t, { clock, expiresAt: clock.wallMs + HOUR_MS });
  await assertOk(await post(gate, CONVERSE, BODY));
  clock.advance(0.85 * HOUR_MS);
  await Promise.all(Array.from({ length: 10 }, async () => assertOk(await post(gate, CONVERSE, BODY))));
  await until(() => runs() === 2 && gate.keyring.states()[0]?.at === clock.now());
  await assertOk(await post(gate, CONVERSE, BODY));
  assert.equal(runOf(upstream.seen.at(-1) as SeenRequest), 2);
  upstream.respondWith((_seen, res) => {
    res.setHeader("x-amzn-errortype", "ExpiredTokenException:http://internal.amazon.com/coral/");
    sendJson(res, { message: "The security token included in the request is expired" }, 403);
  });
  clock.advance(11_000);
  for (let i = 0; i < 5; i += 1) assert.equal((await post(gate, CONVERSE, BODY)).status, 403);
  await until(() => runs() === 3);
  upstream.respondWith(script);
  await until(() => gate.keyring.states()[0]?.at === clock.now());
  await assertOk(await post(gate, CONVERSE, BODY));
  assert.equal(runOf(upstream.seen.at(-1) as SeenRequest), 3);
  assert.equal(runs(), 3);
});

/** Waits until this is so. */
async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !isSo(); i += 1) await delay(10);
  assert.ok(isSo(), "it took too long");
}

test("each upstream that is asked gets a signature of its own, and one without gets a key", async (t) => {
  const gate = await startGate(t, "http://127.0.0.1:9/v1", { keyStore: createKeySources(new MemoryKeys()) });
  const regions = ["eu-west-1", "us-east-1"] as const;
  const seen: string[] = [];
  const upstreams = await Promise.all(
    regions.map(async (region, at) => {
      const { settings } = signing(t, region, null);
      const last: Script =
        at === 0 ? (_seen, res) => sendJson(res, { message: "busy" }, 503) : respondAsBedrock;
      const script: Script = (asked, res) => {
        seen.push(`${region} ${asked.headers.host}`);
        last(asked, res);
      };
      const { baseUrl } = await startUpstream(t, verifying(region, Date.now, script));
      const fallback = at === 0 ? ["us-east-1"] : [];
      return [region, upstreamAt(baseUrl, { name: region, ...settings, fallback })] as const;
    }),
  );
  useConfig(gate, { upstreams: Object.fromEntries(upstreams) });
  const response = await post(gate, CONVERSE, BODY);
  await assertOk(response);
  assert.equal(response.headers.get("x-tollkeeper-attempts"), "eu-west-1;status=503, us-east-1;status=200");
  assert.deepEqual(
    seen.map((one) => one.split(" ")[0]),
    [...regions],
  );
});

test("an alias is signed as the path that is sent", async (t) => {
  const config = rulesForTools({ aliases: { fast: MODEL } });
  const { gate, upstream } = await open(t);
  useConfig(gate, { aliases: config.aliases });
  await assertOk(await post(gate, "/model/fast/converse", BODY));
  assert.equal(upstream.seen[0]?.url, CONVERSE);
});

test("a wrong clock is said once, and runs no command", async (t) => {
  const clock = new ManualClock();
  clock.wallMs = Date.now() - 12 * 60_000;
  const { settings, runs } = signing(t, "eu-west-1", null);
  const upstream = await startUpstream(t, verifying("eu-west-1", Date.now, respondAsBedrock));
  const options = { clock, upstream: settings, keyStore: createKeySources(new MemoryKeys()) };
  const gate = await startGate(t, upstream.baseUrl, options);
  for (let i = 0; i < 3; i += 1) assert.equal((await post(gate, CONVERSE, BODY)).status, 403);
  const said = gate.log.lines.filter((line) => line.includes("clock"));
  assert.equal(said.length, 1);
  assert.match(
    said[0] ?? "",
    /^warn .*this machine's clock is 12 minutes behind the upstream's \{.*"set this machine's clock"/,
  );
  assert.equal(runs(), 1);
});

test("AWS explains a wrong signature with the session token, which no client sees", async (t) => {
  const { gate } = await open(t, {
    script: (seen, res) => {
      res.setHeader("x-amzn-errortype", "InvalidSignatureException");
      res.setHeader("x-echo", seen.headers["x-amz-security-token"] ?? "");
      const canonical = seen.rawHeaders.join("\n");
      sendJson(res, { message: `The Canonical String should have been '${canonical}'` }, 403);
    },
  });
  const response = await post(gate, CONVERSE, BODY);
  const text = `${await response.text()} ${response.headers.get("x-echo")}`;
  assert.equal(response.status, 403);
  assert.doesNotMatch(text, /sentinel/);
  assert.match(text, /\*{40}/);
});
