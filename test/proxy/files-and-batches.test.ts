// Files, uploads and batches: which upstream gets them, with which credential, and in whose words they are refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startGateWithUpstreams, useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { onlyTo, sendAs, service, startWithStored } from "../helpers/gate/gate-with-stored.ts";
import { sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const VERSION = { "anthropic-version": "2023-06-01" };

/** Says which upstream responds, and which credential it got. */
const named =
  (from: string): Script =>
  ({ headers }, res) =>
    sendJson(res, { from, by: headers.authorization === undefined ? "x-api-key" : "bearer" });

const form = () => {
  const body = new FormData();
  body.set("file", new Blob(["hello"]), "a.txt");
  return body;
};

test("files go to the API that the client speaks, with its credential, and batches to the API whose path they have", async (t) => {
  const { gate } = await startGateWithUpstreams(t, {
    openai: { script: named("openai"), settings: { apis: ["responses", "chat"] } },
    anthropic: { script: named("anthropic"), settings: { apis: ["messages"] } },
  });
  const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const isForm = method === "POST" && path === "/files";
    const body = isForm ? form() : method === "POST" ? "{}" : null;
    const type = body === "{}" ? { "content-type": "application/json" } : {};
    const response = await fetch(`${gate.url}/v1${path}`, { method, body, headers: { ...type, ...headers } });
    return Object.values((await response.json()) as object).join(" ");
  };
  for (const [method, path] of [
    ["POST", "/files"],
    ["GET", "/files"],
    ["GET", "/files/file_1/content"],
    ["DELETE", "/files/file_1"],
  ] as const) {
    assert.equal(await ask(method, path), "openai bearer", path);
    assert.equal(await ask(method, path, VERSION), "anthropic x-api-key", path);
  }
  assert.equal(await ask("POST", "/batches"), "openai bearer");
  assert.equal(await ask("POST", "/uploads"), "openai bearer");
  assert.equal(await ask("POST", "/messages/batches", VERSION), "anthropic x-api-key");
});

test("an upstream with both APIs gets the credential of the client's", async (t) => {
  const { gate } = await startGateWithUpstream(t, named("both"));
  const by = async (headers: Record<string, string>) =>
    ((await (await fetch(`${gate.url}/v1/files`, { headers })).json()) as { by: string }).by;
  assert.equal(await by({}), "bearer");
  assert.equal(await by(VERSION), "x-api-key");
});

test("files and batches go to an upstream without models first, and to no upstream that leaves them out", async (t) => {
  const { gate, upstreams } = await startGateWithUpstreams(t, {
    local: { script: named("local"), settings: { models: ["qwen*"] } },
    audio: { script: named("audio"), settings: { apis: ["chat", "audio"] } },
    cloud: { script: named("cloud") },
  });
  for (const path of ["/files", "/batches", "/messages/batches"]) {
    const response = await fetch(`${gate.url}/v1${path}`);
    assert.equal(((await response.json()) as { from: string }).from, "cloud", path);
  }
  assert.deepEqual([upstreams.local.seen.length, upstreams.audio.seen.length], [0, 0]);
});

for (const [collection, below] of [
  ["/files", ["GET /content", "GET ", "DELETE "]],
  ["/uploads", ["POST /parts", "POST /complete", "POST /cancel"]],
  ["/batches", ["GET ", "POST /cancel"]],
  ["/messages/batches", ["GET ", "GET /results", "POST /cancel", "DELETE "]],
] as const)
  test(`whatever is done below ${collection} goes to the upstream that created the object`, async (t) => {
    const { gate, searches } = await startWithStored(t, { a: service("a"), b: service("b") });
    useConfig(gate, { tools: onlyTo("b") });
    assert.equal(await sendAs(gate, "POST", collection), "b");
    useConfig(gate, { tools: {} });
    for (const one of below) {
      const [method = "", rest = ""] = one.split(" ");
      assert.equal(await sendAs(gate, method, `${collection}/resp_b${rest}`), "b", one);
    }
    assert.deepEqual(searches, []);
  });

test("no web page uploads a file", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, named("one"));
  for (const path of ["/v1/files", "/v1/uploads/upload_1/parts"])
    for (const header of ["origin", "referer", "sec-fetch-site"]) {
      const value = header === "sec-fetch-site" ? "none" : gate.url;
      const response = await fetch(gate.url + path, {
        method: "POST",
        body: form(),
        headers: { [header]: value },
      });
      assert.equal(response.status, 403, `${path} ${header}`);
      await response.text();
    }
  assert.equal(upstream.seen.length, 0);
});

test("a batch that an upstream leaves out is refused with the entry that would forward it", async (t) => {
  const { gate } = await startGateWithUpstream(t, named("one"), {
    upstream: { apis: ["messages", "responses", "audio"] },
  });
  const batch = await fetch(`${gate.url}/v1/messages/batches`, {
    method: "POST",
    body: "{}",
    headers: { ...VERSION, "content-type": "application/json" },
  });
  const { error } = (await batch.json()) as { error: { type: string; message: string } };
  assert.equal(error.type, "not_found_error");
  const entry = { method: "POST", path: "/messages/batches", auth: "x-api-key", dialect: "none" };
  assert.ok(error.message.includes(`To forward it, add ${JSON.stringify(entry)} to "routes"`), error.message);
});
