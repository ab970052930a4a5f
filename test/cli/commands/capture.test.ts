import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { startDaemon, type Daemon } from "../../helpers/daemon/daemon.ts";
import { post } from "../../helpers/gate/gate.ts";

const LIMIT = { timeout: 300_000 };
const CODEX = { "user-agent": "codex_cli_rs/0.50.0", originator: "codex_cli_rs" };
const TOOLS = ["shell", "read"].map((name) => ({ name, input_schema: { type: "object" } }));
const FIRST = { role: "user", content: "Fix the failing test" };

/** Starts a daemon that has captured a request and the one that follows it, and returns the ids of both. */
async function startCaptured(t: TestContext): Promise<{ daemon: Daemon; ids: string[] }> {
  const daemon = await startDaemon(t);
  const started = await daemon.command("capture", "codex", "--max", "5");
  assert.match(
    started.stdout,
    /^Requests and responses of codex are captured until \d\d:\d\d:\d\d, at most 5 requests\.\n/,
  );
  const request = {
    model: "claude-sonnet-5",
    max_tokens: 100,
    stream: true,
    system: "You are an agent.\nIt is Monday.",
    tools: TOOLS,
  };
  const later = [FIRST, { role: "assistant", content: "Where?" }, { role: "user", content: "In foo.ts" }];
  for (const body of [
    { ...request, messages: [FIRST] },
    { ...request, system: "You are an agent.\nIt is Tuesday.", messages: later },
  ])
    await (await post(daemon, "/v1/messages", body, CODEX)).text();
  const ids = await waitUntil("two requests", async () => {
    const { stdout } = await daemon.command("capture", "list", "--json");
    const { requests } = JSON.parse(stdout) as { requests: { id: string }[] };
    return requests.length === 2 ? requests.map(({ id }) => id) : null;
  });
  return { daemon, ids };
}

test(
  "what is long takes one line in a captured request that is shown, and empty lines none",
  LIMIT,
  async (t) => {
    const { daemon } = await startCaptured(t);
    const long = "word ".repeat(400);
    const system = `You are an agent.\n\n\n${long}\n\nIt is Monday.`;
    const body = { model: "claude-sonnet-5", max_tokens: 9, metadata: { user_id: long }, system };
    await (
      await post(daemon, "/v1/messages", { ...body, messages: [{ role: "user", content: long }] }, CODEX)
    ).text();
    const page = await waitUntil("the third request", async () => {
      const { stdout } = await daemon.command("capture", "show", "last");
      return stdout.includes("metadata") ? stdout : null;
    });
    const [request = ""] = page.split("\nResponse ");
    const lines = request.split("\n");
    assert.deepEqual(
      lines.filter((line) => line.length > 120),
      [],
    );
    assert.equal(lines.filter((line) => line.length === 120 && line.endsWith("…")).length, 3, request);
    assert.match(request, /^ {2}You are an agent\.\n {2}word .*…\n {2}It is Monday\.$/m);
  },
);

test("a captured request is shown as a person reads it, and compared with the next", LIMIT, async (t) => {
  const { daemon, ids } = await startCaptured(t);
  const [first = "", second = ""] = ids;
  const list = await daemon.command("capture", "list");
  assert.match(list.stdout, /^Capture 1 of codex: running until \S+, 2 requests of 5, [^,]+, deleted at /);
  assert.match(list.stdout, /^Id +Time +Kind +Model +Status +Request +Response$/m);
  const { stdout: page } = await daemon.command("capture", "show", first.slice(0, 8));
  for (const part of [
    /^Request \S+ of codex at \S+: POST \/v1\/messages\n/,
    /^System prompt {2}34 bytes\n {2}You are an agent\.\n {2}It is Monday\.$/m,
    /^2 tools {2}\d+ bytes\n +\d+ {2}shell\n +\d+ {2}read$/m,
    /^1 message {2}\d+ bytes\n +\d+ {2}1 user: Fix the failing test$/m,
    /^Response {2}200, completed, \w+, \d+ events\n {2}[\d,]+ bytes\n {2}\[sandbox\] You said: Fix the failing test$/m,
    /^Tokens, as the service reports them\n {2}\d+ tokens in/m,
  ])
    assert.match(page, part);
  assert.doesNotMatch(page, /originator/);
  assert.match(
    (await daemon.command("capture", "show", "last", "--headers")).stdout,
    /^ {2}originator: codex_cli_rs$/m,
  );
  const document = JSON.parse((await daemon.command("capture", "show", first, "--json")).stdout) as {
    request: { body: string };
  };
  assert.deepEqual((JSON.parse(document.request.body) as { messages: unknown }).messages, [FIRST]);
  const { stdout: difference } = await daemon.command("capture", "diff", first, second);
  for (const part of [
    /^System prompt\n {2}the same for 24 characters, then:\n {2}- You are an agent\. It is Monday\.\n {2}\+ You are an agent\. It is Tuesday\.$/m,
    /^Messages {2}1 → 3: the first is the same, 2 added\n +\d+ {2}2 assistant: Where\?\n +\d+ {2}3 user: In foo\.ts$/m,
    /^They first differ in the system prompt\. .* before the messages, so these cannot be read from the cache\.$/m,
  ])
    assert.match(difference, part);
  for (const [args, message] of [
    [["show", "x"], /no captured request begins with x/],
    [["show", ""], /several captured requests begin with/],
  ] as const) {
    const { code, stderr } = await daemon.command("capture", ...args);
    assert.equal(code, 1);
    assert.match(stderr, message);
  }
});

