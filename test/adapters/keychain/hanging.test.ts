import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { createKeychain } from "../../../src/adapters/keychain.ts";
import type { KeyRef } from "../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import type { WritableKeyStore } from "../../../src/ports.ts";
import { enter, noKeyring, scratchDirectory, startSession } from "../../helpers/keychain/keychain-session.ts";
import { ended, inCall, keytarChildOf, noKeytarChildOf } from "../../helpers/process/processes.ts";

const skip = noKeyring;
const ref: KeyRef = { name: "default", origin: "https://api.example.com", source: { kind: "keychain" } };
const secret = new Secret("sk-test-0123456789");

/** What `ports.ts` promises of every method. */
const PROMISED_MS = 5000;

const UNRESPONSIVE = {
  code: "unresponsive",
  message: "the keychain does not answer; it may be waiting for a prompt, or hang",
  hint: /busctl --user status org\.freedesktop\.secrets/,
};

/** Left alone, keytar gives up on a frozen keychain after 25 seconds; before that a process ends by our doing alone. */
const timeout = 20_000;

/** A limit that a test can wait for, and that still leaves the child the time to start. */
const SHORT = { timeoutMs: 1500 };

async function assertUnresponsive(keychain: WritableKeyStore): Promise<void> {
  await Promise.all([
    assert.rejects(keychain.read(ref), UNRESPONSIVE),
    assert.rejects(keychain.write(ref, secret), UNRESPONSIVE),
    assert.rejects(keychain.remove(ref), UNRESPONSIVE),
  ]);
  await noKeytarChildOf(process.pid);
}

test("a frozen keychain is given up on, in every method", { skip }, async (t) => {
  const session = await startSession(t);
  await session.startUnlocked();
  await session.freeze();
  enter(t, session.env);
  await assertUnresponsive(createKeychain(SHORT));
});

test("a frozen keychain is given up on without busctl, too", { skip, timeout }, async (t) => {
  const session = await startSession(t);
  await session.startUnlocked();
  await session.freeze();
  enter(t, { ...session.env, PATH: scratchDirectory(t) });
  await assertUnresponsive(createKeychain(SHORT));
});

test("without busctl a prompt that nobody answers is given up on", { skip }, async (t) => {
  const session = await startSession(t);
  await session.startUnlocked();
  enter(t, session.env);
  await createKeychain().write(ref, secret);
  await session.lock();
  enter(t, { PATH: scratchDirectory(t) });
  const keychain = createKeychain(SHORT);
  await assert.rejects(keychain.read(ref), UNRESPONSIVE);
  await assert.rejects(keychain.write(ref, secret), UNRESPONSIVE);
});

test(
  "the default limit leaves a method inside the five seconds that the port promises",
  { skip },
  async (t) => {
    const session = await startSession(t);
    await session.startUnlocked();
    await session.freeze();
    enter(t, session.env);
    const promised = new Promise((resolve) => {
      const timer = setTimeout(() => resolve("too late"), PROMISED_MS);
      t.after(() => clearTimeout(timer));
    });
    const outcome = createKeychain()
      .read(ref)
      .catch((error: unknown) => error);
    assert.notEqual(await Promise.race([outcome, promised]), "too late");
  },
);

test("a crash in the keychain library is told, and ends its own process only", { skip }, async (t) => {
  const session = await startSession(t);
  await session.startUnlocked();
  await session.freeze();
  enter(t, { ...session.env, PATH: scratchDirectory(t) });
  const reading = assert.rejects(createKeychain().read(ref), {
    code: "unavailable",
    message: "the keychain library crashed (SIGSEGV); nothing else was harmed",
  });
  const child = await keytarChildOf(process.pid);
  await inCall(child.pid);
  process.kill(child.pid, "SIGSEGV");
  await reading;
});

test(
  "a program may exit while the keychain hangs, and takes the keychain's process with it",
  { skip, timeout },
  async (t) => {
    const session = await startSession(t);
    await session.startUnlocked();
    await session.freeze();
    const keychain = new URL("../../../src/adapters/keychain.ts", import.meta.url).href;
    const script = `
    import { createKeychain } from ${JSON.stringify(keychain)};
    process.stdin.on("data", () => process.exit(7));
    await createKeychain({ timeoutMs: 600_000 }).read(${JSON.stringify(ref)});
  `;
    const argv = ["--import", "tsx", "--input-type=module", "-e", script];
    const env = { ...process.env, ...session.env, PATH: scratchDirectory(t) };
    const program = spawn(process.execPath, argv, { env, stdio: ["pipe", "ignore", "inherit"] });
    t.after(() => program.kill("SIGKILL"));
    const child = await keytarChildOf(program.pid ?? 0);
    await inCall(child.pid);
    program.stdin.write("exit\n");
    const [code] = await once(program, "exit");
    assert.equal(code, 7);
    await ended(child.pid);
  },
);
