import { toolSettings } from "../helpers/config/tool-settings.ts";
// A12, programs without a token: where "access" requires a local token, a request without a registered one is refused whatever else it
// has, the tool is the token's, and only the hash of a token is stored.
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { defaultConfig, createUpstream } from "../../src/core/config/config.ts";
import { Failure } from "../../src/core/failure.ts";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { hashToken } from "../../src/proxy/client/token-hash.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post, startGate, type GateOptions } from "../helpers/gate/gate.ts";
import { MemoryTokens } from "../helpers/gate/memory.ts";
import { exchangeRaw, jsonHeaders, type RawResponse } from "../helpers/client/raw-exchange.ts";
import { startUpstream, respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { readFilesBelow } from "./leak-search.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

const TOKEN_REQUIRED = { access: { mode: "token", peerUid: [] } } satisfies GateOptions["config"];

/** Opens a gate with a token for codex and one for zed. */
async function openGate(t: TestContext, config: GateOptions["config"] = TOKEN_REQUIRED) {
  const tokens = new MemoryTokens();
  const [codex, zed] = [tokens.add("codex"), tokens.add("zed")];
  const { upstream, gate } = await startGateWithUpstream(t, respondWithMessage, {
    config,
    tokens,
  });
  const ask = (path: string, ...fields: string[]): Promise<RawResponse> => {
    const head = [`POST ${path} HTTP/1.1`, ...jsonHeaders(gate.port)];
    return exchangeRaw(t, gate.port, [...head, ...fields], "{}");
  };
  return { tokens, codex, zed, upstream, gate, ask };
}

/** Requests that present neither token correctly. */
const INVALID_TOKENS: [
  what: string,
  build: (codex: string, zed: string) => { path?: string; fields: string[] },
][] = [
  ["none", () => ({ fields: [] })],
  ["an empty one", () => ({ fields: ["Authorization: Bearer ", "X-Api-Key: "] })],
  ["a placeholder", () => ({ fields: ["X-Api-Key: tk-codex", "Authorization: Bearer tollkeeper-codex"] })],
  ["a made-up one", () => ({ fields: [`X-Api-Key: tollkeeper-codex-${"A".repeat(43)}`] })],
  ["a truncated one", (codex) => ({ fields: [`X-Api-Key: ${codex.slice(0, -1)}`] })],
  ["one without its beginning", (codex) => ({ fields: [`X-Api-Key: ${codex.slice(1)}`] })],
  ["only its random part", (codex) => ({ fields: [`X-Api-Key: ${codex.slice(-43)}`] })],
  ["an extended one", (codex) => ({ fields: [`X-Api-Key: ${codex}A`] })],
  ["one in another case", (codex) => ({ fields: [`X-Api-Key: ${swapCase(codex)}`] })],
  ["one in quotes", (codex) => ({ fields: [`X-Api-Key: "${codex}"`] })],
  [
    "one with another tool's name",
    (_codex, zed) => ({ fields: [`X-Api-Key: ${zed.replace("-zed-", "-codex-")}`] }),
  ],
  ["two in one header", (codex, zed) => ({ fields: [`Authorization: Bearer ${codex}, Bearer ${zed}`] })],
  ["a very long one", (codex) => ({ fields: [`Authorization: Bearer ${codex}${"A".repeat(8000)}`] })],
  ["its hash", (codex) => ({ fields: [`X-Api-Key: tollkeeper-codex-${hashToken(codex).toString("hex")}`] })],
  ["one in another scheme", (codex) => ({ fields: [`Authorization: Basic ${codex}`] })],
  [
    "one in other headers",
    (codex) => ({ fields: [`Api-Key: ${codex}`, `Cookie: t=${codex}`, `X-Token: ${codex}`] }),
  ],
  ["one without a scheme", (codex) => ({ fields: [`Authorization: ${codex}`] })],
  ["one in a placeholder", (codex) => ({ fields: [`Authorization: Bearer tk-${codex}`] })],
  ["one as the tool's name", (codex) => ({ fields: [`X-Tollkeeper-Tool: ${codex}`] })],
  ["one in the query", (codex) => ({ path: `/v1/messages?x-api-key=${codex}&token=${codex}`, fields: [] })],
  [
    "only a claim to be codex",
    () => ({ path: "/t/codex/v1/messages", fields: ["User-Agent: codex_exec/1"] }),
  ],
];

/** Swaps the case of the letters in a token's random part. */
function swapCase(token: string): string {
  const swapped = token
    .slice(-43)
    .replaceAll(/[a-z]/gi, (letter) => (letter < "a" ? letter.toLowerCase() : letter.toUpperCase()));
  return token.slice(0, -43) + swapped;
}

for (const [what, build] of INVALID_TOKENS) {
  test(`a request that presents ${what} as a token is refused and recorded, and reaches no upstream`, async (t) => {
    const { codex, zed, upstream, gate, ask } = await openGate(t);
    const { path = "/v1/messages", fields } = build(codex, zed);
    const { status, refusal, headers, text } = await ask(path, ...fields);
    assert.deepEqual([status, refusal], [402, "token_required"]);
    const retry = headers.find(([name]) => name.toLowerCase() === "x-should-retry");
    assert.equal(retry?.[1], "false");
    assert.match(text, /"type":"billing_error"[^]*tollkeeper (?:token add|connect) /);
    const { outcome, error_type, status: recorded } = await gate.ledger.only();
    assert.deepEqual([outcome, error_type, recorded], ["rejected", "token_required", 402]);
    assert.equal(upstream.sockets.size + gate.keys.reads, 0);
    const random = codex.slice(-43);
    assert.ok(!JSON.stringify([text, gate.ledger.records, gate.log.lines]).includes(random));
  });
}

test("the refusal for a missing token has the shape of the route's API and names the tool", async (t) => {
  const { ask } = await openGate(t);
  const { text } = await ask("/t/codex/v1/responses");
  assert.match(
    text,
    /\{"error":\{"message":"tollkeeper: no local token: .* Type: tollkeeper connect codex","type":"invalid_request_error","code":"token_required","param":null\}\}/,
  );
});

for (const [what, build] of [
  ["as a bearer credential", (token: string) => [`Authorization: Bearer ${token}`]],
  ["as a bearer credential in another case", (token: string) => [`Authorization: bEARER   ${token}`]],
  ["as an API key", (token: string) => [`X-Api-Key: ${token}`]],
  [
    "as an API key beside a bearer credential",
    (token: string) => [`X-Api-Key: ${token}`, "Authorization: Bearer sk-ant-oat"],
  ],
  [
    "as a bearer credential beside a placeholder",
    (token: string) => ["X-Api-Key: x", `Authorization: Bearer ${token}`],
  ],
] as const) {
  test(`a token presented ${what} proves its tool and is not sent upstream`, async (t) => {
    const { codex, upstream, gate, ask } = await openGate(t);
    assert.equal((await ask("/t/zed/v1/messages", ...build(codex))).status, 200);
    const { tool, tool_by } = await gate.ledger.only();
    assert.deepEqual([tool, tool_by], ["codex", "token"]);
    const sent = JSON.stringify(upstream.seen.map(({ url, rawHeaders }) => [url, rawHeaders]));
    assert.ok(!JSON.stringify([sent, gate.ledger.records, gate.log.lines]).includes(codex.slice(-43)));
  });
}

test("a request with two tokens in the same header is refused", async (t) => {
  const { codex, zed, upstream, ask } = await openGate(t);
  const { status, refusal } = await ask("/v1/messages", `X-Api-Key: ${codex}`, `x-api-key: ${zed}`);
  assert.deepEqual([status, refusal], [400, "bad_request"]);
  assert.equal(upstream.sockets.size, 0);
});

test("a request uses the upstream and the key of the token's tool, whatever else it claims", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const other = { ...createUpstream("other", upstream.baseUrl), key: "second" };
  const usual = createUpstream("default", "http://127.0.0.1:9/v1");
  const tokens = new MemoryTokens();
  const codex = tokens.add("codex");
  const gate = await startGate(t, usual.baseUrl, {
    tokens,
    config: {
      ...TOKEN_REQUIRED,
      upstreams: { default: usual, other },
      tools: { codex: toolSettings({ upstreams: ["other"] }) },
    },
  });
  gate.keys.set({ name: "second", origin: other.origin }, "key-of-codex");
  const res = await post(gate, "/t/zed/v1/messages", {}, { "x-api-key": codex, "x-tollkeeper-tool": "zed" });
  assert.equal(res.status, 200);
  assert.deepEqual(
    upstream.seen.map(({ headers }) => headers["x-api-key"]),
    ["key-of-codex"],
  );
});

