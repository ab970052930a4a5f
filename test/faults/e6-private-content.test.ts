// E6, private content: no prompt and no answer, nor any header, query or path of a client, stands in any file of the daemon's or in what it prints, at its most talkative.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { keyInFile } from "../helpers/keychain/key-file.ts";
import { rawClient } from "../helpers/client/raw-client.ts";
import { startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { assertNowhere, readFilesBelow } from "../security/leak-search.ts";
import { ANSWER, ANSWERS, BODIES, json, PROMPT, REQUEST } from "./private-content.ts";

/** Sends one request and reads everything that comes back. */
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

/** All that a daemon leaves behind: its files, its output, and what the program then says of it. */
async function tracesOf(daemon: Daemon): Promise<Record<string, string>> {
  const [status, usage] = await Promise.all([
    daemon.command("status"),
    daemon.command("usage", "--by", "model"),
  ]);
  assert.equal(await daemon.stop(), 0);
  const [stdout, stderr] = [daemon.stdout(), daemon.stderr()];
  return { ...readFilesBelow(daemon.home, null), stdout, stderr, status: status.stdout, usage: usage.stdout };
}

/** A daemon at its most talkative, in front of an upstream that answers as the request's `user` says. */
async function startTalkative(t: TestContext) {
  const upstream = await startUpstream(t, ({ body }, res) => {
    const [, answer] = ANSWERS[Number(/"user":(\d+)/.exec(body.toString("latin1"))?.[1] ?? 0)] ?? [];
    answer?.(res);
  });
  const { config } = keyInFile(t, upstream.baseUrl, "some-key");
  const limits = { bodyBytes: 10_000 };
  const options = { config: { ...config, limits }, args: ["--debug"], env: { DEBUG: "*" } };
  return { upstream, daemon: await startDaemon(t, options) };
}

test("prompts and answers in every shape pass, and are nowhere afterwards", async (t) => {
  const { upstream, daemon } = await startTalkative(t);
  const routes = ["POST /v1/messages", "POST /v1/responses", "POST /v1/messages/count_tokens"];
  const sent = routes.flatMap((line) =>
    BODIES.map(([, fields, body]) => exchange(t, daemon, line, fields, body)),
  );
  const answered = routes.flatMap((line) =>
    ANSWERS.map((_, user) => exchange(t, daemon, line, "", json({ ...REQUEST, user }))),
  );
  await Promise.all(sent);
  const received = await Promise.all(answered);
  assert.ok(upstream.seen.filter(({ body }) => body.includes(PROMPT)).length > answered.length);
  assert.ok(received.filter((text) => text.includes(ANSWER)).length > answered.length / 2);
  assert.equal((await daemon.ledger()).length, sent.length + answered.length);
  const traces = await tracesOf(daemon);
  assert.match(traces["stderr"] ?? "", /"level":20/, "it was talkative");
  assertNowhere(PROMPT, traces);
  assertNowhere(ANSWER, traces);
});

const LINES = [
  "POST /v1/messages?q=MARK",
  "POST /v1/MARK",
  "GET /v1/messages?MARK",
  "POST http://MARK/v1/messages",
];

test("nor is a header, query or path of a client, with --debug", async (t) => {
  const daemon = await startDaemon(t, { args: ["--debug"] });
  const names = ["X-Api-Key", "Authorization", "Cookie", "X-MARK"];
  const fields = names.map((name) => `${name}: Bearer MARK\r\n`).join("");
  for (const line of LINES) await exchange(t, daemon, line, fields, json({ ...REQUEST, system: "MARK" }));
  assert.equal((await daemon.ledger()).length, 1);
  const traces = await tracesOf(daemon);
  assert.match(traces["stderr"] ?? "", /"code":"not_found"/);
  for (const [what, text] of Object.entries(traces)) assert.doesNotMatch(text, /MARK/, what);
});
