import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { formatRecord } from "../../../../src/core/ledger/format-record.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { startWithRecords, writeRecords } from "../../../helpers/client/dashboard.ts";
import { startDaemonWithUpstream } from "../../../helpers/daemon/daemon-with-upstream.ts";
import { launchDaemon, startDaemon } from "../../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../../helpers/daemon/program.ts";
import { startTail } from "../../../helpers/daemon/tail.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { aMinuteAgoToday } from "../../../helpers/ledger/a-minute-ago.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { noTerminal, runOnTerminal } from "../../../helpers/process/terminal.ts";
import { startStream } from "../../../daemon/running-stream.ts";

const NO_TOKENS = { usage: "none", tokens: null } as const;
const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };

test("tail prints a line when a request ends: time, tool, model, tokens, cost, duration, outcome", async (t) => {
  const daemon = await startDaemon(t);
  const { lines } = await startTail(t, daemon);
  await (await post(daemon, "/t/codex/v1/messages", BODY)).text();
  assert.match(
    String((await lines.next()).value),
    /^\d\d:\d\d:\d\d {2}codex +claude-sonnet-5 +\d+ +\d+ +sandbox +[\d.]+ s {2}200 completed$/,
  );
  await (await fetch(`${daemon.url}/v1/models`)).text();
  assert.match(String((await lines.next()).value), / [\d.]+ s {2}200 completed GET \/models$/);
});

test("tail --tool of a tool that nobody knows says which one was probably meant", async (t) => {
  const daemon = await startDaemon(t);
  const { notes } = await startTail(t, daemon, "--tool", "codx");
  assert.equal((await notes.next()).value, 'note: no tool called "codx" is known; did you mean "codex"?');
});

test("tail escapes line ends in a model's name", async (t) => {
  const daemon = await startDaemon(t);
  const { lines } = await startTail(t, daemon);
  const model = "evil\n12:00:00  x";
  await (await post(daemon, "/t/codex/v1/messages", { ...BODY, model })).text();
  assert.match(String((await lines.next()).value), /^\d\d:\d\d:\d\d {2}codex .*evil\\u000a12:00:0/);
});

test("tail prints hostile texts of records as short, printable text", async (t) => {
  const hostile = [
    "<b>\u202eevil\u2066",
    "a\u0007\u001b[31m\u009b2Jb\r\nc",
    "x".repeat(65_536),
    "\ud800",
    "__proto__",
  ];
  const daemon = await startWithRecords(
    t,
    hostile.map((text) =>
      usageRecord({
        ts: new Date().toISOString(),
        outcome: "error",
        tool: text,
        model: text,
        session: text,
        route: text,
        error_type: text,
      }),
    ),
  );
  const { code, stdout } = await daemon.command("tail", "--no-follow");
  const [, ...lines] = stdout.trimEnd().split("\n");
  assert.deepEqual([code, lines.length], [0, hostile.length]);
  for (const line of lines) {
    assert.match(line, /^[\u0020-\u007e…]+$/);
    assert.ok(line.length < 1_000, `${line.length} characters`);
  }
});

test("tail --json prints the records of the ledger", async (t) => {
  const daemon = await startDaemon(t);
  const { lines } = await startTail(t, daemon, "--json");
  await (await post(daemon, "/v1/messages", BODY)).text();
  const record = JSON.parse(String((await lines.next()).value)) as UsageRecord;
  assert.deepEqual([record], await daemon.ledger());
});

test("tail without a running daemon fails and says how to start it; --no-follow prints the past all the same", async (t) => {
  const daemon = await startDaemon(t);
  await (await post(daemon, "/t/codex/v1/messages", BODY)).text();
  await daemon.stop();
  const { code, stdout, stderr } = await daemon.command("tail");
  assert.deepEqual([code, stdout], [1, ""]);
  // The command depends on the service manager of this machine.
  assert.match(stderr, /^error: tollkeeper is not running\nhint: [^]*tollkeeper serve/);
  const past = await daemon.command("tail", "--no-follow");
  assert.deepEqual([past.code, past.stderr], [0, ""]);
  assert.match(past.stdout, /^time .*\n\S+ {2}codex .* 200 completed\n$/);
});

test("tail shows requests that are refused, with a record or without one, as refused", async (t) => {
  const { daemon, keyFile } = await startDaemonWithUpstream(t);
  const { lines } = await startTail(t, daemon);
  await (await post(daemon, "/t/codex/v1/realtime?key=secret", BODY)).text();
  assert.match(
    String((await lines.next()).value),
    /^\d\d:\d\d:\d\d {2}codex +404 not_found, refused by tollkeeper: POST \/t\/codex\/v1\/realtime$/,
  );
  rmSync(keyFile.path);
  await (await post(daemon, "/v1/messages", BODY)).text();
  assert.match(String((await lines.next()).value), / 402 key_unavailable, refused by tollkeeper$/);
});

