import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createKeychain } from "../../../src/adapters/keychain.ts";
import type { KeyRef } from "../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { noKeyring, useUnlockedKeychain } from "../../helpers/keychain/keychain-session.ts";

const skip = noKeyring;
const GENERIC = ["xdg:schema", "org.freedesktop.Secret.Generic", "service", "tollkeeper"];

function ref(name: string, origin = "https://api.example.com"): KeyRef {
  return { name, origin, source: { kind: "keychain" }, setArguments: "key set" };
}

test("stores, reads, replaces and removes a key", { skip }, async (t) => {
  await useUnlockedKeychain(t);
  const keychain = createKeychain();
  const [first, second] = [newKey(), newKey()];

  await keychain.write(ref("default"), first);
  assert.ok((await keychain.read(ref("default"))).isSameAs(first));
  await keychain.write(ref("default"), second);
  assert.ok((await keychain.read(ref("default"))).isSameAs(second));
  assert.equal(await keychain.remove(ref("default")), true);
  assert.equal(await keychain.remove(ref("default")), false);
  await assert.rejects(keychain.read(ref("default")), {
    code: "missing",
    message: 'no key "default" is stored for https://api.example.com',
    hint: "store it: tollkeeper key set",
    command: "tollkeeper key set",
  });
});

test("finds a key only by its own origin and name", { skip }, async (t) => {
  await useUnlockedKeychain(t);
  const keychain = createKeychain();
  await keychain.write(ref("default"), newKey());

  for (const other of [
    ref("codex"),
    ref("default", "https://api.example.org"),
    ref("default", "http://api.example.com"),
    ref("default", "https://api.example.com:8443"),
  ]) {
    await assert.rejects(keychain.read(other), { code: "missing" });
  }
});

test("refuses to store an empty key", { skip }, async (t) => {
  await useUnlockedKeychain(t);
  await assert.rejects(createKeychain().write(ref("default"), new Secret("")), { name: "KeyFailure" });
});

test(
  "reads keys next to an item without an account, which crashes keytar's findCredentials",
  { skip },
  async (t) => {
    const session = await useUnlockedKeychain(t);
    const keychain = createKeychain();
    const key = newKey();
    await session.storeItem("planted", ...GENERIC);
    await session.storeItem("planted", "service", "tollkeeper", "username", "default");
    await keychain.write(ref("default"), key);

    assert.ok((await keychain.read(ref("default"))).isSameAs(key));
    await assert.rejects(keychain.read(ref("other")), { code: "missing" });
  },
);

test("refuses items that cannot be a key, and can replace them", { skip }, async (t) => {
  const session = await useUnlockedKeychain(t);
  const keychain = createKeychain();
  const invalid: [name: string, value: string | Buffer, problem: RegExp][] = [
    ["leading-nul", Buffer.from("\0abc"), /the key is empty/],
    ["not-utf8", Buffer.from([0x61, 0xff, 0xfe, 0x62]), /not allowed in a header/],
    ["two-lines", "abc\ndef", /line breaks/],
    ["two-words", "abc def", /spaces/],
  ];
  for (const [name, value, problem] of invalid) {
    await session.storeItem(value, ...GENERIC, "account", `${name}@https://api.example.com`);
    await assert.rejects(keychain.read(ref(name)), { code: "unavailable", message: problem }, name);
    const key = newKey();
    await keychain.write(ref(name), key);
    assert.ok((await keychain.read(ref(name))).isSameAs(key), name);
  }
});

test("refuses an item of many megabytes", { skip }, async (t) => {
  await useUnlockedKeychain(t);
  const keychain = createKeychain();
  await keychain.write(ref("huge"), new Secret("x".repeat(5_000_000)));
  await assert.rejects(keychain.read(ref("huge")), { code: "unavailable", message: /longer than 8192/ });
});

test(
  "reads the item that was stored last of several for one key, and removes all of them",
  { skip },
  async (t) => {
    const session = await useUnlockedKeychain(t);
    const keychain = createKeychain();
    const item = [...GENERIC, "account", "default@https://api.example.com"];
    await session.storeItem("planted-one", ...item, "more", "1");
    await session.storeItem("planted-two", ...item, "more", "2");
    const key = newKey();
    await keychain.write(ref("default"), key);

    assert.ok((await keychain.read(ref("default"))).isSameAs(key));
    assert.equal(await keychain.remove(ref("default")), true);
    await assert.rejects(keychain.read(ref("default")), { code: "missing" });
  },
);

test("reads several keys concurrently", { skip }, async (t) => {
  await useUnlockedKeychain(t);
  const keychain = createKeychain();
  const names = ["one", "two", "three"];
  const keys = new Map(names.map((name) => [name, newKey()]));
  for (const [name, key] of keys) await keychain.write(ref(name), key);

  await Promise.all(
    [...keys].map(async ([name, key]) => assert.ok((await keychain.read(ref(name))).isSameAs(key), name)),
  );
});

function newKey(): Secret {
  return new Secret(`sk-test-${randomBytes(24).toString("base64url")}`);
}
