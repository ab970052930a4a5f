import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { FeedSources } from "../../../src/local/dashboard/feeds.ts";
import { DashboardSessions } from "../../../src/local/dashboard/sessions.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { post } from "../../helpers/gate/gate.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { peersOf, realClock } from "../../helpers/gate/memory.ts";
import { exchangeRaw } from "../../helpers/client/raw-exchange.ts";
import { respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";

const OWN = process.getuid?.() ?? 0;
const FEEDS = "/_tollkeeper/v1";
const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };

async function start(
  t: TestContext,
  given: Partial<FeedSources> & { uid?: number | null; peerUid?: number[] } = {},
) {
  const { uid = OWN, peerUid = [], ...changes } = given;
  const sessions = new DashboardSessions(realClock);
  const feeds: FeedSources = {
    needsSession: () => false,
    isStopping: () => false,
    status: () => Promise.resolve({ state: "serving" }),
    running: () => ({ total: 0, requests: [] }),
    subscribe: () => () => {},
    ask: (query) => Promise.resolve({ code: 0, stdout: JSON.stringify(query), stderr: "" }),
    sessions,
    ...changes,
  };
  const { gate, upstream } = await startGateWithUpstream(t, respondWithMessage, {
    feeds,
    peers: peersOf(uid),
    config: { access: { mode: "open", peerUid } },
  });
  const ask = (name: string, headers: Record<string, string> = {}) =>
    fetch(`${gate.url}${FEEDS}/${name}`, { headers });
  return { gate, upstream, sessions, ask };
}

test("our own user gets each feed, which is not to be stored, taken for a page, or read by another origin", async (t) => {
  const { gate, upstream, ask } = await start(t);
  for (const [name, expected] of [
    ["status", '{"state":"serving"}'],
    ["running", '{"total":0,"requests":[]}'],
    ["usage?by=tool", '["usage","--json","--by=tool"]'],
    ["records?lines=3", '["tail","--no-follow","--json","--cost","--lines=3"]'],
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

for (const [what, given] of [
  ["where the system cannot tell who asks", { uid: null }],
  ["where local tokens are required", { needsSession: () => true }],
] as const) {
  test(`${what}, a feed wants a session, and a ticket is worth one`, async (t) => {
    const { sessions, ask } = await start(t, given);
    for (const name of ["status", "running", "usage", "records", "live", "nothing"])
      assert.equal((await ask(name)).status, 401, name);
    const ticket = sessions.issueTicket();
    const { session } = (await (await ask("session", { "x-tollkeeper-ticket": ticket })).json()) as {
      session: string;
    };
    assert.equal((await ask("status", { "x-tollkeeper-session": session })).status, 200);
    assert.equal((await ask("session", { "x-tollkeeper-ticket": ticket })).status, 401);
    assert.equal((await ask("status", { cookie: `tollkeeper-session=${session}` })).status, 401);
    assert.equal((await ask(`status?session=${session}`)).status, 401);
    sessions.endAll();
    assert.equal((await ask("status", { "x-tollkeeper-session": session })).status, 401);
  });
}

test("another user gets no feed, not even with a session; one whom peerUid admits gets none without", async (t) => {
  const stranger = await start(t, { uid: 12_345 });
  const session = stranger.sessions.exchange(stranger.sessions.issueTicket()) ?? "";
  assert.equal((await stranger.ask("status", { "x-tollkeeper-session": session })).status, 400);
  const admitted = await start(t, { uid: 12_345, peerUid: [12_345] });
  assert.equal((await admitted.ask("status")).status, 401);
});

for (const [what, fields] of [
  ["another origin", ["Origin: https://evil.example"]],
  ["a page on another port of localhost", ["Origin: http://127.0.0.1:3000", "Sec-Fetch-Site: same-site"]],
  ["a cross-site request without an origin, as of a script or image", ["Sec-Fetch-Site: cross-site"]],
  ["a same-site one, as from another port", ["Sec-Fetch-Site: same-site"]],
  ["a foreign referrer", ["Referer: https://evil.example/"]],
] as const) {
  test(`${what} gets no feed`, async (t) => {
    const { gate } = await start(t);
    const own = `Host: 127.0.0.1:${gate.port}`;
    const { refusal } = await exchangeRaw(t, gate.port, [`GET ${FEEDS}/status HTTP/1.1`, own, ...fields]);
    assert.equal(refusal, "origin_not_allowed");
  });
}

test("a name that is not ours gets no feed", async (t) => {
  const { gate } = await start(t);
  const { refusal } = await exchangeRaw(t, gate.port, [`GET ${FEEDS}/status HTTP/1.1`, "Host: evil.example"]);
  assert.equal(refusal, "host_not_allowed");
});

test("only GET reads feeds, and what does not exist is said to be missing", async (t) => {
  const { gate, ask } = await start(t);
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
    const { ask } = await start(t, { ask: () => Promise.resolve({ code, stdout: "", stderr }) });
    const res = await ask("usage");
    assert.deepEqual([res.status, await res.json()], [status, { error }]);
  }
  const { ask } = await start(t, { ask: () => null });
  assert.equal((await ask("usage")).status, 503);
  assert.equal((await ask("usage?x=1")).status, 400);
});

test("a question is ended when its asker leaves", async (t) => {
  const { promise, resolve } = withResolvers<void>();
  const leaving = new AbortController();
  const { gate } = await start(t, {
    ask: (_query, isOver) =>
      new Promise((settle) => {
        leaving.abort();
        isOver.addEventListener("abort", () => {
          resolve();
          settle({ code: null, stdout: "", stderr: "" });
        });
      }),
  });
  await assert.rejects(fetch(`${gate.url}${FEEDS}/usage`, { signal: leaving.signal }));
  await promise;
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
