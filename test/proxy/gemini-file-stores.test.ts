// Stores of files that are searched, at Google: what is done to them and to what is in them. To index a file costs something that no response
// tells. With real sockets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { classify } from "../../src/core/ledger/spend.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { post, type GateOptions } from "../helpers/gate/gate.ts";
import { sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const STORES = "/v1beta/fileSearchStores";
const STORE = `${STORES}/s-1`;
const UPLOAD = `/upload${STORE}:uploadToFileSearchStore`;

const respond: Script = ({ method, url, headers }, res) => {
  if (headers["x-goog-upload-command"] === "start") {
    res.writeHead(200, { "x-goog-upload-url": `https://${headers.host ?? ""}${UPLOAD}?upload_id=u-1` });
    return res.end();
  }
  if (url.includes(":")) return sendJson(res, { name: "fileSearchStores/s-1/operations/o-1" });
  return sendJson(res, method === "POST" ? { name: "fileSearchStores/s-1" } : {});
};

const GEMINI: GateOptions = { upstream: { apis: ["gemini", "files"] } };

test("a store is created, filled, looked at and deleted; only what indexes a file counts, and its cost is unknown", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respond, GEMINI);
  await (await post(gate, STORES, { displayName: "s" })).text();
  await (await post(gate, `${STORE}:importFile`, { fileName: "files/f-1" })).text();
  const begun = await fetch(gate.url + UPLOAD, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json", "x-goog-upload-command": "start" },
  });
  const next = begun.headers.get("x-goog-upload-url") ?? "";
  assert.equal(next, `${gate.url}${UPLOAD}?upload_id=u-1`);
  const sent = await fetch(next, {
    method: "POST",
    body: "bytes",
    headers: { "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0" },
  });
  assert.equal(sent.status, 200);
  const looks = [
    ["GET", STORES],
    ["GET", STORE],
    ["GET", `${STORE}/operations/o-1`],
    ["GET", `${STORE}/upload/operations/o-1`],
    ["GET", `${STORE}/documents`],
    ["GET", `${STORE}/documents/d-1`],
    ["DELETE", `${STORE}/documents/d-1?force=true`],
    ["DELETE", STORE],
  ] as const;
  for (const [method, url] of looks) assert.equal((await fetch(gate.url + url, { method })).status, 200, url);
  assert.deepEqual(
    upstream.seen.slice(4).map(({ method, url }) => [method, url]),
    looks,
  );
  const records = gate.ledger.records;
  assert.deepEqual(
    records.slice(0, 4).map((record) => [record.usage, record.response_id, classify(record)]),
    [
      ["none", "s-1", "free"],
      ["absent", "o-1", "request"],
      ["absent", null, "fetch"],
      ["absent", "o-1", "request"],
    ],
  );
  assert.deepEqual([...new Set(records.slice(4).map(classify))], ["free"]);
});

test("stores are closed to a tool whose models are limited, as files are", async (t) => {
  const limited = await startGateWithUpstream(t, respond, {
    ...GEMINI,
    config: rulesForTools({ tools: { "*": { group: "small" } }, groups: { small: { models: ["good*"] } } }),
  });
  for (const url of [STORES, `${STORE}:importFile`, UPLOAD])
    assert.equal(
      (await post(limited.gate, url, {})).headers.get("x-tollkeeper-refusal"),
      "storage_not_allowed",
      url,
    );
  for (const url of [STORES, STORE, `${STORE}/documents/d-1`])
    assert.equal(
      (await fetch(limited.gate.url + url)).headers.get("x-tollkeeper-refusal"),
      "storage_not_allowed",
      url,
    );
  assert.equal(limited.upstream.seen.length, 0);
});
