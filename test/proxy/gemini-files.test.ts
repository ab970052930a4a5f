// Google's files: the resumable upload, whose next step stays with us, and what is done to a file. With real sockets, before the sandbox and
// before an upstream that answers as Google does.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { openSandbox } from "../sandbox/sandbox-client.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { startWithStored } from "../helpers/gate/gate-with-stored.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { useConfig, startGateWithUpstreams } from "../helpers/gate/gate-with-upstreams.ts";
import { startGate, type GateOptions, type TestGate } from "../helpers/gate/gate.ts";
import { sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const FILES = "/v1beta/files";
const UPLOAD = `/upload${FILES}`;
const UPLOAD_ID = "ABPtcPq-secret_9";

/** As `@google/genai` 2.32 begins an upload. */
const START = {
  "content-type": "application/json",
  "x-goog-api-key": "dummy",
  "x-goog-upload-protocol": "resumable",
  "x-goog-upload-command": "start",
  "x-goog-upload-header-content-length": "200000",
  "x-goog-upload-header-content-type": "video/mp4",
};

/** Returns a script that begins each upload with these headers, and ends it with a file. */
function uploadTo(link: (host: string) => Record<string, string>): Script {
  return ({ headers }, res) => {
    if (headers["x-goog-upload-command"] === "start") {
      res.writeHead(200, { "content-type": "text/plain", "content-length": 0, ...link(headers.host ?? "") });
      res.end();
    } else {
      res.setHeader("x-goog-upload-status", "final");
      sendJson(res, { file: { name: "files/abc-1", uri: `https://${headers.host}/v1beta/files/abc-1` } });
    }
  };
}

const query = `?upload_id=${UPLOAD_ID}&upload_protocol=resumable`;
const respondAsGoogle = uploadTo((host) => ({
  "x-goog-upload-status": "active",
  "x-goog-upload-url": `https://${host}${UPLOAD}${query}`,
  "X-Goog-Upload-Control-URL": `https://${host}${UPLOAD}${query}`,
}));

function start(t: TestContext, script: Script, options: GateOptions = {}) {
  return startGateWithUpstream(t, script, {
    ...options,
    upstream: { apis: ["gemini"], ...options.upstream },
  });
}

async function begin(gate: TestGate, path = UPLOAD, headers: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify({ file: { displayName: "film" } });
  const response = await fetch(gate.url + path, { method: "POST", headers: { ...START, ...headers }, body });
  assert.equal(await response.text(), "");
  return response;
}

function finish(url: string, body: Buffer | string, headers: Record<string, string> = {}) {
  const step = { "x-goog-upload-offset": "0", "x-goog-upload-command": "upload, finalize" };
  return fetch(url, {
    method: "POST",
    headers: { ...step, ...headers },
    body: new Uint8Array(Buffer.from(body)),
  });
}

test("the next step of an upload comes to us, below the tool's name and with the client's host, and no log has its id", async (t) => {
  const { gate, upstream } = await start(t, respondAsGoogle);
  const response = await begin(gate, `/t/zed${UPLOAD}`);
  const url = response.headers.get("x-goog-upload-url") ?? "";
  assert.equal(url, `${gate.url}/t/zed${UPLOAD}${query}`);
  assert.equal(response.headers.get("x-goog-upload-control-url"), url);
  assert.equal(response.headers.get("x-goog-upload-status"), "active");
  const bytes = randomBytes(200_000);
  const ended = await finish(url, bytes);
  const { file } = (await ended.json()) as { file: { name: string; uri: string } };
  const host = new URL(upstream.baseUrl).host;
  assert.deepEqual(file, { name: "files/abc-1", uri: `https://${host}/v1beta/files/abc-1` });
  assert.equal(ended.headers.get("x-goog-upload-status"), "final");
  const [first, second] = upstream.seen;
  assert.deepEqual([first?.url, second?.url], [UPLOAD, UPLOAD + query]);
  assert.equal(first?.headers["x-goog-upload-header-content-type"], "video/mp4");
  assert.ok(second?.body.equals(bytes));
  const records = gate.ledger.records.map((one) => [
    one.tool,
    one.route,
    one.spend,
    one.usage,
    one.response_id,
  ]);
  assert.deepEqual(records, [
    ["zed", UPLOAD, "never", "none", null],
    ["zed", UPLOAD, "never", "none", "abc-1"],
  ]);
  assert.deepEqual(
    gate.ledger.records.map(({ flags, outcome }) => [outcome, flags]),
    [
      ["completed", []],
      ["completed", []],
    ],
  );
  assert.doesNotMatch(JSON.stringify([gate.ledger.records, gate.log]), new RegExp(UPLOAD_ID));
});

for (const [link, expected] of [
  ["https://upload.example.com/base/upload/v1beta/files?upload_id=1", `${UPLOAD}?upload_id=1`],
  ["https://generativelanguage.googleapis.com/upload/v1/files?upload_id=1", "/upload/v1/files?upload_id=1"],
  ["https://example.com/other?upload_id=1", null],
  ["https://example.com/upload/v1beta/models/x:generateContent", null],
  ["/upload/v1beta/files?upload_id=1", null],
  ["javascript:alert(1)", null],
] as const)
  test(`an upload that is to go on at ${link} ${expected === null ? "cannot" : "goes on at ours"}`, async (t) => {
    const { gate } = await start(
      t,
      uploadTo(() => ({ "x-goog-upload-url": link })),
    );
    const url = (await begin(gate)).headers.get("x-goog-upload-url");
    assert.equal(url, expected === null ? null : gate.url + expected);
  });

test("a redirect to the bytes of a file stays with us, and any other is passed on", async (t) => {
  const { gate, upstream } = await start(t, ({ url }, res) => {
    const isFirst = url.startsWith(FILES);
    const to = url.includes("other") ? "https://example.com/x" : `https://g.example/download${url}`;
    res.writeHead(isFirst ? 302 : 200, isFirst ? { location: to } : { "content-type": "video/mp4" });
    res.end("bytes");
  });
  const ask = (path: string) => fetch(gate.url + path, { redirect: "manual" });
  const first = await ask(`${FILES}/abc-1:download?alt=media`);
  assert.equal(first.headers.get("location"), `${gate.url}/download${FILES}/abc-1:download?alt=media`);
  assert.equal(await (await fetch(first.headers.get("location") ?? "")).text(), "bytes");
  const other = await ask(`${FILES}/other%3Adownload`);
  assert.equal(other.headers.get("location"), "https://example.com/x");
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    [
      `${FILES}/abc-1:download?alt=media`,
      `/download${FILES}/abc-1:download?alt=media`,
      `${FILES}/other%3Adownload`,
    ],
  );
});

