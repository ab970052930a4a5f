import assert from "node:assert/strict";
import { test } from "node:test";
import { createKeychain } from "../../../src/adapters/keychain.ts";
import type { KeyRef } from "../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { enter, noKeyring, scratchDirectory, startSession } from "../../helpers/keychain/keychain-session.ts";

const skip = noKeyring;
const ref: KeyRef = { name: "default", origin: "https://api.example.com", source: { kind: "keychain" } };
const secret = new Secret("sk-test-0123456789");

test(
  "a locked keychain is told apart from a missing key, in every method, without a prompt",
  { skip },
  async (t) => {
    const session = await startSession(t);
    await session.startUnlocked();
    enter(t, session.env);
    const keychain = createKeychain();
    await keychain.write(ref, secret);
    await session.lock();

    const locked = {
      code: "locked",
      message: "the keychain is locked",
      hint: /gnome-keyring-daemon --replace --unlock/,
    };
    await assert.rejects(keychain.read(ref), locked);
    await assert.rejects(keychain.write(ref, secret), locked);
    await assert.rejects(keychain.remove(ref), locked);
  },
);

test(
  "a key not found in a locked keychain is called locked, because providers may hide their items",
  { skip },
  async (t) => {
    const session = await startSession(t);
    await session.startUnlocked();
    enter(t, session.env);
    await session.lock();
    await assert.rejects(createKeychain().read(ref), { code: "locked" });
  },
);

test("what the hint names opens a locked keychain", { skip }, async (t) => {
  const session = await startSession(t);
  await session.startUnlocked();
  enter(t, session.env);
  const keychain = createKeychain();
  await keychain.write(ref, secret);
  await session.lock();
  await session.startUnlocked("--replace");
  assert.ok((await keychain.read(ref)).isSameAs(secret));
});

test("before the first login there is no key, and no collection to store one in", { skip }, async (t) => {
  const session = await startSession(t);
  await session.startWithoutCollection();
  enter(t, session.env);
  const keychain = createKeychain();
  await assert.rejects(keychain.read(ref), { code: "missing" });
  assert.equal(await keychain.remove(ref), false);
  await assert.rejects(keychain.write(ref, secret), {
    code: "unavailable",
    message: "the keychain has no collection yet that a key could be put in",
    hint: /create a default keyring/,
  });
});

test("without busctl a missing key may be a locked one, and the message says so", { skip }, async (t) => {
  const session = await startSession(t);
  await session.startUnlocked();
  enter(t, { ...session.env, PATH: scratchDirectory(t) });
  const keychain = createKeychain();
  const blind = {
    code: "missing",
    message: /or the keychain is locked; without busctl the two cannot be told apart/,
  };
  await assert.rejects(keychain.read(ref), blind);
  await assert.rejects(keychain.remove(ref), blind);
  await keychain.write(ref, secret);
  assert.ok((await keychain.read(ref)).isSameAs(secret));
  assert.equal(await keychain.remove(ref), true);
});