test("tail --json prints a refusal without a record as an object of its own", async (t) => {
  const daemon = await startDaemon(t);
  const { lines } = await startTail(t, daemon, "--json");
  await (await post(daemon, "/v1/realtime", BODY)).text();
  const { ts, ...refusal } = JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
  assert.ok(Date.parse(String(ts)) > 0);
  const expected = {
    refused: "not_found",
    status: 404,
    tool: "unknown",
    method: "POST",
    path: "/v1/realtime",
  };
  assert.deepEqual(refusal, expected);
});

test("tail prints the last requests first, as many as -n says, and each once", async (t) => {
  const daemon = await startDaemon(t);
  for (const tool of ["aider", "codex", "zed"])
    await (await post(daemon, `/t/${tool}/v1/messages`, BODY)).text();
  const { lines } = await startTail(t, daemon, "-n", "2");
  await (await post(daemon, "/t/cline/v1/messages", BODY)).text();
  const tools = [];
  for (let at = 0; at < 3; at += 1) tools.push(String((await lines.next()).value).split(/ +/)[1]);
  assert.deepEqual(tools, ["codex", "zed", "cline"]);
});

test("tail --since prints what is wanted of a period, and filters what comes", async (t) => {
  const daemon = await startDaemon(t);
  for (const tool of ["aider", "codex"]) await (await post(daemon, `/t/${tool}/v1/messages`, BODY)).text();
  const past = await daemon.command("tail", "--no-follow", "--since", "today", "--tool", "c*");
  assert.match(past.stdout, /^time [^\n]*\n\S+ {2}codex [^\n]*\n$/);
  const before = ["--no-follow", "--since", "2020-01-01", "--until", "2020-01-02"];
  assert.equal((await daemon.command("tail", ...before)).stdout, "");
  const endless = await daemon.command("tail", "--since", "today", "--until", "today");
  assert.match(endless.stderr, /"--until" is for the past only: add "--since" and "--no-follow"/);
  assert.equal(endless.code, 2);
  const { lines } = await startTail(t, daemon, "-n", "0", "--tool", "c*");
  await (await post(daemon, "/t/zed/v1/realtime", BODY)).text();
  await (await post(daemon, "/t/zed/v1/messages", BODY)).text();
  await (await post(daemon, "/t/cline/v1/messages", BODY)).text();
  assert.match(String((await lines.next()).value), /^\S+ {2}cline /);
});

test("tail goes on with the next daemon, and prints what was recorded before it had found that", async (t) => {
  const { daemon, keyFile, upstream } = await startDaemonWithUpstream(t);
  const { lines, notes } = await startTail(t, daemon);
  await daemon.stop();
  assert.equal((await notes.next()).value, "the daemon has stopped; waiting for the next one");
  const { ready, kill } = launchDaemon(daemon.home, { config: keyFile.config });
  t.after(kill);
  const next = await ready;
  await (await post(next, "/t/codex/v1/messages", BODY)).text();
  assert.equal((await notes.next()).value, "the daemon has started");
  assert.match(String((await lines.next()).value), /^\S+ {2}codex /);
  await (await post(next, "/t/zed/v1/messages", BODY)).text();
  assert.match(String((await lines.next()).value), /^\S+ {2}zed /);
  assert.equal(upstream.seen.length, 2);
});

test("tail prints what was appended while no daemon ran, however long ago its request arrived", async (t) => {
  const { daemon, keyFile } = await startDaemonWithUpstream(t);
  const { lines, notes } = await startTail(t, daemon);
  await daemon.stop();
  assert.equal((await notes.next()).value, "the daemon has stopped; waiting for the next one");
  // Its usage came two days after it, as that of a background response may.
  const ts = new Date(Date.now() - 172_800_000).toISOString();
  const late = usageRecord({ id: "late", ts, tool: "aider", duration_ms: 900 });
  const directory = join(String(daemon.env["XDG_STATE_HOME"]), "tollkeeper/ledger");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, `${ts.slice(0, 10)}.ndjson`), `${formatRecord(late)}\n`, { mode: 0o600 });
  const { ready, kill } = launchDaemon(daemon.home, { config: keyFile.config });
  t.after(kill);
  await ready;
  assert.equal((await notes.next()).value, "the daemon has started");
  assert.match(String((await lines.next()).value), /^\d{4}-\d\d-\d\d \d\d:\d\d {2}aider /);
});

test("tail --lines takes no fraction", async (t) => {
  const daemon = await startDaemon(t);
  const { code, stderr } = await daemon.command("tail", "-n", "1.5");
  assert.equal(code, 2);
  assert.match(stderr, /"--lines" takes a whole number/);
});

test(
  "on a terminal, running requests stay below the others, and leave the screen at the end",
  { skip: noTerminal },
  async (t) => {
    const { daemon, finish } = await startStream(t);
    const { code, text } = await runOnTerminal([process.execPath, PROGRAM, "tail"], { env: daemon.env }, [
      ["  waiting", "\u0003"],
    ]);
    assert.equal(code, 130);
    assert.match(stripVTControlCharacters(text), /^\d\d:\d\d:\d\d .* {2}waiting\r$/m);
    // Removed from below, so that it is not taken for one that has ended.
    const ESC = "\u001b[";
    assert.ok(text.endsWith(`${ESC}1A\r${ESC}J`), JSON.stringify(text.slice(-80)));
    await finish();
  },
);

