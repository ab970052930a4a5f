import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { createKeychain } from "../../../src/adapters/keychain.ts";
import type { KeyRef } from "../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import type { WritableKeyStore } from "../../../src/ports.ts";
import {
  noKeyring,
  startUnlockedSession,
  useUnlockedKeychain,
} from "../../helpers/keychain/keychain-session.ts";
import { setEnvironment } from "../../helpers/process/set-environment.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import {
  waitForExit,
  waitForKeytarCall,
  waitForKeytarChild,
  waitForNoKeytarChild,
} from "../../helpers/process/processes.ts";

const skip = noKeyring;
const ref: KeyRef = {
  name: "default",
  origin: "https://api.example.com",
  source: { kind: "keychain" },
  setArguments: "key set",
};
const secret = new Secret("sk-test-0123456789");

/** The limit that `KeyStore` promises for every method. */
const PROMISED_MS = 5000;

const UNRESPONSIVE = {
  code: "unresponsive",
  message: "the keychain does not respond; it may be waiting for a prompt, or be stuck",
  hint: /busctl --user status org\.freedesktop\.secrets/,
};

/** Less than the 25 seconds after which keytar itself gives up on a hanging keychain. */
const timeout = 20_000;

/** Short enough for a test, long enough for the child process to start. */
const SHORT = { timeoutMs: 1500 };

async function assertUnresponsive(keychain: WritableKeyStore): Promise<void> {
  await Promise.all([
    assert.rejects(keychain.read(ref), UNRESPONSIVE),
    assert.rejects(keychain.write(ref, secret), UNRESPONSIVE),
    assert.rejects(keychain.remove(ref), UNRESPONSIVE),
  ]);
  await waitForNoKeytarChild(process.pid);
}

test("every method times out when the keychain hangs", { skip }, async (t) => {
  const session = await startUnlockedSession(t);
  await session.freeze();
  setEnvironment(t, session.env);
  await assertUnresponsive(createKeychain(SHORT));
});

test(
  "every method times out when the keychain hangs and busctl is not installed",
  { skip, timeout },
  async (t) => {
    const session = await startUnlockedSession(t);
    await session.freeze();
    setEnvironment(t, { ...session.env, PATH: scratchDirectory(t) });
    await assertUnresponsive(createKeychain(SHORT));
  },
);

test("times out on a prompt that nobody answers when busctl is not installed", { skip }, async (t) => {
  const session = await useUnlockedKeychain(t);
  await createKeychain().write(ref, secret);
  await session.lock();
  setEnvironment(t, { PATH: scratchDirectory(t) });
  const keychain = createKeychain(SHORT);
  await assert.rejects(keychain.read(ref), UNRESPONSIVE);
  await assert.rejects(keychain.write(ref, secret), UNRESPONSIVE);
});

test("settles within the five seconds that the port promises by default", { skip }, async (t) => {
  const session = await startUnlockedSession(t);
  await session.freeze();
  setEnvironment(t, session.env);
  const promised = new Promise((resolve) => {
    const timer = setTimeout(() => resolve("too late"), PROMISED_MS);
    t.after(() => clearTimeout(timer));
  });
  const outcome = createKeychain()
    .read(ref)
    .catch((error: unknown) => error);
  assert.notEqual(await Promise.race([outcome, promised]), "too late");
});

test("reports a crash in the keychain library, which ends the child process only", { skip }, async (t) => {
  const session = await startUnlockedSession(t);
  await session.freeze();
  setEnvironment(t, { ...session.env, PATH: scratchDirectory(t) });
  const reading = assert.rejects(createKeychain().read(ref), {
    code: "unavailable",
    message: "the keychain library crashed (SIGSEGV); nothing else is affected",
  });
  const child = await waitForKeytarChild(process.pid);
  await waitForKeytarCall(child.pid);
  process.kill(child.pid, "SIGSEGV");
  await reading;
});

test(
  "a program can exit while the keychain hangs, and its child process ends with it",
  { skip, timeout },
  async (t) => {
    const session = await startUnlockedSession(t);
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
    const child = await waitForKeytarChild(program.pid ?? 0);
    await waitForKeytarCall(child.pid);
    program.stdin.write("exit\n");
    const [code] = await once(program, "exit");
    assert.equal(code, 7);
    await waitForExit(child.pid);
  },
);
