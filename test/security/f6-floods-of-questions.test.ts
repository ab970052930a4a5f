// F6, floods of questions: questions to the ledger and pages that stay open have limits, and requests are served all the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withResolvers } from "../helpers/async/with-resolvers.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { FEEDS, startFeeds } from "../helpers/gate/feeds.ts";
import { post } from "../helpers/gate/gate.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };

test("a question is ended when its asker leaves", async (t) => {
  const { promise, resolve } = withResolvers<void>();
  const leaving = new AbortController();
  const { gate } = await startFeeds(t, {
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

test("of 40 questions at a time two are answered, 16 wait, and the others are told to come again; a request is served among them", async (t) => {
  const daemon = await startDaemon(t);
  const asked = Array.from({ length: 40 }, () => fetch(`${daemon.url}${FEEDS}/usage?by=tool`));
  const request = post(daemon, "/t/codex/v1/messages", BODY);
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
  assert.deepEqual([count(200), count(503)], [18, 22]);
  assert.equal((await request).status, 200);
  const later = await fetch(`${daemon.url}${FEEDS}/usage?by=tool`);
  assert.equal(later.status, 200);
});

test("questions that no command can be given leave room for others", async (t) => {
  const daemon = await startDaemon(t);
  for (let at = 0; at < 3; at += 1)
    assert.equal((await fetch(`${daemon.url}${FEEDS}/usage?tool=a%00b`)).status, 400);
  assert.equal((await fetch(`${daemon.url}${FEEDS}/usage?by=tool`)).status, 200);
});

test("16 pages follow what happens; another one may when one of them has left", async (t) => {
  const { ask, gate } = await startFeeds(t);
  const leaving = new AbortController();
  const url = `${gate.url}${FEEDS}/live`;
  const open = await Promise.all(
    Array.from({ length: 16 }, (_, at) => (at === 0 ? fetch(url, { signal: leaving.signal }) : ask("live"))),
  );
  assert.ok(open.every(({ status }) => status === 200));
  assert.equal((await ask("live")).status, 503);
  leaving.abort();
  let last = await ask("live");
  while (last.status === 503) last = await ask("live");
  assert.equal(last.status, 200);
  for (const { body } of [...open.slice(1), last]) await body?.cancel();
});

test("a page that does not read is let go before what waits for it takes memory", async (t) => {
  const { promise: subscribed, resolve } = withResolvers<(entry: object) => void>();
  const { promise: left, resolve: leave } = withResolvers<void>();
  const { ask } = await startFeeds(t, {
    subscribe: (listener) => {
      resolve(listener);
      return leave;
    },
  });
  const res = await ask("live");
  const send = await subscribed;
  const entry = { ts: "2026-11-24T00:00:00.000Z", notice: "x".repeat(100_000) };
  for (let sent = 0; sent < 200; sent += 1) send(entry);
  await left;
  await assert.rejects(res.text());
});
