import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyFailure } from "../../src/core/failure.ts";
import type { KeyRef } from "../../src/core/secrets/key-source.ts";
import { formatLocalToken } from "../../src/core/secrets/local-token.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import type { KeyStore } from "../../src/ports.ts";
import { Keyring } from "../../src/proxy/keyring.ts";
import { MemoryLog, ManualClock } from "../helpers/gate/memory.ts";

const REF: KeyRef = {
  origin: "https://api.example.com",
  name: "default",
  source: { kind: "keychain" },
  setArguments: "key set",
};

/** Of a key that does not expire. */
const UNENDING = { expiresAt: null, refreshFailure: null };

/** A read that the test settles. */
interface HeldRead {
  ref: KeyRef;
  resolve(value: string): void;
  reject(failure: KeyFailure): void;
}

/** A key store whose reads wait until the test settles them. */
class HeldKeys implements KeyStore {
  readonly reads: HeldRead[] = [];

  read(ref: KeyRef): Promise<Secret> {
    return new Promise((resolve, reject) => {
      this.reads.push({ ref, resolve: (value) => resolve(new Secret(value)), reject });
    });
  }

  /** The read with this index, counted from 0. */
  at(index: number): HeldRead {
    const read = this.reads[index];
    assert.ok(read, `there were ${this.reads.length} reads`);
    return read;
  }
}

function makeKeyring() {
  const [keys, clock, log] = [new HeldKeys(), new ManualClock(), new MemoryLog()];
  return { keyring: new Keyring(keys, clock, log), keys, clock, log };
}

/** A keyring that has `value` in memory. */
async function makeFilledKeyring(value: string) {
  const made = makeKeyring();
  const got = made.keyring.get(REF);
  made.keys.at(0).resolve(value);
  return { ...made, used: await got };
}

const isKey = (secret: Secret | null, value: string) => secret?.isSameAs(new Secret(value)) ?? false;

