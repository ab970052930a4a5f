// A key that expires, with a real command, a clock that the test moves, and a fake upstream.
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createKeySources } from "../../src/adapters/key-sources.ts";
import { post, startGate } from "../helpers/gate/gate.ts";
import { ManualClock, MemoryKeys } from "../helpers/gate/memory.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { MESSAGE, sendJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

const HOUR_MS = 3_600_000;

/** Asked for a token, it counts its runs, waits while it is held, and fails while there is a file that says so. */
const SCRIPT = `cd "$(dirname "$0")"
echo run >> runs
n=$(wc -l < runs | tr -d ' ')
while [ -e held ]; do sleep 0.02; done
if [ -e failing ]; then echo "no login: sentinel-token-$n" >&2; echo "sentinel-token-$n"; exit 1; fi
`;

/** Prints an ExecCredential with this expiry, or without one the token alone. */
function printToken(expiresAt: number | null): string {
  if (expiresAt === null) return 'echo "sentinel-token-$n"\n';
  const status = { token: "sentinel-token-%s", expirationTimestamp: new Date(expiresAt).toISOString() };
  return `printf '${JSON.stringify({ kind: "ExecCredential", status })}' "$n"\n`;
}

/** Starts a gate whose key is what a script prints and lives for an hour: by its `ttlMs`, or as the script states. */
async function openGate(t: TestContext, life: "ttlMs" | "stated" = "ttlMs") {
  const directory = scratchDirectory(t);
  const fileNamed = (name: string) => join(directory, name);
  const clock = new ManualClock();
  clock.wallMs = Date.now();
  const script = fileNamed("token.sh");
  const stated = life === "stated" ? clock.wallMs + HOUR_MS : null;
  writeFileSync(script, SCRIPT + printToken(stated), { mode: 0o700 });
  const keys: unknown[] = [];
  let status = 200;
  const upstream = await startUpstream(t, ({ headers }, res) => {
    keys.push(headers["x-api-key"]);
    sendJson(res, status === 200 ? MESSAGE : { error: { message: "no" } }, status);
  });
  const ttlMs = stated === null ? { ttlMs: HOUR_MS } : {};
  const gate = await startGate(t, upstream.baseUrl, {
    clock,
    upstream: { keySource: { kind: "command", argv: ["/bin/sh", script], ...ttlMs } },
    keyStore: createKeySources(new MemoryKeys()),
  });
  const ask = () => post(gate, "/v1/messages", { model: "m" });
  return {
    clock,
    gate,
    /** What the upstream has received. */
    keys,
    ask,
    async askMany(count: number) {
      const responses = await Promise.all(Array.from({ length: count }, ask));
      return responses.map((response) => response.status);
    },
    /** How often the command was run. */
    runs: () => readFileSync(fileNamed("runs"), "utf8").split("\n").length - 1,
    setIs(what: "held" | "failing", is: boolean) {
      if (is) writeFileSync(fileNamed(what), "");
      else rmSync(fileNamed(what));
    },
    respondWith(next: number) {
      status = next;
    },
    state: () => gate.keyring.states()[0],
  };
}

/** Waits until this is so. */
async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !isSo(); i += 1) await delay(10);
  assert.ok(isSo(), "it took too long");
}

test("50 requests at 85 % of a key's life run the command once and are sent with the old key", async (t) => {
  const { clock, ask, askMany, runs, keys, setIs, state } = await openGate(t);
  const first = clock.now();
  await ask();
  assert.equal(state()?.expiresAt, first + HOUR_MS);
  clock.advance(0.74 * HOUR_MS);
  await ask();
  assert.equal(runs(), 1);
  clock.advance(0.11 * HOUR_MS);
  const before = clock.now();
  setIs("held", true);
  assert.deepEqual(await askMany(50), Array(50).fill(200));
  assert.deepEqual([...new Set(keys)], ["sentinel-token-1"]);
  setIs("held", false);
  await until(() => state()?.expiresAt === before + HOUR_MS);
  assert.equal(runs(), 2);
  await ask();
  assert.equal(keys.at(-1), "sentinel-token-2");
  assert.equal(runs(), 2);
});

