// B2, path confusion: a path is compared for equality without decoding, merging or normalising it, so that every spelling except the
// route's own is 404 and the upstream sees only exact paths.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** Paths (latin1) that some servers would take for one of our routes or for another path of the upstream. */
const CONFUSING_PATHS = [
  // Dot segments, plain and in every escape.
  "/v1/../admin",
  "/v1/../v1/messages",
  "/v1/messages/..",
  "/v1/messages/../models",
  "/v1/messages/../../admin",
  "/v1/./messages",
  "/./v1/messages",
  "/../v1/messages",
  "/v1/messages/.",
  "/v1/%2e%2e/admin",
  "/v1/%2E%2E/admin",
  "/v1/.%2e/admin",
  "/v1/%2e./admin",
  "/v1/%252e%252e/admin",
  "/v1/%c0%ae%c0%ae/admin",
  "/v1/%u002e%u002e/admin",
  "/v1/..;/admin",
  "/v1/..%2fadmin",
  "/v1/..%5cadmin",
  "/v1/..\\admin",
  "/v1\\..\\admin",
  "/v1/.../messages",
  // Slashes.
  "/v1%2fmessages",
  "/v1%2Fmessages",
  "/v1%5cmessages",
  "/v1\\messages",
  "\\v1\\messages",
  "/v1//messages",
  "//v1/messages",
  "/v1/messages/",
  "/v1/messages//",
  "/v1/messages%2f",
  "/v1/messages%2fcount_tokens",
  "/v1/messages\\count_tokens",
  "/v1/messages//count_tokens",
  // Parameters, fragments, ends of strings.
  "/v1/messages;a=b",
  "/v1/messages;",
  "/v1;x/messages",
  "/v1/messages#",
  "/v1/messages#/../admin",
  "/v1/messages%23",
  "/v1/messages%3f",
  "/v1/messages%3fbeta=true",
  "/v1/messages?a#b",
  "/v1/messages%00",
  "/v1/messages%00.json",
  "/v1/messages\u0000",
  "/v1/messages%20",
  "/v1/messages%0d%0aX-Evil:%201",
  "/v1/messages%0a",
  "/v1/messages+",
  "/v1/messages&a=b",
  "/v1/messages.json",
  "/v1/messages*",
  "/v1/messages\u007f",
  "/v1/messages\u0001",
  // Case, other letters, escapes of plain letters.
  "/V1/messages",
  "/v1/Messages",
  "/v1/MESSAGES",
  "/v1/%6dessages",
  "/v1/message%73",
  "/%76%31/messages",
  "/v1/m\u00e9ssages",
  "/v1/messages\u00e2\u0080\u0083",
  "/v1/messages\u00ff",
  "/v1/\u00ef\u00bd\u008dessages",
  "/v1/messages\u00c0\u00af",
  // Missing, repeated and wrong prefixes.
  "/",
  "/v1",
  "/v1/",
  "/v1/v1",
  "/v1/v1/v1/messages",
  "/v2/messages",
  "/v1/messages/count_tokens/x",
  "/v1/messages/batches/",
  "/v1/messages/batches//results",
  "/v1/messages/batches/%2e%2e/results",
  "/v1/messages/batches/b/results/x",
  "/v1/messagesx",
  "/v1/message",
  "/v1/files/",
  "/v1/files//content",
  "/v1/files/../content",
  "/v1/files/f%2fcontent",
  "/v1/admin/keys",
  "/v1/organizations/api_keys",
  "/v1/model/gpt-5",
  "/v1/models/",
  "/v1/models//gpt-5",
  "/api/v1/messages",
  "/api/hello",
  // Around the tool mark.
  "/t",
  "/t/",
  "/t/codex",
  "/t/codex/",
  "/t/codex/..",
  "/t/../v1/messages",
  "/t/./v1/messages",
  "/t/%2e%2e/v1/messages",
  "/t/codex/../v1/messages",
  "/t/codex%2fv1/messages",
  "/t/codex;x/v1/messages",
  "/t/codex/t/zed/v1/messages",
  "/T/codex/v1/messages",
  "/t/-/v1/messages",
  `/t/${"a".repeat(65)}/v1/messages`,
  // Very long paths.
  `/v1/messages/${"a/".repeat(5_000)}`,
  `/${"../".repeat(3_000)}v1/messages`,
];

