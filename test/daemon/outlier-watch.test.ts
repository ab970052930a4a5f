// What is out of line is announced while somebody watches, and once a day each. Nothing is read while nothing is recorded.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { OutlierWatch } from "../../src/daemon/notices/outlier-watch.ts";
import { MemoryLog } from "../helpers/gate/memory.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

const SESSION = {
  kind: "session",
  tool: "codex",
  project: "/home/u/shop",
  day: "2026-11-28",
  session: "s1",
  agent: null,
  hour: null,
  request: null,
  amount: 30,
  text: "$30.00: 40 times the usual session of codex in shop",
  command: "tollkeeper usage session s1 --since 2026-11-28",
};
const HOUR_MS = 3_600_000;
/** When a day begins here. */
const DAY = new Date(2026, 10, 28).toISOString();
const NOTICE = `out of line: ${SESSION.text}; for more, type: ${SESSION.command}`;

function start(t: TestContext, path = join(scratchDirectory(t), "outliers.json")) {
  const state = {
    path,
    digest: { since: DAY, total: { usual: {} }, out_of_line: [SESSION] } as unknown,
    now: Date.parse(DAY) + HOUR_MS,
    code: 0,
    watched: true,
    written: 1,
    asked: [] as (readonly string[])[],
    told: [] as string[],
    log: new MemoryLog(),
  };
  const watch = new OutlierWatch({
    path,
    ask(words) {
      state.asked.push(words);
      const stdout = typeof state.digest === "string" ? state.digest : JSON.stringify(state.digest);
      return Promise.resolve({ code: state.code, stdout });
    },
    isWatched: () => state.watched,
    recordsWritten: () => state.written,
    announce: (notice) => void state.told.push(notice),
    clock: { now: () => state.now },
    log: state.log,
  });
  t.after(() => watch.close());
  const look = () => {
    state.written += 1;
    return watch.look();
  };
  return { state, watch, look };
}

test("what is out of line is announced once a day, also after a restart", async (t) => {
  const { state, look } = start(t);
  await look();
  // What it costs grows; it stays the same session.
  state.digest = {
    since: DAY,
    out_of_line: [{ ...SESSION, amount: 50, text: "$50.00: more" }],
  };
  await look();
  assert.deepEqual(state.told, [NOTICE]);
  assert.deepEqual(state.asked[0], ["digest", "--today", "--json"]);
  const next = start(t, state.path);
  await next.look();
  assert.deepEqual(next.state.told, []);
  next.state.digest = { since: "2026-11-29T00:00:00.000Z", out_of_line: [SESSION] };
  await next.look();
  assert.deepEqual(next.state.told, [NOTICE]);
});

test("nothing is read while nobody watches, and while nothing is recorded", async (t) => {
  const { state, watch, look } = start(t);
  state.watched = false;
  await look();
  assert.equal(state.asked.length, 0);
  state.watched = true;
  await watch.look();
  await watch.look();
  assert.equal(state.asked.length, 1);
});

test("a command that fails, or answers something else, announces nothing and writes nothing", async (t) => {
  const { state, look } = start(t);
  const { digest } = state;
  for (const [code, answer] of [
    [1, digest],
    [0, "{"],
    [0, "null"],
    [0, { since: "2026-11-28", out_of_line: [{ kind: "session" }] }],
  ] as const) {
    Object.assign(state, { code, digest: answer });
    await look();
  }
  assert.deepEqual(state.told, []);
  assert.throws(() => readFileSync(state.path));
  Object.assign(state, { code: 0, digest });
  await look();
  assert.deepEqual(state.told, [NOTICE]);
});

const { text, command, session } = SESSION;
const FOUND = { since: DAY, isKnown: true, items: [{ text, command, session }] };

test("who asks what is out of line today is told what the last look found, and those who ask at once wait for one look", async (t) => {
  const { state, watch } = start(t);
  state.watched = false;
  assert.deepEqual(await Promise.all([watch.today(), watch.today()]), [FOUND, FOUND]);
  assert.deepEqual(await watch.today(), FOUND);
  assert.equal(state.asked.length, 1);
  // What is asked for is announced as well.
  assert.deepEqual(state.told, [NOTICE]);
});

test("a question looks again after ten minutes, if something was recorded", async (t) => {
  const { state, watch } = start(t);
  await watch.today();
  state.now += HOUR_MS;
  await watch.today();
  assert.equal(state.asked.length, 1);
  state.written += 1;
  state.digest = { since: DAY, total: { usual: null }, out_of_line: [] };
  assert.deepEqual(await watch.today(), { since: DAY, isKnown: false, items: [] });
  state.written += 1;
  await watch.today();
  assert.equal(state.asked.length, 2);
});

test("what was out of line yesterday is not told today", async (t) => {
  const { state, watch } = start(t);
  await watch.today();
  state.now += 24 * HOUR_MS;
  state.code = 1;
  assert.equal(await watch.today(), null);
  assert.equal(await watch.today(), null);
  assert.equal(state.asked.length, 2, "no more than one look in ten minutes");
});