test("after a sleep beyond the end of a key's life, requests wait for one run of the command", async (t) => {
  const { clock, ask, askMany, runs, keys } = await openGate(t);
  await ask();
  clock.sleep(9 * HOUR_MS);
  assert.deepEqual(await askMany(50), Array(50).fill(200));
  assert.deepEqual([...new Set(keys.slice(1))], ["sentinel-token-2"]);
  assert.equal(runs(), 2);
});

test("while a refresh fails the old key serves, the command is left alone for longer each time, and status says why", async (t) => {
  const { clock, gate, ask, askMany, runs, setIs, state } = await openGate(t, "stated");
  await ask();
  setIs("failing", true);
  clock.advance(0.85 * HOUR_MS);
  for (const [failures, waitMs] of [1_000, 2_000, 4_000].entries()) {
    assert.deepEqual(await askMany(5), Array(5).fill(200));
    await until(() => state()?.refreshFailure?.at === clock.now());
    assert.deepEqual(await askMany(5), Array(5).fill(200));
    assert.equal(runs(), failures + 2);
    clock.advance(waitMs);
  }
  const known = state();
  assert.equal(known?.state, "present");
  assert.match(
    known?.refreshFailure?.problem ?? "",
    /failed with exit code 1 \(\/bin\/sh: no login: \[hidden\]\)$/,
  );
  const { log } = gate;
  assert.match(
    log.lines.join("\n"),
    /cannot refresh a key, which is used until it expires: the key command failed/,
  );
  assert.doesNotMatch(`${log.lines.join("\n")} ${JSON.stringify(known)}`, /sentinel/);
});

test("after a key has expired and its command fails, requests say so at once, and work again when the command does", async (t) => {
  const { clock, gate, ask, runs, keys, setIs, state } = await openGate(t);
  await ask();
  setIs("failing", true);
  clock.advance(HOUR_MS);
  for (let i = 0; i < 3; i += 1) {
    const response = await ask();
    assert.equal(response.status, 402);
    const text = await response.text();
    assert.match(text, /the key command failed with exit code 1/);
    assert.doesNotMatch(text, /sentinel/);
  }
  assert.deepEqual([runs(), keys.length, state()?.state], [2, 1, "unavailable"]);
  // `status` does not wait for the end of the back-off.
  setIs("failing", false);
  clock.wallMs += 1_000;
  await gate.keyring.retryFailed();
  assert.equal(state()?.state, "present");
  assert.equal((await ask()).status, 200);
  assert.equal(state()?.refreshFailure, null);
  assert.doesNotMatch(gate.log.lines.join("\n"), /sentinel/);
});

test("a rejected key that expires is refreshed once, and not again within 10 seconds", async (t) => {
  const { ask, clock, runs, keys, respondWith, setIs, state } = await openGate(t);
  await ask();
  respondWith(401);
  clock.advance(1_000);
  const before = clock.now();
  await ask();
  await until(() => state()?.expiresAt === before + HOUR_MS);
  await ask();
  await ask();
  assert.deepEqual([runs(), keys.at(-1)], [2, "sentinel-token-2"]);
  setIs("failing", true);
  clock.advance(10_000);
  await ask();
  await until(() => state()?.refreshFailure?.at === clock.now());
  assert.deepEqual([runs(), state()?.state], [3, "present"]);
});

test("a request that was sent with the old key does not have the new one refreshed when it is rejected", async (t) => {
  const { ask, clock, runs, respondWith, state } = await openGate(t);
  await ask();
  clock.advance(0.85 * HOUR_MS);
  const before = clock.now();
  respondWith(401);
  await ask();
  await until(() => state()?.expiresAt === before + HOUR_MS);
  await ask();
  await delay(200);
  assert.equal(runs(), 2);
});
