// The word `last` stands for the newest one wherever a command takes the id of a request, a session or a capture.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { post } from "../../helpers/gate/gate.ts";
import { homeWithLedger } from "../../helpers/ledger/home-with-ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const SINCE = ["--since", "2026-11-01"];
const at = (day: number, minute: string) => `2026-11-${day}T10:${minute}:00.000Z`;

/** A session of the day before, one whose last request is of a child of a child, as with opencode, and a request without a session. */
const RECORDS: Partial<UsageRecord>[] = [
  { ts: at(20, "00"), session: "before", tool: "codex" },
  { ts: at(20, "01"), session: "root", tool: "opencode" },
  { ts: at(20, "02"), session: "root", agent: "child", agent_kind: "subagent", tool: "opencode" },
  {
    ts: at(21, "00"),
    session: "child",
    agent: "grandchild",
    agent_kind: "subagent",
    tool: "opencode",
    id: "of-grandchild",
  },
  { ts: at(21, "01"), session: null, tool: "curl", id: "newest" },
];

function prepare(t: TestContext, records: readonly Partial<UsageRecord>[] = RECORDS) {
  const files: Record<string, string> = {};
  for (const changes of records) {
    const record = usageRecord(changes);
    const name = `${record.ts.slice(0, 10)}.ndjson`;
    files[name] = `${files[name] ?? ""}${JSON.stringify(record)}\n`;
  }
  return homeWithLedger(t, files);
}

test("usage session last is the session of the newest request that has one, with the child sessions above it", async (t) => {
  const { command } = prepare(t);
  const { stdout } = await command("usage", "session", "last", "--json", ...SINCE);
  const { session, rows } = parseJsonOutput(stdout) as { session: string; rows: { agent: string | null }[] };
  assert.equal(session, "root");
  assert.deepEqual(
    rows.map(({ agent }) => agent),
    [null, "child", "grandchild"],
  );
});

test("filters and the period choose among the sessions for last", async (t) => {
  const { command } = prepare(t);
  const idOf = async (...args: string[]) =>
    (
      parseJsonOutput((await command("usage", "session", "last", "--json", ...args)).stdout) as {
        session: string;
      }
    ).session;
  assert.equal(await idOf(...SINCE, "--tool", "code*"), "before");
  assert.equal(await idOf("--since", "2026-11-20", "--until", "2026-11-20T10:01Z"), "before");
  const none = await command("usage", "session", "last", ...SINCE, "--tool", "zed");
  assert.equal(none.code, 1);
  assert.match(none.stderr, /no request with a session is recorded for .*\nhint: .*usage --by session/);
  const without = await command("usage", "session");
  assert.equal(without.code, 2);
  assert.match(without.stderr, /"usage session" needs the id of a session, or the word last\n/);
});

test("made-up sessions that descend from each other end the search", async (t) => {
  const { command } = prepare(t, [
    { ts: at(20, "00"), session: "one", agent: "other" },
    { ts: at(20, "01"), session: "other", agent: "one" },
  ]);
  const { code, stdout } = await command("usage", "session", "last", "--json", ...SINCE);
  assert.equal(code, 0);
  assert.equal((parseJsonOutput(stdout) as { rows: unknown[] }).rows.length, 2);
});

test("--session last limits usage, tail and ledger export to that session", async (t) => {
  const { command } = prepare(t);
  const usage = await command("usage", "--session", "last", "--json", ...SINCE);
  assert.equal((parseJsonOutput(usage.stdout) as { total: { requests: number } }).total.requests, 2);
  const lines = async (...args: string[]) =>
    (await command(...args, "--session", "last")).stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as UsageRecord).ts);
  const expected = [at(20, "01"), at(20, "02")];
  assert.deepEqual(await lines("ledger", "export", ...SINCE), expected);
  assert.deepEqual(await lines("tail", "--no-follow", "--json"), expected);
  assert.deepEqual(await lines("tail", "--no-follow", "--json", ...SINCE), expected);
  assert.deepEqual((await lines("tail", "--dearest", "--json", ...SINCE)).toSorted(), expected);
});

test("route --explain last and prices --record last are about the newest request", async (t) => {
  const { command } = prepare(t);
  const record = await command("prices", "--record", "last", "--json");
  assert.equal((parseJsonOutput(record.stdout) as { record: { id: string } }).record.id, "newest");
  const byId = await command("route", "--explain", "newest", "--json");
  assert.equal((await command("route", "--explain", "last", "--json")).stdout, byId.stdout);
  for (const args of [
    ["route", "--explain", "last"],
    ["prices", "--record", "last"],
    ["explain", "last"],
  ]) {
    const { code, stderr } = await homeWithLedger(t, {}).command(...args);
    assert.equal(code, 1);
    assert.match(stderr, /no request is recorded yet\nhint: .*tollkeeper connect --list\n/);
  }
});

test("capture delete last deletes the newest capture", async (t) => {
  const daemon = await startDaemon(t);
  assert.equal((await daemon.command("capture", "delete", "last")).stdout, "There is no such capture.\n");
  for (const tool of ["codex", "zed"]) await daemon.command("capture", tool);
  await (await post(daemon, "/t/zed/v1/responses", { model: "gpt-5", input: "hi" })).text();
  assert.equal((await daemon.command("capture", "delete", "last")).stdout, "Deleted: 1 capture.\n");
  const { stdout } = await daemon.command("capture", "list", "--json");
  const { captures } = parseJsonOutput(stdout) as { captures: { tool: string }[] };
  assert.deepEqual(
    captures.map(({ tool }) => tool),
    ["codex"],
  );
});
