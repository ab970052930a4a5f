// Why a request cost what it did, as an agent is told, and what `explain --json` says of the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startMcp } from "../../../helpers/client/mcp.ts";
import { homeWithProjects } from "../../../helpers/ledger/home-with-projects.ts";
import { tokens } from "../../../helpers/ledger/usage-record.ts";

const SHARED = { session: "s1", tool: "codex", model: "claude-sonnet-5", upstream: "default" } as const;
const at = (minute: string) => `2026-11-21T10:${minute}:00.000Z`;

/** The second request has missed the cache, and the third has not. */
const RECORDS = [
  { ...SHARED, id: "first", ts: at("00"), tokens: tokens({ cache_write: 20_000, output: 10 }) },
  {
    ...SHARED,
    id: "second",
    ts: at("01"),
    tokens: tokens({ cache_write: 21_000, output: 10 }),
    miss: "tools_changed",
    miss_by: "said",
    miss_tokens: 20_000,
  },
  { ...SHARED, id: "third", ts: at("02"), tokens: tokens({ cache_read: 21_000, output: 10 }) },
  { ...SHARED, id: "newer", session: "s2", ts: at("03"), tokens: tokens({ output: 1 }) },
] as const;
const OTHERS = [{ ...SHARED, id: "secret", session: "s9", ts: at("04"), tokens: tokens({ output: 1 }) }];

test("the last request of a session, and the last that missed the cache, are told as explain --json says it", async (t) => {
  const { env, args, shop, command } = homeWithProjects(t, { records: RECORDS, others: OTHERS });
  const { ask } = await startMcp(t, { env, args, cwd: shop });
  const asked = { session: "s1" };
  for (const [given, id] of [
    [asked, "third"],
    [{ ...asked, request: "last" }, "third"],
    [{ ...asked, request: "missed" }, "second"],
    [{ session: "last" }, "newer"],
    [{ request: "first" }, "first"],
  ] as const) {
    const { document, isError, text } = await ask("last_request", given);
    assert.equal(isError, false, text);
    const { record, ...expected } = JSON.parse((await command("explain", id, "--json")).stdout) as Record<
      string,
      unknown
    >;
    assert.equal(document["id"], id);
    for (const name of ["cost", "worth", "cache", "miss", "usual"])
      assert.deepEqual(document[name], expected[name], name);
    assert.deepEqual(document["tokens"], (record as { tokens: unknown }).tokens);
  }
});

test("an answer says in words why the cache was missed and what that cost, and is short", async (t) => {
  const { env, args, shop } = homeWithProjects(t, { records: RECORDS, others: OTHERS });
  const { ask } = await startMcp(t, { env, args, cwd: shop });
  const { text, document } = await ask("last_request", { session: "s1", request: "missed" });
  assert.match(text, /^Request second: the last request that missed the cache of session s1, as asked\.\n/);
  // 20,000 tokens written at $2.50 a million, where reading them costs $0.20.
  const reason =
    /the tools changed \(the service says so\): 20,000 tokens of it could have been read from the cache, for \$0\.0460 less/;
  assert.match(text, reason);
  assert.match((document["explained"] as string[]).join("\n"), reason);
  assert.match(text, /to cache \(5 min\) +21,000/);
  assert.ok(JSON.stringify(document).length < 4_000);
});

test("requests of other projects are not told, and what is not there is an error", async (t) => {
  const { env, args, shop } = homeWithProjects(t, { records: RECORDS, others: OTHERS });
  const { ask } = await startMcp(t, { env, args, cwd: shop });
  for (const [given, message] of [
    [{ request: "secret" }, /^error: the request is of another project, or of none/],
    [{ request: "nothing" }, /^error: the ledger has no record with this id/],
    [{ session: "s9" }, /^error: the ledger has no last request of session s9/],
    [{ session: "s2", request: "missed" }, /^error: the ledger has no last request that missed the cache/],
  ] as const) {
    const { isError, text, document } = await ask("last_request", given);
    assert.deepEqual([isError, document], [true, {}]);
    assert.match(text, message);
  }
  const all = await startMcp(t, { env, args: [...args, "--all-projects"], cwd: shop });
  assert.equal((await all.ask("last_request", { request: "secret" })).document["id"], "secret");
});
