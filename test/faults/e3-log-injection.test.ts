// E3, log injection: values that a client or an upstream chooses can forge no line of ledger or log, have no effect on a terminal or
// a spreadsheet, and make no record longer than its limits.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { dayAt } from "../../src/core/ledger/day.ts";
import { GROUPINGS } from "../../src/core/ledger/grouping.ts";
import type { Daemon } from "../helpers/daemon/daemon.ts";
import { ledgerScratchDirectory } from "../helpers/ledger/ledger.ts";
import { sendRaw } from "../helpers/client/raw-client.ts";
import { sendJson, MESSAGE, SSE, type SeenRequest } from "../helpers/upstream/scripted-upstream.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";
import { readRecord } from "../helpers/ledger/read-record.ts";

/** Everything hostile that a header can hold: C1 controls, and bidirectional marks as UTF-8 bytes, but no C0 controls. */
const IN_HEADER = Buffer.from(`=HYPERLINK("x");+1\u009b31m\u0085\u202e\u2066`).toString("latin1");

const FORGED = `{"v":1,"id":"forged","tool":"forged","model":"forged"}`;

/** Everything hostile that a JSON text can hold. */
const IN_JSON = `=1+1;@x\u0000\u0007\b\t\r\n\u001b[2J\u007f\u009b31m\u0085\u200e\u202e\u2066\u2028\u2029\n${FORGED}\n`;

const LONG = "x".repeat(900);
const ENDLESS = "x".repeat(1_000_000);

/** The upstream's response to a request that names the case. */
const RESPONSES: Record<string, (res: ServerResponse) => void> = {
  message: (res) => {
    const usage = { ...MESSAGE.usage, [IN_JSON]: IN_JSON, service_tier: IN_JSON, speed: IN_JSON };
    const tools = { server_tool_use: { [IN_JSON]: 1 }, iterations: [{ type: IN_JSON, model: IN_JSON }] };
    res.setHeader("request-id", IN_HEADER);
    sendJson(res, {
      ...MESSAGE,
      id: IN_JSON,
      model: IN_JSON,
      stop_reason: IN_JSON,
      usage: { ...usage, ...tools },
    });
  },
  stream: (res) => {
    const response = { id: IN_JSON, model: IN_JSON, status: "completed", service_tier: IN_JSON };
    const usage = { input_tokens: 1, output_tokens: 1, [IN_JSON]: 1 };
    const event = {
      type: "response.completed",
      response: { ...response, usage, tool_usage: { [IN_JSON]: usage } },
    };
    res.writeHead(200, { ...SSE, "x-request-id": IN_HEADER });
    res.end(`event: response.completed\rdata: ${JSON.stringify(event)}\r\n\r\n`);
  },
  error: (res) => sendJson(res, { error: { type: IN_JSON, code: IN_JSON, message: IN_JSON } }, 400),
  long: (res) => {
    const iterations = Array.from({ length: 2500 }, () => ({ type: "compaction" }));
    res.setHeader("request-id", LONG);
    sendJson(res, { ...MESSAGE, id: LONG, model: LONG, usage: { ...MESSAGE.usage, iterations } });
  },
  endless: (res) => sendJson(res, { ...MESSAGE, id: ENDLESS, model: ENDLESS, usage: { [ENDLESS]: ENDLESS } }),
  "endless error": (res) => sendJson(res, { error: { type: ENDLESS, code: ENDLESS } }, 529),
  "endless header": (res) => res.writeHead(200, { "request-id": LONG.repeat(100) }).end(),
};

function respond({ body }: SeenRequest, res: ServerResponse): void {
  const { user } = JSON.parse(body.toString()) as { user: string };
  RESPONSES[user]?.(res);
}

/** Sends a request with `hostile` in every part. Returns the status line of the response. */
async function send(
  t: TestContext,
  daemon: Daemon,
  path: string,
  user: string,
  hostile: string,
  model: string,
) {
  const body = Buffer.from(JSON.stringify({ model, user })).toString("latin1");
  const marks = ["User-Agent", "X-Tollkeeper-Tool", "X-Claude-Code-Session-Id"].map(
    (name) => `${name}: ${hostile}\r\n`,
  );
  const fields = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`;
  const client = await sendRaw(
    t,
    daemon.port,
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\n${marks.join("")}${fields}\r\n${body}`,
  );
  return (await client.closed).split("\r\n", 1)[0];
}

/** Sends all hostile requests. Returns the number of those that have a route. */
async function sendAll(t: TestContext, daemon: Daemon): Promise<number> {
  await send(t, daemon, "/v1/messages", "message", IN_HEADER, IN_JSON);
  await send(t, daemon, "/v1/responses", "stream", IN_HEADER, IN_JSON);
  await send(t, daemon, "/t/codex/v1/messages", "error", IN_HEADER, IN_JSON);
  await send(t, daemon, "/v1/messages", "long", "y".repeat(8000), LONG);
  await send(t, daemon, "/v1/messages", "endless", "y".repeat(8000), ENDLESS);
  await send(t, daemon, "/v1/messages", "endless error", "y", ENDLESS);
  assert.match((await send(t, daemon, "/v1/messages", "endless header", "y", "a;=1+1")) ?? "", / 502 /);
  // These have no route and leave no record.
  for (const mark of ["\u009b31m", "%1b%5b2J", "=1+1", "..%0a", LONG]) {
    assert.match((await send(t, daemon, `/t/${mark}/v1/messages`, "message", "y", "m")) ?? "", / 40[04] /);
  }
  await send(t, daemon, "/v1/messages", "message", ENDLESS, "m");
  return 7;
}