test("bytes of any type, and none at all, are taken with a header of an upload only, and never from a page", async (t) => {
  const listen = { ...defaultConfig.listen, allowedOrigins: ["https://page.example"] };
  const { gate, upstream } = await start(t, respondAsGoogle, { config: { listen } });
  const url = gate.url + UPLOAD + query;
  const ask = async (headers: Record<string, string>, body: string) =>
    (await fetch(url, { method: "POST", headers, body })).status;
  assert.equal(await ask({ "content-type": "text/plain" }, "x"), 415);
  assert.equal(await ask({ "content-type": "multipart/form-data; boundary=x" }, "x"), 415);
  assert.equal(await ask({ "content-type": "text/plain", "x-goog-upload-command": "upload" }, "x"), 200);
  assert.equal(
    await ask(
      { "content-type": "text/plain", "x-goog-upload-command": "upload", origin: "https://page.example" },
      "x",
    ),
    403,
  );
  const site = { "sec-fetch-site": "same-site", "x-goog-upload-command": "upload" };
  assert.equal(await ask(site, "x"), 403);
  const empty = await fetch(url, { method: "POST", headers: { "x-goog-upload-command": "query" } });
  assert.equal(empty.status, 200);
  assert.equal(upstream.seen.length, 2);
});

test("paths of files that a server could read in two ways have no route", async (t) => {
  const { gate, upstream } = await start(t, respondAsGoogle);
  for (const path of [
    `${FILES}/a%2Fb`,
    `${FILES}/a%2e%2e`,
    `${FILES}/..`,
    `${FILES}/a/../b`,
    `${FILES}/a:download:download`,
    `${FILES}/a:delete`,
    `${FILES}/a%3Bx`,
    `${FILES}/a;x`,
    `/download${FILES}/a`,
    `/download${FILES}`,
    `${UPLOAD}/a`,
    `/v1beta/projects/p/locations/l/files/a`,
    `/upload/v1beta/cachedContents`,
    `/upload${UPLOAD}`,
  ]) {
    const head = [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${gate.port}`];
    const { status, text } = await exchangeRaw(t, gate.port, head);
    assert.equal(status, 404, path);
    assert.match(text, /"status":"NOT_FOUND"/);
  }
  assert.equal(upstream.seen.length, 0);
});

test("an upload through the sandbox in two pieces, and its file listed, fetched, downloaded and deleted", async (t) => {
  const sandbox = await openSandbox(t);
  const gate = await startGate(t, sandbox.baseUrl, { upstream: { apis: ["gemini"] } });
  gate.keys.set({ name: gate.upstream.key, origin: gate.upstream.origin }, sandbox.keys[0]?.secret ?? "");
  const url = (await begin(gate)).headers.get("x-goog-upload-url") ?? "";
  assert.ok(url.startsWith(`${gate.url}${UPLOAD}?upload_id=`), url);
  const part = await finish(url, "first ", { "x-goog-upload-command": "upload" });
  assert.equal(part.headers.get("x-goog-upload-status"), "active");
  const ended = await finish(url, "second", { "x-goog-upload-offset": "6" });
  const { file } = (await ended.json()) as { file: { name: string; sizeBytes: string; mimeType: string } };
  assert.deepEqual([file.sizeBytes, file.mimeType], ["12", "video/mp4"]);
  const own = `${gate.url}/v1beta/${file.name}`;
  assert.deepEqual(await (await fetch(own)).json(), file);
  assert.deepEqual(await (await fetch(`${gate.url}${FILES}?pageSize=10`)).json(), { files: [file] });
  assert.equal(await (await fetch(`${own}:download?alt=media`)).text(), "first second");
  assert.equal((await fetch(own, { method: "DELETE" })).status, 200);
  assert.equal((await fetch(own)).status, 403);
  assert.equal((await finish(url, "x")).status, 404);
});

test("/v1/files is Google's for its clients, and the others' for all others", async (t) => {
  const { gate } = await startGateWithUpstreams(t, {
    openai: { script: (_seen, res) => sendJson(res, { from: "openai" }) },
    google: { script: (_seen, res) => sendJson(res, { from: "google" }), settings: { apis: ["gemini"] } },
  });
  const ask = async (path: string, headers: Record<string, string> = {}) =>
    ((await (await fetch(gate.url + path, { headers })).json()) as { from: string }).from;
  const google = { "x-goog-api-key": "dummy" };
  for (const path of ["/v1/files", "/v1/files/abc-1"]) {
    assert.equal(await ask(path, google), "google", path);
    assert.equal(await ask(path), "openai", path);
  }
  assert.equal(await ask(FILES), "google");
});

/** Says whose file it is. */
const keeperOf =
  (from: string): Script =>
  ({ method }, res) =>
    sendJson(res, method === "POST" ? { file: { name: `files/${from}` } } : { from });

test("a file is fetched where it was uploaded", async (t) => {
  const { gate } = await startWithStored(t, { a: keeperOf("a-1"), b: keeperOf("b-1") });
  const { upstreams } = gate.gate.settings.config;
  useConfig(gate, {
    upstreams: Object.fromEntries(
      Object.entries(upstreams).map(([name, one]) => [name, { ...one, apis: ["gemini" as const] }]),
    ),
  });
  const toB = { codex: { key: null, group: null, upstreams: ["b"], aliases: {}, budgets: [], brake: null } };
  useConfig(gate, { tools: toB });
  await (await finish(`${gate.url}/t/codex${UPLOAD}${query}`, "x")).text();
  useConfig(gate, { tools: {} });
  const fetched = await fetch(`${gate.url}/t/codex${FILES}/b-1`);
  assert.deepEqual(await fetched.json(), { from: "b-1" });
});

test("a deletion may have a body of JSON, which passes whole, and the connection serves the next request", async (t) => {
  const { gate, upstream } = await start(t, (_seen, res) => sendJson(res, {}));
  const json = { "content-type": "application/json" };
  for (const [headers, body, expected] of [
    [json, "{}", 200],
    [json, `{"a":"${"x".repeat(100_000)}"}`, 200],
    [{}, "", 200],
    [{ "content-type": "text/plain" }, "{}", 415],
    [{ ...json, origin: "https://evil.example" }, "{}", 403],
  ] as const) {
    const init = { method: "DELETE", headers, ...(body !== "" && { body }) };
    assert.equal((await fetch(`${gate.url}${FILES}/abc-1`, init)).status, expected);
    if (expected === 200) assert.equal(upstream.seen.at(-1)?.body.toString(), body);
  }
  assert.deepEqual(
    upstream.seen.map(({ method, url }) => `${method} ${url}`),
    Array.from({ length: 3 }, () => `DELETE ${FILES}/abc-1`),
  );
  const get = [
    `GET ${FILES}/abc-1 HTTP/1.1`,
    `Host: 127.0.0.1:${gate.port}`,
    "Content-Type: application/json",
  ];
  assert.equal((await exchangeRaw(t, gate.port, get, "{}")).status, 400);
});