/** Resolves when the keyring has processed the reads that were settled before. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("concurrent requests for one key share one read, and later ones take it from memory", async () => {
  const { keyring, keys } = makeKeyring();
  const all = Promise.all([keyring.get(REF), keyring.get(REF), keyring.get({ ...REF })]);
  assert.equal(keys.reads.length, 1);
  keys.at(0).resolve("one");
  assert.deepEqual(
    (await all).map((secret) => isKey(secret, "one")),
    [true, true, true],
  );
  await keyring.get(REF);
  assert.equal(keys.reads.length, 1);
  assert.ok(isKey(keyring.cached(REF), "one"));
});

test("a key with another name, origin or source is read separately", async () => {
  const { keyring, keys } = await makeFilledKeyring("one");
  const others: KeyRef[] = [
    { ...REF, name: "other" },
    { ...REF, origin: "https://other.example.com" },
    { ...REF, source: { kind: "file", path: "/a" } },
    { ...REF, source: { kind: "file", path: "/b" } },
    { ...REF, source: { kind: "command", argv: ["print", "a b"] } },
    { ...REF, source: { kind: "command", argv: ["print", "a", "b"] } },
  ];
  const all = Promise.all(others.map((ref) => keyring.get(ref)));
  assert.deepEqual(
    keys.reads.slice(1).map(({ ref }) => ref),
    others,
  );
  keys.reads.slice(1).forEach((read, i) => read.resolve(`key-${i}`));
  assert.ok((await all).every((secret, i) => isKey(secret, `key-${i}`)));
});

test("a failed read rejects for everyone who waited for it, and the next request reads again", async () => {
  const { keyring, keys } = makeKeyring();
  const locked = new KeyFailure("locked", "the keychain is locked", "unlock it");
  const both = Promise.allSettled([keyring.get(REF), keyring.get(REF)]);
  keys.at(0).reject(locked);
  assert.deepEqual(
    (await both).map((result) => result.status === "rejected" && result.reason === locked),
    [true, true],
  );
  const again = keyring.get(REF);
  keys.at(1).resolve("one");
  assert.ok(isKey(await again, "one"));
});

test("a key whose read began before forget() is not kept after it", async () => {
  const { keyring, keys } = makeKeyring();
  const before = keyring.get(REF);
  keyring.forget();
  const after = keyring.get(REF);
  assert.equal(keys.reads.length, 2);
  keys.at(1).resolve("new");
  await after;
  keys.at(0).resolve("old");
  await before;
  assert.ok(isKey(keyring.cached(REF), "new"));
});

test("a recheck that began before forget() changes nothing after it", async () => {
  const { keyring, keys } = await makeFilledKeyring("old");
  keyring.recheck(REF);
  keyring.forget();
  keys.at(1).resolve("stale");
  await settled();
  assert.equal(keyring.cached(REF), null);
});

test("a recheck that finds another key in the store uses it, and logs that without the key", async () => {
  const { keyring, keys, log } = await makeFilledKeyring("old");
  keyring.recheck(REF);
  assert.ok(isKey(keyring.cached(REF), "old"));
  keys.at(1).resolve("replaced");
  await settled();
  assert.ok(isKey(keyring.cached(REF), "replaced"));
  assert.match(log.lines.join("\n"), /the stored key had changed/);
  assert.doesNotMatch(log.lines.join("\n"), /replaced/);
});

test("a recheck that finds the same key, or cannot read the store, keeps the key and logs nothing", async () => {
  const { keyring, keys, clock, log, used } = await makeFilledKeyring("same");
  keyring.recheck(REF);
  keys.at(1).resolve("same");
  await settled();
  clock.advance(10_000);
  keyring.recheck(REF);
  keys.at(2).reject(new KeyFailure("locked", "the keychain is locked", "unlock it"));
  await settled();
  assert.equal(keyring.cached(REF), used);
  assert.deepEqual(log.lines, []);
});

test("rechecks are at least ten seconds apart by the monotonic clock", async () => {
  const { keyring, keys, clock } = await makeFilledKeyring("one");
  const readsAfter = (ms: number) => {
    clock.advance(ms);
    keyring.recheck(REF);
    return keys.reads.length;
  };
  assert.deepEqual([readsAfter(0), readsAfter(9_999), readsAfter(1), readsAfter(0)], [2, 2, 3, 3]);
  clock.wallMs += 3_600_000;
  keyring.recheck(REF);
  assert.equal(keys.reads.length, 3);
});

test("states() reports what each key's latest read found and when, and nothing before the first read has ended", async () => {
  const { keyring, keys, clock } = makeKeyring();
  const got = keyring.get(REF);
  assert.deepEqual(keyring.states(), []);
  keys.at(0).reject(new KeyFailure("missing", "no such key", "store it", { detail: "in the drawer" }));
  await got.catch(() => {});
  assert.deepEqual(keyring.states(), [
    {
      ref: REF,
      state: "missing",
      problem: "no such key (in the drawer)",
      at: clock.wallMs,
      presentAt: null,
      ...UNENDING,
    },
  ]);
  clock.advance(1_000);
  const again = keyring.get(REF);
  keys.at(1).resolve("one");
  await again;
  assert.deepEqual(keyring.states(), [
    { ref: REF, state: "present", problem: null, at: clock.wallMs, presentAt: clock.wallMs, ...UNENDING },
  ]);
  keyring.forget();
  assert.deepEqual(keyring.states(), []);
});

test("a key that was not there is looked for again on demand, a second later at the earliest", async () => {
  const { keyring, keys, clock } = makeKeyring();
  const got = keyring.get(REF);
  keys.at(0).reject(new KeyFailure("locked", "the keychain is locked", "unlock it"));
  await assert.rejects(got);
  await keyring.retryFailed();
  assert.equal(keys.reads.length, 1);
  clock.advance(1_000);
  const [again, atOnce] = [keyring.retryFailed(), keyring.retryFailed()];
  assert.equal(keys.reads.length, 2);
  keys.at(1).resolve("one");
  await Promise.all([again, atOnce]);
  const [state] = keyring.states();
  assert.deepEqual([state?.state, state?.problem, state?.presentAt], ["present", null, clock.now()]);
  assert.ok(isKey(keyring.cached(REF), "one"));
  clock.advance(1_000);
  await keyring.retryFailed();
  assert.equal(keys.reads.length, 2);
});

test("a key that is still not there keeps the time at which it last was", async () => {
  const { keyring, keys, clock } = await makeFilledKeyring("one");
  const at = clock.now();
  clock.advance(5_000);
  keyring.forget();
  const got = keyring.get(REF);
  keys.at(1).reject(new KeyFailure("locked", "the keychain is locked", "unlock it"));
  await assert.rejects(got);
  assert.equal(keyring.states()[0]?.presentAt, at);
});

test("a key that is read anew for a test is the one that requests use from then on", async () => {
  const { keyring, keys, log } = await makeFilledKeyring("old");
  const reread = keyring.reread(REF);
  keys.at(1).resolve("replaced");
  assert.ok(isKey(await reread, "replaced"));
  assert.ok(isKey(keyring.cached(REF), "replaced"));
  assert.match(log.lines.join("\n"), /the stored key had changed/);
});

test("a test of a key fails when its store has none any more, and uses the one in memory when the store does not say", async () => {
  const { keyring, keys, used } = await makeFilledKeyring("one");
  for (const [code, isUsed] of [
    ["locked", true],
    ["unresponsive", true],
    ["missing", false],
    ["unavailable", false],
    ["unsafe", false],
  ] as const) {
    const failure = new KeyFailure(code, "no", "store it");
    const reread = keyring.reread(REF).catch((error: unknown) => error);
    keys.reads.at(-1)?.reject(failure);
    assert.equal(await reread, isUsed ? used : failure, code);
    assert.equal(keyring.cached(REF), used);
  }
});

test("a key in a text of a client is redacted as soon as it is in memory, also where the text was seen before", async () => {
  const { keyring, keys, clock } = makeKeyring();
  assert.equal(keyring.redact("a first-long-key b"), "a first-long-key b");
  const got = keyring.get(REF);
  keys.at(0).resolve("first-long-key");
  await got;
  assert.equal(keyring.redact("a first-long-key b"), `a ${"*".repeat(14)} b`);
  assert.equal(keyring.redact("a second-long-key b"), "a second-long-key b");
  clock.advance(60_000);
  keyring.recheck(REF);
  keys.at(1).resolve("second-long-key");
  await settled();
  assert.equal(keyring.redact("a second-long-key b"), `a ${"*".repeat(15)} b`);
});

test("texts of clients without a key stay as they are, however many and however long", () => {
  const { keyring } = makeKeyring();
  for (let i = 0; i < 3_000; i += 1) {
    const text = `tool/${i} ${"(x)".repeat(i % 100)}`;
    assert.equal(keyring.redact(text), text);
    assert.equal(keyring.redact(text), text);
  }
});

test("a key of a known form and a local token in a text of a client are redacted without any key in memory", () => {
  const { keyring } = makeKeyring();
  const key = `ghp_${"aB1".repeat(12)}`;
  assert.equal(keyring.redact(`a ${key} b`), `a ${"*".repeat(40)} b`);
  const escaped = key.replaceAll("_", "%5F");
  assert.equal(keyring.redact(`a ${escaped}`), "*".repeat(`a ${escaped}`.length));
  assert.equal(
    keyring.redact(`${formatLocalToken("codex", "x".repeat(43))}_1`),
    `tollkeeper-codex-${"*".repeat(45)}`,
  );
});

test("a key that is in memory is redacted in what its source says when it fails later", async () => {
  const { keyring, keys, used } = await makeFilledKeyring("first-long-key");
  const other = { ...REF, name: "other" };
  const got = keyring.get(other);
  keys.at(1).reject(new KeyFailure("unavailable", "failed", "fix it", { detail: "sh: first-long-key" }));
  await assert.rejects(got);
  assert.ok(isKey(used, "first-long-key"));
  const [, state] = keyring.states();
  assert.match(state?.problem ?? "", /failed.*sh: \*{14}/);
});