test("a revoked token is refused from the next request on, even on an open connection", async (t) => {
  const { tokens, codex, zed, gate } = await openGate(t);
  const statusFor = async (token: string) => {
    const res = await post(gate, "/v1/messages", {}, { "x-api-key": token });
    await res.arrayBuffer();
    return res.status;
  };
  assert.deepEqual([await statusFor(codex), await statusFor(zed)], [200, 200]);
  tokens.entries = tokens.entries.filter(({ tool }) => tool !== "codex");
  gate.tokenGuard.reload();
  assert.deepEqual([await statusFor(codex), await statusFor(zed)], [402, 200]);
});

test("while the tokens cannot be read every request is refused, and the problem is logged once", async (t) => {
  const { tokens, codex, upstream, gate } = await openGate(t);
  tokens.failure = new Failure("tokens.json is not used: it is open to other users", "chmod 600 tokens.json");
  gate.tokenGuard.reload();
  for (let i = 0; i < 3; i += 1) {
    assert.equal((await post(gate, "/v1/messages", {}, { "x-api-key": codex })).status, 402);
  }
  assert.equal(upstream.sockets.size, 0);
  assert.equal(
    gate.log.lines.filter((line) => /^error .*open to other users.*chmod 600/.test(line)).length,
    1,
  );
  tokens.failure = null;
  assert.equal((await post(gate, "/v1/messages", {}, { "x-api-key": codex })).status, 200);
});

