// What an agent is told of costs, by the official client, and what `usage --json` says of the same.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { startMcp } from "../../../helpers/client/mcp.ts";
import { assertSameFigures, homeWithProjects, SINCE } from "../../../helpers/ledger/home-with-projects.ts";
import { tokens } from "../../../helpers/ledger/usage-record.ts";

const million = tokens({ input_uncached: 1_000_000 });

for (const isModern of [false, true]) {
  test(`costs of a project are those of usage --json, in the ${isModern ? "newest" : "earlier"} protocol`, async (t) => {
    const { env, args, shop, usage } = homeWithProjects(t);
    // A directory of the project is in it.
    const { ask } = await startMcp(t, { env, args, cwd: join(shop, "src"), isModern });
    const { text, document, isError } = await ask("project_cost", { since: SINCE, by: "model,session" });
    assert.equal(isError, false, text);
    const expected = await usage("--by", "model,session", "--project", shop);
    assert.equal(expected.rows.length, 4);
    assertSameFigures(document, expected);
    // As the report marks it.
    assert.match(text, /≥/);
    assert.match(text, /1 partial/);
    assert.match(text, /house-model/);
    assert.match(text, /list prices/);
    // A tool may show its model only the document.
    const { total, rows, explained } = document as {
      total: { cost: string };
      rows: { cost: string; model: string }[];
      explained: string[];
    };
    assert.match(total.cost, /^≥\$/);
    assert.equal(rows.find(({ model }) => model === "house-model")?.cost, "unpriced");
    assert.match(explained.join("\n"), /1 partial[^]*≥ means at least[^]*list prices[^]*house-model/);
    const branch = await ask("project_cost", { since: SINCE, branch: "HEAD" });
    assertSameFigures(branch.document, await usage("--by", "model", "--project", shop, "--branch", "main"));
    const day = await ask("project_cost", { since: "2026-11-20", until: "2026-11-20" });
    assert.match(day.text, /No usage is recorded for 2026-11-20/);
  });
}

test("costs of a session are those of usage session --json, and the answer says which session is meant", async (t) => {
  const { env, args, shop, usage } = homeWithProjects(t);
  const { ask } = await startMcp(t, { env, args, cwd: shop });
  const { text, document } = await ask("session_cost", { session: "s1", since: SINCE });
  assertSameFigures(document, await usage("session", "s1"));
  assert.equal(document["session"], "s1");
  assert.match(text, /^Session s1: as asked\.\nUsage of session s1 by agent/);
});

test("the session that asks is the one that Codex names, or that Claude Code gave, or the newest by the tool", async (t) => {
  const { env, args, shop } = homeWithProjects(t);
  const claude = { ...env, CLAUDE_CODE_SESSION_ID: "s2" };
  const given = { since: SINCE };
  const meta = { "x-codex-turn-metadata": { session_id: "s3" } };
  const codex = await startMcp(t, { env, args, cwd: shop, name: "codex-mcp-client" });
  assert.equal((await codex.ask("session_cost", given, meta)).document["session"], "s3");
  const newest = await codex.ask("session_cost", given);
  assert.equal(newest.document["session"], "s3", "the last record of a main agent");
  assert.match(newest.text, /the newest one of this project by codex, which may not be the one that asks/);
  const ofClaude = await startMcp(t, { env: claude, args, cwd: shop, name: "claude-code" });
  assert.equal((await ofClaude.ask("session_cost", given)).document["session"], "s2");
  // Another tool may have been started by Claude Code, and inherits its variable.
  const inherited = await startMcp(t, { env: claude, args, cwd: shop, name: "codex-mcp-client" });
  assert.equal((await inherited.ask("session_cost", given)).document["session"], "s3");
  const unknown = await startMcp(t, { env, args, cwd: shop, name: "opencode" });
  const none = await unknown.ask("session_cost", given);
  assert.ok(none.isError);
  assert.match(none.text, /no session of this project by opencode is recorded/);
});

test("without recorded projects, only the session that asks is known", async (t) => {
  const { env, args, shop } = homeWithProjects(t, { isRecorded: false });
  const { ask } = await startMcp(t, {
    env: { ...env, CLAUDE_CODE_SESSION_ID: "s1" },
    args,
    cwd: shop,
    name: "claude-code",
  });
  const { text, isError } = await ask("project_cost", { since: SINCE });
  assert.ok(isError);
  assert.match(
    text,
    /^error: projects are not recorded\nhint: .*tollkeeper .*config set ledger\.project true/,
  );
  assert.equal((await ask("session_cost", { since: SINCE })).document["session"], "s1");
  assert.ok((await ask("session_cost", { since: SINCE, session: "s1" })).isError);
});

test("what is asked wrongly is an error that says what is right", async (t) => {
  const { env, args, shop } = homeWithProjects(t);
  const { ask, client } = await startMcp(t, { env, args, cwd: shop });
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ by: "colour" }, /"by" takes one or two different groupings\nhint: they are: tool, model, /],
    [{ by: "model,model" }, /"by" takes one or two/],
    [{ since: "sometime" }, /cannot read --since "sometime"/],
    [{ branche: "main" }, /"project_cost" has no parameter "branche"\nhint: its parameters are: since, /],
    [{ since: 7 }, /"since" must be a text/],
  ];
  for (const [given, message] of wrong) {
    const { text, isError } = await ask("project_cost", given);
    assert.ok(isError);
    assert.match(text, message);
  }
  await assert.rejects(client.callTool({ name: "budget_reset", arguments: {} }), /no tool "budget_reset"/);
});

test("an answer has few rows, and says how many it leaves out", async (t) => {
  const records = Array.from({ length: 25 }, (_, at) => ({ session: `s${at}`, tokens: million }));
  const { env, args, shop, usage } = homeWithProjects(t, { records });
  const { ask } = await startMcp(t, { env, args, cwd: shop });
  const { text, document } = await ask("project_cost", { since: SINCE, by: "session" });
  const expected = await usage("--by", "session", "--project", shop);
  assertSameFigures(document, { ...expected, rows: expected.rows.slice(0, 20) });
  assert.equal(document["rows_left_out"], 5);
  assert.match(text, /5 more rows not shown/);
});

test("names that control a terminal are escaped", async (t) => {
  const { env, args, shop } = homeWithProjects(t, {
    records: [{ model: "m\u001B[2J\u0007", tokens: million }],
  });
  const { ask } = await startMcp(t, { env, args, cwd: shop });
  const { text } = await ask("project_cost", { since: SINCE });
  assert.match(text, /\[2J/);
  // No control character but the ends of lines.
  assert.doesNotMatch(text, /[^\P{Cc}\n]/u);
});