for (const [method, body] of [
  ["GET", ""],
  ["POST", "{}"],
] as const) {
  test(`a ${method} with a confusing path is refused and reaches no upstream`, async (t) => {
    const { upstream, gate } = await startGateWithUpstream(t, respondWithEmptyJson);
    for (const path of CONFUSING_PATHS) {
      const response = await exchangeRaw(
        t,
        gate.port,
        [`${method} ${path} HTTP/1.1`, ...jsonHeaders(gate.port)],
        body,
      );
      // Node's parser refuses bytes that a request line cannot have, without a code of ours.
      const isParsers = response.status === 400 && response.refusal === null;
      assert.ok(
        isParsers || response.refusal === "not_found",
        `${path}: ${response.status} ${response.refusal}`,
      );
    }
    assert.deepEqual([upstream.seen, gate.ledger.records, gate.keys.reads], [[], [], 0]);
  });
}

test("a target longer than the limit of the head is refused with 431", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  const lines = [`POST /v1/messages?${"a".repeat(40_000)} HTTP/1.1`, ...jsonHeaders(gate.port)];
  assert.equal((await exchangeRaw(t, gate.port, lines)).status, 431);
  assert.deepEqual(upstream.seen, []);
});

test("a target whose query has forbidden bytes is refused", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  for (const query of ["?a#b", "?a b", "?\u0000", "?\t", "?\u00e9", "?\u007f", "#?a", "?a\u0001"]) {
    const lines = [`POST /v1/messages${query} HTTP/1.1`, ...jsonHeaders(gate.port)];
    const { status } = await exchangeRaw(t, gate.port, lines, "{}");
    assert.ok(status === 400 || status === 404, `${JSON.stringify(query)}: ${status}`);
  }
  assert.deepEqual(upstream.seen, []);
});

test("all allowed spellings of a route reach the upstream as the same exact path", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  const routes = ["/messages", "/messages/count_tokens", "/responses"];
  for (const route of routes) {
    for (const before of ["", "/v1", "/v1/v1", "/t/codex", "/t/Zed_1.0-x/v1", "/t/a/v1/v1"]) {
      const lines = [`POST ${before}${route} HTTP/1.1`, ...jsonHeaders(gate.port)];
      assert.equal((await exchangeRaw(t, gate.port, lines, "{}")).status, 200, before + route);
    }
  }
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    routes.flatMap((route) => Array.from({ length: 6 }, () => `/v1${route}`)),
  );
});

/** What no server on the way may take for another path, or for the end of the id. */
const WRONG_IDS = [
  "",
  ".",
  "..",
  "..;",
  "..;x",
  ".;",
  ";x",
  "%2e",
  "%2E%2e",
  ".%2e",
  "a%2eb",
  "a%2fb",
  "a%2F..%2Fb",
  "..%2f",
  "a%5cb",
  "a%5C..",
  "a\\b",
  "%252e%252e",
  "a%25",
  "%00",
  "a%0d%0aX",
  "a%7f",
  "..%3b",
  "compact%3f",
  "%3Fa=b",
  "a%3Fb",
  "compact%23",
  "a%23b",
  "%c0%ae%c0%ae",
  "%e0%80%af",
  "%ff",
  "%u002e",
  "%2",
  "%",
  "%zz",
  "a#b",
  "a|b",
  "a^b",
  "<a>",
  '"a"',
  "{id}",
  "a".repeat(257),
];

const RIGHT_IDS = [
  "gpt-5_x",
  "gpt-5.5",
  "qwen3:30b",
  "a@b",
  "a%20b",
  "a;b",
  "...",
  "~x",
  "caf%C3%A9",
  "a".repeat(256),
];