/** Requests without a route, and their refusal when they have a token. */
const UNROUTED: [what: string, head: string[], refusal: string][] = [
  ["an unknown path", ["POST /v1/nothing HTTP/1.1", "Content-Type: application/json"], "not_found"],
  ["a foreign target", ["GET http://127.0.0.1/v1/models HTTP/1.1"], "not_found"],
  ["a wrong method", ["GET /v1/messages HTTP/1.1"], "method_not_allowed"],
  ["a preflight", ["OPTIONS /v1/messages HTTP/1.1"], "method_not_allowed"],
  [
    "a WebSocket",
    ["GET /v1/responses HTTP/1.1", "Connection: Upgrade, close", "Upgrade: websocket"],
    "upgrade_not_supported",
  ],
  ["a local path", ["GET /_tollkeeper/nothing HTTP/1.1"], "not_found"],
];

for (const [what, head, refusal] of UNROUTED) {
  test(`${what} is refused for its missing token first, and for itself only with a token`, async (t) => {
    const { codex, gate } = await openGate(t);
    const ask = (...fields: string[]) =>
      exchangeRaw(t, gate.port, [...head, `Host: 127.0.0.1:${gate.port}`, ...fields]);
    const withoutToken = await ask();
    assert.equal(withoutToken.refusal, "token_required");
    assert.equal((await ask(`X-Api-Key: ${codex}`)).refusal, refusal);
    assert.equal(gate.ledger.records.length, 0);
  });
}

test("a tool's probe needs no token, and a foreign Host is refused before the token is required", async (t) => {
  const { gate } = await openGate(t);
  assert.equal((await fetch(`${gate.url}/t/codex/api/hello`, { method: "HEAD" })).status, 200);
  const { refusal } = await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1", "Host: evil.example"]);
  assert.equal(refusal, "host_not_allowed");
});

for (const mode of ["open", "token"] as const) {
  test(`with access "${mode}" a token in place of a tool's name names none, and appears in no response, record or log`, async (t) => {
    const { codex, gate, ask } = await openGate(t, { access: { mode, peerUid: [] } });
    const responses: string[] = [];
    for (const spelled of [codex, codex.toLowerCase()]) {
      const { refusal } = await ask(`/t/${spelled}/v1/messages`);
      assert.equal(refusal, mode === "open" ? "not_found" : "token_required", "no tool, so no route");
      assert.equal(gate.ledger.records.length, 0);
    }
    for (const spelled of [codex, codex.toLowerCase()]) {
      for (const [path, ...fields] of [
        [`/t/${spelled}/v1/messages`],
        [`/t/${spelled}`],
        ["/v1/messages", `X-Tollkeeper-Tool: ${spelled}`],
        ["/v1/messages", `Authorization: Bearer tk-${spelled}`],
        ["/v1/messages", `X-Api-Key: tk-${spelled}`],
      ] as const) {
        responses.push((await ask(path, ...fields)).text);
      }
    }
    const texts = JSON.stringify([responses, gate.ledger.records, gate.log.lines]).toLowerCase();
    assert.equal(texts.includes(codex.slice(-43).toLowerCase()), false);
  });
}

