// E6, private content: no prompt, no response text, and no header, query or path of a client is in any file or output of the daemon,
// even at its most verbose. Of what a client says about itself, no key is.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { formatLocalToken } from "../../src/core/secrets/local-token.ts";
import { startTail } from "../helpers/daemon/tail.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { rawClient } from "../helpers/client/raw-client.ts";
import type { Script } from "../helpers/upstream/scripted-upstream.ts";
import { assertNowhere, readFilesBelow } from "../security/leak-search.ts";
import { RESPONSE_TEXT, RESPONSES, BODIES, json, PROMPT, REQUEST } from "./private-content.ts";
import { startDaemonWithUpstream, type DaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";

/** Sends a request and returns everything that comes back. */
async function exchange(
  t: TestContext,
  daemon: Daemon,
  line: string,
  fields: string,
  body: Buffer,
): Promise<string> {
  const client = await rawClient(t, daemon.port);
  const head = `Host: 127.0.0.1:${daemon.port}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
  client.write(
    `${line} HTTP/1.1\r\n${head}${fields}Content-Length: ${body.length}\r\n\r\n${body.toString("latin1")}`,
  );
  return client.closed;
}

/** Stops a daemon and collects everything it leaves: its files, its output, and the output of commands about it. */
async function collectTraces(daemon: Daemon): Promise<Record<string, string>> {
  const [status, usage] = await Promise.all([
    daemon.command("status"),
    daemon.command("usage", "--by", "model"),
  ]);
  assert.equal(await daemon.stop(), 0);
  const [stdout, stderr] = [daemon.stdout(), daemon.stderr()];
  return { ...readFilesBelow(daemon.home, null), stdout, stderr, status: status.stdout, usage: usage.stdout };
}

/** Sends the response whose number is the request's `user`. */
const respondByUser: Script = ({ body }, res) => {
  const [, send] = RESPONSES[Number(/"user":(\d+)/.exec(body.toString("latin1"))?.[1] ?? 0)] ?? [];
  send?.(res);
};

/** Starts a daemon at its most verbose. */
function startVerboseDaemon(t: TestContext): Promise<DaemonWithUpstream> {
  const config = { limits: { bodyBytes: 10_000 } };
  return startDaemonWithUpstream(t, respondByUser, { config, args: ["--debug"], env: { DEBUG: "*" } });
}

test("prompts and responses of every form pass and leave no trace of their text", async (t) => {
  const { upstream, daemon } = await startVerboseDaemon(t);
  const routes = ["POST /v1/messages", "POST /v1/responses", "POST /v1/messages/count_tokens"];
  const sent = routes.flatMap((line) =>
    // With a session, prompts are compared.
    BODIES.map(([, fields, body]) => exchange(t, daemon, line, `${fields}Session-Id: s\r\n`, body)),
  );
  const answered = routes.flatMap((line) =>
    RESPONSES.map((_, user) => exchange(t, daemon, line, "", json({ ...REQUEST, user }))),
  );
  await Promise.all(sent);
  const received = await Promise.all(answered);
  assert.ok(upstream.seen.filter(({ body }) => body.includes(PROMPT)).length > answered.length);
  assert.ok(received.filter((text) => text.includes(RESPONSE_TEXT)).length > answered.length / 2);
  assert.equal((await daemon.ledger()).length, sent.length + answered.length);
  const traces = await collectTraces(daemon);
  assert.match(traces["stderr"] ?? "", /"level":20/, "the log has debug lines");
  assertNowhere(PROMPT, traces);
  assertNowhere(RESPONSE_TEXT, traces);
});

const LINES = [
  "POST /v1/messages?q=MARK",
  "POST /v1/MARK",
  "GET /v1/messages?MARK",
  "POST http://MARK/v1/messages",
];

test("with --debug no header, query or path of a client leaves a trace", async (t) => {
  const daemon = await startDaemon(t, { args: ["--debug"] });
  const names = ["X-Api-Key", "Authorization", "Cookie", "X-MARK"];
  const fields = names.map((name) => `${name}: Bearer MARK\r\n`).join("");
  for (const line of LINES) await exchange(t, daemon, line, fields, json({ ...REQUEST, system: "MARK" }));
  assert.equal((await daemon.ledger()).length, 1);
  const traces = await collectTraces(daemon);
  assert.match(traces["stderr"] ?? "", /"code":"not_found"/);
  for (const [what, text] of Object.entries(traces)) assert.doesNotMatch(text, /MARK/, what);
});

/** A key that nothing in its form tells from a name. */
const PLAIN_KEY = `p.${randomBytes(10).toString("hex")}.${randomBytes(10).toString("hex")}`;

const KEYS: [what: string, key: string, own: string][] = [
  ["the daemon's key", PLAIN_KEY, PLAIN_KEY],
  ["a key of a known form", `hf_${randomBytes(16).toString("hex")}`, "some-key"],
  ["a local token", formatLocalToken("codex", randomBytes(32).toString("base64url")), "some-key"],
];

const escape = (key: string) =>
  key.replaceAll(/[-._]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

/** Every place in a request whose text goes into a record, a view or a line of the log. */
function listPlaces(key: string): [line: string, fields: string, body: object][] {
  return [
    ["POST /v1/messages", "", { ...REQUEST, model: key }],
    ["POST /v1/messages", "", { ...REQUEST, model: `gpt/${key}/5` }],
    ["POST /v1/messages", `User-Agent: tool/1.0 (${key})\r\n`, REQUEST],
    ["POST /v1/messages", `Session-Id: ${key}\r\n`, REQUEST],
    ["POST /v1/messages", `X-Claude-Code-Session-Id: ${escape(key)}\r\n`, REQUEST],
    ["POST /v1/messages", `X-Tollkeeper-Tool: ${key}\r\n`, REQUEST],
    ["POST /v1/messages", `X-Api-Key: tk-${key}\r\n`, REQUEST],
    [`POST /t/${key}/v1/messages`, "", REQUEST],
    [`POST /v1/${key}`, "", REQUEST],
    [`POST /v1/${escape(key)}`, "", REQUEST],
  ];
}

for (const [what, key, own] of KEYS) {
  test(`${what} leaves no trace when a client sends it as model, session, user agent, tool or path`, async (t) => {
    const { daemon } = await startDaemonWithUpstream(t, respondByUser, { key: own, args: ["--debug"] });
    const tails = [await startTail(t, daemon), await startTail(t, daemon, "--json")];
    for (const [line, fields, body] of listPlaces(key)) {
      await exchange(t, daemon, line, fields, json({ ...body, user: 0 }));
    }
    const records = await daemon.ledger();
    assert.ok(records.length >= 7, `${records.length} records`);
    const models = records.map((record) => record.model_requested);
    assert.match(models.join(" "), /gpt\/[\w-]*\*{35,}\/5 m/, "the rest of a text is kept");
    const traces = await collectTraces(daemon);
    for (const [i, tail] of tails.entries()) {
      tail.stop();
      traces[`tail ${i}`] = await tail.output;
    }
    assertNowhere(key, traces);
    assertNowhere(escape(key), traces);
  });
}
