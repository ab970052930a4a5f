// A9, programs of the same user: nothing can keep them out. tollkeeper records every use with evidence of who it was, and never hands
// out the key itself.
//
// The same holds for root, a debugger, and a browser extension with access to 127.0.0.1. key-never-leaks.test.ts shows that neither
// the control socket nor a command reveals the key.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { TEST_KEY } from "../helpers/gate/gate.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { sendJson, type Script, respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

async function openGate(t: TestContext, script: Script = respondWithMessage) {
  const { upstream, gate } = await startGateWithUpstream(t, script);
  const ask = (line: string, ...fields: string[]) => {
    const head = [`${line} HTTP/1.1`, ...jsonHeaders(gate.port)];
    return exchangeRaw(t, gate.port, [...head, ...fields], line.startsWith("POST") ? "{}" : "");
  };
  return { upstream, gate, ask };
}

/** How programs identify themselves, and what is recorded: the tool, the kind of evidence, and the raw User-Agent. */
const PROGRAMS: [what: string, line: string, fields: string[], known: (string | null)[]][] = [
  ["that does not identify itself", "POST /v1/messages", [], ["unknown", "unknown", null]],
  [
    "that names its library",
    "POST /v1/messages",
    ["User-Agent: curl/8.5.0"],
    ["curl", "library", "curl/8.5.0"],
  ],
  [
    "that uses another tool's path",
    "POST /t/claude-code/v1/messages",
    ["User-Agent: miner/1.0"],
    ["claude-code", "path", "miner/1.0"],
  ],
  [
    "that uses another tool's placeholder",
    "POST /v1/messages",
    ["User-Agent: miner/1.0", "Authorization: Bearer tk-codex"],
    ["codex", "token", "miner/1.0"],
  ],
  [
    "that uses another tool's header",
    "POST /v1/messages",
    ["User-Agent: miner/1.0", "X-Tollkeeper-Tool: codex"],
    ["codex", "header", "miner/1.0"],
  ],
  [
    "that uses another tool's User-Agent",
    "POST /v1/messages",
    ["User-Agent: codex_cli_rs/0.151.0"],
    ["codex", "signature", "codex_cli_rs/0.151.0"],
  ],
];

for (const [what, line, fields, known] of PROGRAMS) {
  test(`a program ${what} is served and recorded with its evidence`, async (t) => {
    const { gate, ask } = await openGate(t);
    assert.equal((await ask(line, ...fields)).status, 200);
    const record = await gate.ledger.only();
    assert.deepEqual([record.tool, record.tool_by, record.user_agent], known);
    assert.deepEqual([record.tokens?.total, record.spend], [5, "count"]);
  });
}

test("failed and refused requests are recorded with the same evidence", async (t) => {
  const { gate, ask } = await openGate(t, (_seen, res) => sendJson(res, { error: {} }, 429));
  await ask("POST /v1/messages", "User-Agent: miner/1.0");
  gate.keys.values.clear();
  gate.keyring.forget();
  await ask("POST /v1/responses", "User-Agent: miner/1.0");
  assert.deepEqual(
    gate.ledger.records.map(({ user_agent, status, outcome }) => [user_agent, status, outcome]),
    [
      ["miner/1.0", 429, "error"],
      ["miner/1.0", 400, "rejected"],
    ],
  );
});

/** Requests that ask for the key or might make it come back. */
const REQUESTS: [line: string, ...fields: string[]][] = [
  ["GET /v1/models"],
  ["POST /v1/messages"],
  ["POST /v1/responses", "Connection: close, authorization, x-api-key"],
  ["POST /v1/messages/count_tokens", "X-Api-Key: tk-x", "Authorization: Bearer tk-x"],
  ["GET /"],
  ["GET /v1/keys"],
  ["GET /_tollkeeper/key"],
  ["GET /v1/messages"],
  ["TRACE /v1/models"],
  ["POST /v1/messages", "Expect: 100-continue"],
  ["GET /v1/responses", "Upgrade: websocket"],
];

test("no response contains the key, even from an upstream that echoes the request in its error", async (t) => {
  const { upstream, gate, ask } = await openGate(t, ({ rawHeaders, headers }, res) => {
    const credential = headers.authorization ?? headers["x-api-key"] ?? "";
    res.setHeader("x-echo", credential);
    sendJson(res, { error: { message: rawHeaders.join("\n") } }, 400);
  });
  for (const [line, ...fields] of REQUESTS) {
    const { text } = await ask(line, ...fields);
    assert.ok(!text.includes(TEST_KEY), `${line}: ${text}`);
  }
  assert.ok(upstream.seen.length >= 4 && upstream.seen.every(({ rawHeaders }) => hasKey(rawHeaders)));
  assert.ok(!JSON.stringify([gate.ledger.records, gate.log.lines]).includes(TEST_KEY));
});

function hasKey(rawHeaders: string[]): boolean {
  return rawHeaders.some((value) => value.endsWith(TEST_KEY));
}