test("a new configuration can require tokens, or stop requiring them, from the next request on", async (t) => {
  const { upstream, gate } = await openGate(t, {});
  const status = async () => (await post(gate, "/v1/messages", {})).status;
  assert.equal(await status(), 200);
  const config = { ...defaultConfig, upstreams: { default: createUpstream("default", upstream.baseUrl) } };
  gate.gate.use(prepareSettings({ ...config, ...TOKEN_REQUIRED }));
  assert.equal(await status(), 402);
  gate.gate.use(prepareSettings(config));
  assert.equal(await status(), 200);
});

test("in open mode a registered token names its tool unless the path does, and any other token is a placeholder", async (t) => {
  const { codex, gate, ask } = await openGate(t, {});
  const known = async (path: string, ...fields: string[]) => {
    assert.equal((await ask(path, ...fields)).status, 200);
    const { tool, tool_by } = gate.ledger.records.at(-1) ?? assert.fail("no record");
    return [tool, tool_by];
  };
  assert.deepEqual(await known("/v1/messages", `X-Api-Key: ${codex}`, "User-Agent: zed/1"), [
    "codex",
    "token",
  ]);
  assert.deepEqual(await known("/t/zed/v1/messages", `X-Api-Key: ${codex}`), ["zed", "path"]);
  assert.deepEqual(await known("/v1/messages", `X-Api-Key: ${codex}A`), ["unknown", "unknown"]);
});

test("a daemon stores only the hash of a token, in a private file, and prints the token nowhere", async (t) => {
  const daemon = await startDaemon(t, { config: { access: "token" }, args: ["--debug"] });
  const { code, stdout } = await daemon.command("token", "add", "codex");
  assert.equal(code, 0);
  const token = stdout.trim();
  const wrong = `${token.slice(0, -4)}AAAA`;
  const ask = (shown: string) =>
    post(
      daemon,
      `/t/codex/v1/messages?t=1`,
      { model: "claude-sonnet-5", max_tokens: 9, messages: [] },
      { "x-api-key": shown },
    );
  assert.notEqual((await ask(token)).headers.get("x-tollkeeper-refusal"), "token_required");
  assert.equal((await ask(wrong)).headers.get("x-tollkeeper-refusal"), "token_required");
  assert.equal((await fetch(`${daemon.url}/v1/nothing`, { headers: { "x-api-key": token } })).status, 404);
  const outputs = await Promise.all(
    ["status --json", "token list", "token list --json", "usage --json", "doctor --json"].map(
      async (words) => {
        const { stdout: out, stderr } = await daemon.command(...words.split(" "));
        return out + stderr;
      },
    ),
  );
  const files = readFilesBelow(daemon.home, null);
  const file = Object.keys(files).find((path) => path.endsWith("/tokens.json")) ?? assert.fail("no file");
  assert.ok(files[file]?.includes(hashToken(token).toString("hex")));
  const random = token.slice(-43, -4);
  const texts = [...Object.values(files), ...outputs, daemon.stdout(), daemon.stderr()];
  assert.deepEqual(
    texts.filter((text) => text.includes(random)),
    [],
  );
  assert.doesNotMatch(outputs.at(-1) ?? "", /looks like an API key/);
});

test("a token file that is open to others is not used, and the status says how to repair it", async (t) => {
  const daemon = await startDaemon(t, { config: { access: "token" } });
  const token = (await daemon.command("token", "add", "codex")).stdout.trim();
  const status = async () =>
    (await fetch(`${daemon.url}/v1/models`, { headers: { "x-api-key": token } })).status;
  assert.equal(await status(), 200);
  const path = join(daemon.home, "state", "tollkeeper", "tokens.json");
  chmodSync(path, 0o644);
  process.kill(daemon.pid, "SIGHUP");
  await daemon.waitForOutput(/"hint":"chmod 600 [^"]*","msg":"[^"]* is not used: it is open to other users"/);
  assert.equal(await status(), 400);
  const shown = await daemon.command("status");
  assert.equal(shown.code, 1);
  assert.match(
    shown.stdout,
    /^access +local token required; 0 tokens registered\n +.* is open to other users; chmod 600 '.*'$/m,
  );
  chmodSync(path, 0o600);
  assert.equal(await status(), 200);
});