test("a request without a model is listed by its path, and compared with none", LIMIT, async (t) => {
  const { daemon, ids } = await startCaptured(t);
  await (await fetch(`${daemon.url}/v1/models?limit=1`, { headers: CODEX })).text();
  const id = await waitUntil("three requests", async () => {
    const { stdout } = await daemon.command("capture", "list", "--json");
    const { requests } = JSON.parse(stdout) as { requests: { id: string; method: string; path: string }[] };
    const [, , third] = requests;
    assert.ok(third === undefined || `${third.method} ${third.path}` === "GET /v1/models");
    return third?.id ?? null;
  });
  assert.match((await daemon.command("capture", "list")).stdout, /^\S+ +\S+ +GET \/v1\/models +200 /m);
  const { code, stderr } = await daemon.command("capture", "diff", ids[0] ?? "", id);
  assert.equal(code, 1);
  assert.match(stderr, /^error: \S+ is GET \/v1\/models\?limit=1, and no request to a model\n/);
});

test("an HTTP archive is a file of the user's own, and replaces none", LIMIT, async (t) => {
  const { daemon, ids } = await startCaptured(t);
  const file = join(daemon.home, "codex.har");
  const { code, stderr } = await daemon.command("capture", "export", "--har", file);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /whoever can read the file can read the prompts/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const { log } = JSON.parse(readFileSync(file, "utf8")) as {
    log: { version: string; entries: Record<string, never>[] };
  };
  assert.deepEqual([log.version, log.entries.length], ["1.2", ids.length]);
  const { request, response, timings, time } = log.entries[0] as unknown as {
    request: { method: string; url: string; postData: { mimeType: string; text: string } };
    response: { status: number; content: { text: string; mimeType: string } };
    timings: Record<string, number>;
    time: number;
  };
  assert.match(request.url, /^http:\/\/127\.0\.0\.1:\d+\/v1\/messages$/);
  assert.deepEqual((JSON.parse(request.postData.text) as { messages: unknown }).messages, [FIRST]);
  assert.match(response.content.text, /^event: message_start\n/);
  assert.ok(Math.abs(Object.values(timings).reduce((sum, part) => sum + part, 0) - time) < 0.01);
  const again = await daemon.command("capture", "export", "last", "--har", file);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /^error: there is a file \S+codex\.har already\n/);
});

test("stop keeps what there is, delete deletes it, and each says so", LIMIT, async (t) => {
  const { daemon, ids } = await startCaptured(t);
  const again = await daemon.command("capture", "codex");
  assert.match(again.stderr, /^error: a capture of codex is running already\n/);
  const stopped = await daemon.command("capture", "stop", "codex");
  assert.match(stopped.stdout, /^The capture of codex has ended with 2 requests, which are kept until /);
  assert.match(
    (await daemon.command("capture", "stop", "codex")).stdout,
    /^No capture of codex is running\.\n/,
  );
  assert.match((await daemon.command("capture", "show", ids[0] ?? "")).stdout, /^Request /);
  assert.equal((await daemon.command("capture", "delete", "7")).stdout, "There is no such capture.\n");
  assert.equal((await daemon.command("capture", "delete", "1")).stdout, "Deleted: 1 capture.\n");
  assert.match((await daemon.command("capture", "list")).stdout, /^Nothing is captured\. /);
  assert.match((await daemon.command("capture", "show", "last")).stderr, /^error: no request is captured\n/);
});

test("wrong usage says what to type", LIMIT, async (t) => {
  const daemon = await startDaemon(t);
  for (const [args, message] of [
    [[], /name a tool/],
    [["codex", "--for", "2d"], /"--for" takes a duration of up to 24 hours/],
    [["codex", "--keep", "x"], /"--keep" takes a duration/],
    [["codex", "--max", "0"], /"--max" takes a whole number/],
    [["delete"], /name a capture, or --all/],
    [["delete", "1", "--all"], /"1"/],
    [["codexx"], /did you mean/],
    [["export"], /har/],
  ] as const) {
    const { code, stderr } = await daemon.command("capture", ...args);
    assert.ok(code !== 0 && message.test(stderr), `${args.join(" ")}: ${stderr}`);
  }
  assert.deepEqual((await daemon.status()).captures, []);
});
