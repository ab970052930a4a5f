import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { FEEDS, startFeeds } from "../../helpers/gate/feeds.ts";
import { post } from "../../helpers/gate/gate.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };

test("our own user gets each feed, which is not to be stored, taken for a page, or read by another origin", async (t) => {
  const { gate, upstream, ask } = await startFeeds(t);
  for (const [name, expected] of [
    ["status", '{"state":"serving"}'],
    ["running", '{"total":0,"requests":[]}'],
    ["usage?by=tool", '["usage","--json","--by=tool"]'],
    ["records?lines=3", '["tail","--no-follow","--json","--cost","--lines=3"]'],
    ["out-of-line", '{"today":null}'],
    ["limits", '["limits","--json"]'],
    ["cost?record=some-id", '["prices","--json","--record=some-id"]'],
  ] as const) {
    const res = await ask(name);
    assert.deepEqual([res.status, await res.text()], [200, expected]);
    assert.deepEqual(
      [
        "cache-control",
        "x-content-type-options",
        "cross-origin-resource-policy",
        "access-control-allow-origin",
        "set-cookie",
      ].map((header) => res.headers.get(header)),
      ["no-store", "nosniff", "same-origin", null, null],
    );
  }
  assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
});

test("only GET reads feeds, and what does not exist is said to be missing", async (t) => {
  const { gate, ask } = await startFeeds(t);
  for (const method of ["PUT", "DELETE", "PATCH"])
    assert.equal((await fetch(`${gate.url}${FEEDS}/status`, { method })).status, 404);
  for (const name of ["", "nothing", "constructor", "__proto__", "../v1/models"])
    assert.ok([401, 404].includes((await ask(name)).status), name);
});

test("a question that our command does not understand is a bad request, and a failure is the daemon's", async (t) => {
  for (const [code, stderr, status, error] of [
    [2, "error: no time zone is called X\nhint: y\n", 400, "no time zone is called X"],
    [1, "error: the ledger cannot be read\n", 500, "the ledger cannot be read"],
    [null, "", 500, "the answer took too long, or is too long; ask for a shorter period"],
  ] as const) {
    const { ask } = await startFeeds(t, { ask: () => Promise.resolve({ code, stdout: "", stderr }) });
    const res = await ask("usage");
    assert.deepEqual([res.status, await res.json()], [status, { error }]);
  }
  const { ask } = await startFeeds(t, { ask: () => null });
  assert.equal((await ask("usage")).status, 503);
  assert.equal((await ask("usage?x=1")).status, 400);
  assert.equal((await ask("limits?config=/etc/passwd")).status, 400);
});

test("a daemon's feeds say the same as its commands", async (t) => {
  const daemon = await startDaemon(t);
  await (await post(daemon, "/t/codex/v1/messages", BODY)).text();
  const read = async (name: string) => (await fetch(`${daemon.url}${FEEDS}/${name}`)).text();
  const usage = (await daemon.command("usage", "--json", "--by", "tool,day", "--since", "today")).stdout;
  assert.deepEqual(JSON.parse(await read("usage?by=tool,day&since=today")), JSON.parse(usage));
  const tail = (await daemon.command("tail", "--no-follow", "--json", "--cost")).stdout;
  assert.deepEqual(JSON.parse(await read("records")), JSON.parse(tail));
  const { id } = JSON.parse(tail) as { id: string };
  const cost = (await daemon.command("prices", "--json", "--record", id)).stdout;
  assert.deepEqual(JSON.parse(await read(`cost?record=${id}`)), JSON.parse(cost));
  const { upstreams } = JSON.parse(await read("status")) as { upstreams: { is_sandbox: boolean }[] };
  assert.equal(upstreams[0]?.is_sandbox, true);
});

test("the live feed has what runs and what ends", async (t) => {
  const daemon = await startDaemon(t);
  const res = await fetch(`${daemon.url}${FEEDS}/live`);
  assert.match(res.headers.get("content-type") ?? "", /^text\/event-stream/);
  await (await post(daemon, "/t/codex/v1/messages", BODY)).text();
  let text = "";
  for await (const chunk of res.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    if (/event: entry\n.*\n\n/.test(text)) break;
  }
  assert.match(text, /^event: running\ndata: \{"total":0,"requests":\[\]\}\n\n/);
  assert.match(text, /event: entry\ndata: \{"v":2,[^\n]*"tool":"codex"/);
});