/** Starts a daemon with hostile directory names, one of which it has to log. */
async function startDaemonWithHostileNames(t: TestContext) {
  const directory = join(ledgerScratchDirectory(t), "ledger \u001b[2J\u009b31m\u202e");
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(join(directory, `${dayAt(Date.now())}.ndjson`), TORN);
  const { daemon } = await startDaemonWithUpstream(t, respond, {
    config: { ledger: { directory } },
    args: ["--debug"],
  });
  return { daemon, directory };
}

/** Fails on any character that has an effect on a terminal, except line ends. */
function assertInert(text: string, what: string): void {
  assert.doesNotMatch(text.replaceAll(/\r?\n/g, ""), /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u, what);
}

/** What a crash left of a line. */
const TORN = '{"v":2,"id":"torn';

/** Runs a command whose output must have no effect on a terminal. Returns its standard output. */
async function runInert(daemon: Daemon, words: string): Promise<string> {
  const { code, stdout, stderr } = await daemon.command(...words.split(" "));
  assertInert(stdout + stderr, words);
  assert.equal(code, 0, words);
  return stdout;
}

function assertLedger(directory: string, requests: number): void {
  const days = readdirSync(directory).filter((name) => name.endsWith(".ndjson"));
  const text = days.map((day) => readFileSync(join(directory, day), "utf8")).join("");
  assertInert(text, "the ledger");
  const lines = text.split("\n").slice(0, -1);
  assert.equal(lines.shift(), TORN);
  assert.equal(lines.length, requests);
  const fields = Object.keys(usageRecord()).sort();
  for (const line of lines) {
    assert.ok(line.length < 1024 * 1024, String(line.length));
    const record = readRecord(line);
    assert.deepEqual(Object.keys(record).sort(), fields);
    for (const [name, value] of Object.entries(record)) {
      if (typeof value === "string") assert.ok(value.length <= (name === "user_agent" ? 512 : 256), name);
    }
  }
  const [first] = lines.map(readRecord);
  assert.equal(first?.user_agent, IN_HEADER, "escaped, not altered");
  assert.ok(first?.model !== null && IN_JSON.startsWith(first?.model ?? "?"));
}

test("hostile values from client and upstream are inert in ledger, log, status and reports", async (t) => {
  const { daemon, directory } = await startDaemonWithHostileNames(t);
  const requests = await sendAll(t, daemon);
  assertLedger(directory, requests);
  const tables = await Promise.all(GROUPINGS.map((by) => runInert(daemon, `usage --by ${by}`)));
  const byModel = tables[GROUPINGS.indexOf("model")];
  const bySession = tables[GROUPINGS.indexOf("session")];
  const [status, json, csv] = await Promise.all(
    ["status", "usage --by session --json", "usage --by model --csv"].map((words) => runInert(daemon, words)),
  );
  assert.match(status ?? "", /^ledger .*ledger \\u001b\[2J\\u009b31m\\u202e, 7 written$/m);
  assert.match(byModel ?? "", /^=1\+1;@x\\u0000\\u0007/m);
  assert.doesNotMatch(byModel ?? "", /^forged/m);
  assert.match(byModel ?? "", /no known price: .*@x\\u0000\\u0007.*\\u000a/);
  await runInert(daemon, "usage --tool nobody");
  assert.match(bySession ?? "", /^=HYPERLINK\("x"\);\+1\u00c2\\u009b31m/m);
  const { rows } = JSON.parse(json ?? "") as { rows: { session: string }[] };
  assert.ok(rows.some(({ session }) => session === IN_HEADER));
  await runInert(daemon, "ledger verify");
  assert.match(await runInert(daemon, "ledger prune --before 2020-01-01"), /nothing to remove .*u001b/);
  await runInert(daemon, "ledger export");
  assertNoFormula(csv ?? "");
  assertNoFormula(await runInert(daemon, "ledger export --format csv"));
  assert.match(csv ?? "", /^"'=1\+1;@x/m);
  assert.equal(await daemon.stop(), 0);
  assertInert(daemon.stdout() + daemon.stderr(), "the log");
  assert.match(daemon.stderr(), /the last line of the ledger was torn/);
  for (const line of daemon.stderr().trimEnd().split("\n")) assert.ok(JSON.parse(line));
});

function assertNoFormula(csv: string): void {
  const cells = csv.match(/"(?:[^"]|"")*"|[^",;\r\n]+/g) ?? [];
  assert.deepEqual(
    cells.filter((cell) => /^"?[=+@-]/.test(cell)),
    [],
    "no cell is a formula, whichever separator is used",
  );
}
