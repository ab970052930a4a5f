import assert from "node:assert/strict";
import { test } from "node:test";
import { createKeychain } from "../../../src/adapters/keychain.ts";
import type { KeyRef } from "../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { attempt } from "../../../src/cli/attempt.ts";
import { KeyFailure } from "../../../src/core/failure.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { noTerminal, runOnTerminal } from "../../helpers/process/terminal.ts";
import {
  noKeyring,
  PASSWORD,
  startSession,
  startUnlockedSession,
  useUnlockedKeychain,
} from "../../helpers/keychain/keychain-session.ts";
import { setEnvironment } from "../../helpers/process/set-environment.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const skip = noKeyring;
const ref: KeyRef = {
  name: "default",
  origin: "https://api.example.com",
  source: { kind: "keychain" },
  setArguments: "key set",
};
const secret = new Secret("sk-test-0123456789");

test("every method reports a locked keychain as locked, without a prompt", { skip }, async (t) => {
  const session = await useUnlockedKeychain(t);
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
});

test(
  "reports a key that is not found in a locked keychain as locked, because providers may hide their items",
  { skip },
  async (t) => {
    const session = await useUnlockedKeychain(t);
    await session.lock();
    await assert.rejects(createKeychain().read(ref), { code: "locked" });
  },
);

test(
  "the command in the hint asks for the password without showing it, and unlocks the keychain",
  { skip: skip || noTerminal },
  async (t) => {
    const session = await useUnlockedKeychain(t);
    const keychain = createKeychain();
    await keychain.write(ref, secret);
    await session.lock();
    const { failure } = await attempt(KeyFailure, () => keychain.read(ref));
    const [command] = /sh -c '.*--unlock'/.exec(failure?.hint ?? "") ?? [];
    assert.ok(command !== undefined, failure?.hint ?? "the key of a locked keychain was read");
    const env = { ...process.env, COMMAND: command };
    const screen = await runOnTerminal(["sh", "-c", 'eval "$COMMAND"'], { env }, [
      ["Keyring password: ", `${PASSWORD}\n`],
    ]);
    assert.equal(screen.code, 0, screen.text);
    assert.ok(!screen.text.includes(PASSWORD), screen.text);
    // It goes to the background before it owns its name on the bus.
    const { value } = await waitUntil("the keyring", async () => {
      const reading = await attempt(KeyFailure, () => keychain.read(ref));
      return reading.failure === null ? reading : null;
    });
    assert.ok(value.isSameAs(secret));
  },
);

test("reports a missing key and a missing collection before the first login", { skip }, async (t) => {
  const session = await startSession(t);
  await session.startWithoutCollection();
  setEnvironment(t, session.env);
  const keychain = createKeychain();
  await assert.rejects(keychain.read(ref), { code: "missing" });
  assert.equal(await keychain.remove(ref), false);
  await assert.rejects(keychain.write(ref, secret), {
    code: "unavailable",
    message: "the keychain has no collection for keys yet",
    hint: /create a default keyring/,
  });
});

test("says that a missing key may be a locked one when busctl is not installed", { skip }, async (t) => {
  const session = await startUnlockedSession(t);
  setEnvironment(t, { ...session.env, PATH: scratchDirectory(t) });
  const keychain = createKeychain();
  const ambiguous = {
    code: "missing",
    message: /or the keychain is locked; without busctl the two cannot be told apart/,
  };
  await assert.rejects(keychain.read(ref), ambiguous);
  await assert.rejects(keychain.remove(ref), ambiguous);
  await keychain.write(ref, secret);
  assert.ok((await keychain.read(ref)).isSameAs(secret));
  assert.equal(await keychain.remove(ref), true);
});