test("tail --no-follow into a pipe has a head, and no second time that says the same as the first", async (t) => {
  const ended = { ts: new Date().toISOString(), ttft_ms: 900, duration_ms: 900 };
  const daemon = await startWithRecords(t, [usageRecord(ended), usageRecord({ ...ended, ttft_ms: 200 })]);
  const { stdout } = await daemon.command("tail", "--no-follow", "-n", "2");
  const [head = "", ...rows] = stdout.trimEnd().split("\n");
  assert.match(head, /^time +tool +model +tokens in +cached +out +cost +first +took$/);
  assert.match(rows[0] ?? "", / {10,}0\.9 s {2}200 completed$/);
  assert.doesNotMatch(rows[0] ?? "", /0\.9 s +0\.9 s/);
  assert.match(rows[1] ?? "", /0\.2 s +0\.9 s {2}200 completed$/);
});

test("tail -f is tail --follow, and a web page is named as what it is", async (t) => {
  const page: Partial<UsageRecord> = { outcome: "error", error_type: "web_page", flags: ["web_page"] };
  const ts = new Date().toISOString();
  const daemon = await startWithRecords(t, [usageRecord({ ts, ...page, usage: "absent", tokens: null })]);
  const { stdout } = await daemon.command("tail", "--no-follow");
  assert.match(stdout, /200 web page, not the API: wrong base URL, or a proxy or login page$/m);
  const { stderr } = await daemon.command("tail", "-f", "--until", "today");
  assert.match(stderr, /^error: "--until" is for the past only/);
});

test("tail --outcome prints requests that did not complete, or missed the cache, those to come, too", async (t) => {
  const daemon = await startDaemon(t);
  const lost = [
    { tool: "fine" },
    { tool: "failed", ...NO_TOKENS, outcome: "error", status: 529, error_type: "overloaded_error" },
    {
      tool: "unreachable",
      ...NO_TOKENS,
      outcome: "rejected",
      status: 502,
      error_type: "upstream_unreachable",
    },
    { tool: "cut", outcome: "cut", cut_by: "client", usage: "partial" },
    { tool: "refused", ...NO_TOKENS, outcome: "rejected", status: 400, error_type: "budget_spent" },
    { tool: "missed", miss: "expired", miss_by: "inferred", miss_tokens: 1_000 },
  ] as const;
  writeRecords(
    daemon,
    lost.map((one) => usageRecord({ ...one, ts: new Date().toISOString() })),
  );
  for (const [outcome, tools] of [
    ["failed", ["failed", "unreachable"]],
    ["cut", ["cut"]],
    ["refused", ["refused"]],
    ["problem", ["failed", "unreachable", "cut", "refused"]],
    ["missed", ["missed"]],
  ] as const) {
    const { stdout } = await daemon.command("tail", "--no-follow", "--json", "--outcome", outcome);
    const found = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as UsageRecord).tool);
    assert.deepEqual(found, tools);
  }
  const { lines } = await startTail(t, daemon, "-n", "0", "--outcome", "refused");
  await (await post(daemon, "/t/zed/v1/messages", BODY)).text();
  await (await post(daemon, "/t/cline/v1/realtime", BODY)).text();
  assert.match(String((await lines.next()).value), /^\S+ {2}cline /);
});

test("tail --dearest prints the dearest requests of a period with their days, the dearest first", async (t) => {
  const daemon = await startWithRecords(t, []);
  const now = aMinuteAgoToday();
  const costs = [3, 9, 1, 7, 5, 2, 8, 4, 6];
  const records = costs.map((thousands, at) =>
    usageRecord({
      ts: new Date(now + at).toISOString(),
      id: `of-${thousands}`,
      tool: at % 2 === 0 ? "codex" : "zed",
      model: "claude-sonnet-5",
      tokens: tokens({ output: 1_000 * thousands }),
    }),
  );
  writeRecords(daemon, [usageRecord({ ...records[0], model: "of-no-price", id: "unpriced" }), ...records]);
  const ids = async (...words: string[]) =>
    (await daemon.command("tail", "--dearest", "--json", ...words)).stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as UsageRecord).id);
  assert.deepEqual(await ids("-n", "3"), ["of-9", "of-8", "of-7"]);
  assert.deepEqual(await ids("-n", "2", "--tool", "codex"), ["of-8", "of-6"]);
  assert.equal((await ids()).at(-1), "unpriced");
  const { stdout } = await daemon.command(
    "tail",
    "--dearest",
    "-n",
    "1",
    "--since",
    "today",
    "--until",
    "today",
  );
  assert.match(stdout, /^day +tool [^\n]*\n\d{4}-\d\d-\d\d \d\d:\d\d {2}zed [^\n]*\$0\.0900[^\n]*\n$/);
});