test("the id in a path is one segment that no server can take for another path, and the upstream gets its bytes", async (t) => {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  const gate = await startGate(t, upstream.baseUrl);
  const ask = async (line: string) =>
    await exchangeRaw(t, gate.port, [`${line} HTTP/1.1`, ...jsonHeaders(gate.port)]);
  for (const id of WRONG_IDS)
    for (const line of [
      `GET /v1/models/${id}`,
      `GET /v1/models/a/${id}`,
      `GET /v1/models/${id}/a`,
      `GET /v1/responses/${id}`,
      `DELETE /v1/responses/${id}`,
      `GET /responses/${id}/input_items`,
      `POST /v1/responses/${id}/cancel`,
    ])
      assert.equal((await ask(line)).refusal, "not_found", line);
  for (const line of [
    "GET /v1/responses/a/b",
    "GET /v1/responses/a/b/input_items",
    "POST /v1/responses/a/b/cancel",
  ])
    assert.equal((await ask(line)).refusal, "not_found", line);
  assert.deepEqual(upstream.seen, []);
  const paths = RIGHT_IDS.flatMap((id) => [`/v1/models/${id}`, `/v1/responses/${id}`]);
  paths.push("/v1/models/openai/gpt-5.5", "/v1/models/a/b/c:free");
  for (const path of paths) assert.equal((await ask(`GET ${path}`)).status, 200, path);
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    paths,
  );
});

/** Local paths of ours, and how each is asked for. */
const LOCAL = [
  "GET /",
  "GET /_tollkeeper/healthz",
  "GET /_tollkeeper/dashboard/app.js",
  "GET /_tollkeeper/dashboard/style.css",
  "GET /_tollkeeper/v1/running",
  "GET /_tollkeeper/v1/status",
  "GET /_tollkeeper/v1/session",
  "HEAD /api/hello",
];

/** Spellings that somebody who decodes, normalises or cuts a path takes for the path itself. */
function spellingsOf(path: string): string[] {
  const at = path.lastIndexOf("/");
  const [above, name] = [path.slice(0, at + 1), path.slice(at + 1)];
  return [
    `${above}x/%2e%2e/${name}`,
    `${above}x/../${name}`,
    `${above}./${name}`,
    `${above}%2e/${name}`,
    `${above}../../${"a".repeat(above.length - 1)}${name}`,
    `${above}../${above.slice(1)}${name}`,
    `${above}/${name}`,
    `/${path}`,
    `/x${path}`,
    `/x/..${path}`,
    `/v1${path}`,
    `/t/codex/..${path}`,
    `${above}\\${name}`,
    ...(name === ""
      ? ["/index.html", "/%2f", "/;", "/#", "/."]
      : [
          `/t/codex${path}`,
          `${path}/`,
          `${path}/.`,
          `${path};`,
          `${path}%00`,
          `${path}#x`,
          `${path}%3fx`,
          `${above}%${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
          `${above}${name.toUpperCase()}`,
          path.replace("/_", "/%5f"),
          path.replace("_tollkeeper/", "_tollkeeper%2f"),
          path.toUpperCase(),
        ]),
  ].filter((spelling) => spelling !== path);
}

for (const line of LOCAL) {
  test(`no spelling of ${line} but its own gets a response of ours`, async (t) => {
    const daemon = await startDaemon(t);
    const [method = "", path = ""] = line.split(" ");
    const ask = (spelling: string) =>
      exchangeRaw(t, daemon.port, [
        `${method} ${spelling} HTTP/1.1`,
        `Host: 127.0.0.1:${daemon.port}`,
        "Accept: text/html",
      ]);
    assert.equal((await ask(path)).status, 200);
    for (const query of ["?", "?x=%2e%2e"]) {
      const { status } = await ask(path + query);
      assert.equal(status, 200, query);
    }
    // Tools that are told a base URL with their name probe below it.
    const meant = method === "HEAD" ? [`/t/codex${path}`] : [];
    for (const spelling of spellingsOf(path).filter((one) => !meant.includes(one))) {
      const { status } = await ask(spelling);
      assert.ok(status === 404 || status === 400, `${spelling}: ${status}`);
    }
  });
}
