import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { createKeychain } from "../../../src/adapters/keychain.ts";
import type { KeyRef } from "../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { noKeyring, startSession, startUnlockedSession } from "../../helpers/keychain/keychain-session.ts";
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

interface Expected {
  code: string;
  message: RegExp;
  hint: RegExp;
}

const NO_SESSION: Expected = {
  code: "unavailable",
  message: /^there is no D-Bus session/,
  hint: /^run tollkeeper in .* session.*tollkeeper config set upstreams\.default\.keySource /,
};

const DEAD_SESSION: Expected = {
  code: "unavailable",
  message: /^no D-Bus session responds/,
  hint: /unset DBUS_SESSION_BUS_ADDRESS/,
};

const NO_PROVIDER: Expected = {
  code: "unavailable",
  message: /nothing provides org\.freedesktop\.secrets$/,
  hint: /gnome-keyring, KWallet, or KeePassXC .*upstreams\.default\.keySource /,
};

/** Fails unless every method rejects like this, with busctl and without it, when keytar's error text is recognized. */
async function assertFails(t: TestContext, expected: Expected): Promise<void> {
  const keychain = createKeychain();
  for (const path of [process.env["PATH"], scratchDirectory(t)]) {
    setEnvironment(t, { PATH: path });
    await assert.rejects(keychain.read(ref), expected);
    await assert.rejects(keychain.write(ref, secret), expected);
    await assert.rejects(keychain.remove(ref), expected);
  }
}

test("reports that there is no D-Bus session", { skip }, async (t) => {
  setEnvironment(t, { DBUS_SESSION_BUS_ADDRESS: undefined, XDG_RUNTIME_DIR: undefined });
  await assertFails(t, NO_SESSION);
});

test("reports that there is no D-Bus session when the runtime directory has no bus", { skip }, async (t) => {
  setEnvironment(t, { DBUS_SESSION_BUS_ADDRESS: undefined, XDG_RUNTIME_DIR: scratchDirectory(t) });
  await assertFails(t, NO_SESSION);
});

test("reports a bus address at which nothing listens", { skip }, async (t) => {
  setEnvironment(t, { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(scratchDirectory(t), "gone")}` });
  await assertFails(t, DEAD_SESSION);
});

test("reports an invalid bus address", { skip }, async (t) => {
  setEnvironment(t, { DBUS_SESSION_BUS_ADDRESS: "rubbish" });
  await assertFails(t, DEAD_SESSION);
});

test("names keychain providers and other key sources when no provider runs", { skip }, async (t) => {
  const session = await startSession(t);
  setEnvironment(t, session.env);
  await assertFails(t, NO_PROVIDER);
});

test("names the loader's error and the package when libsecret cannot be loaded", { skip }, async (t) => {
  const session = await startUnlockedSession(t);
  const libraries = scratchDirectory(t);
  writeFileSync(join(libraries, "libsecret-1.so.0"), "");
  setEnvironment(t, { ...session.env, LD_LIBRARY_PATH: libraries });
  await assert.rejects(createKeychain().write(ref, secret), {
    code: "unavailable",
    message: /^libsecret, .*cannot be loaded: .*libsecret-1\.so\.0: file too short$/,
    hint: /apt install libsecret-1-0/,
  });
});

test("names the loader's error when libsecret is not installed", async (t) => {
  const hidden = hideLibsecret();
  if (typeof noKeyring === "string" || hidden === null) {
    const reason =
      typeof noKeyring === "string" ? noKeyring : "needs root, unshare and overlayfs to hide libsecret";
    t.diagnostic(`not run: ${reason}`);
    return t.skip(reason);
  }
  const session = await startUnlockedSession(t);
  const work = scratchDirectory(t);
  const source = new URL("../../../src/", import.meta.url);
  const script = `
    import { createKeychain } from ${JSON.stringify(new URL("adapters/keychain.ts", source).href)};
    import { Secret } from ${JSON.stringify(new URL("core/secrets/secret.ts", source).href)};
    const ref = { name: "default", origin: "https://api.example.com", source: { kind: "keychain" }, setArguments: "key set" };
    await createKeychain().write(ref, new Secret("x")).catch((error) => console.log(error.message));
  `;
  const program = `${hidden(work)} && exec "$0" --import tsx --input-type=module -e "$1"`;
  const argv = ["-m", "sh", "-c", program, process.execPath, script];
  const { stdout } = await promisify(execFile)("unshare", argv, { env: { ...process.env, ...session.env } });
  assert.match(
    stdout,
    /^libsecret, .*libsecret-1\.so\.0: cannot open shared object file: No such file or directory$/m,
  );
});

/** Returns a shell command that hides libsecret in a mount namespace, given a work directory; null where that is impossible. */
function hideLibsecret(): ((work: string) => string) | null {
  try {
    const library = execFileSync("/bin/sh", ["-c", "ldconfig -p | grep -m1 -o '/.*libsecret-1.so.0$'"], {
      encoding: "utf8",
    });
    const folder = join(library.trim(), "..");
    const hide = (work: string) =>
      `mount -t tmpfs none ${work} && mkdir ${work}/upper ${work}/work && ` +
      `mknod ${work}/upper/libsecret-1.so.0 c 0 0 && ` +
      `mount -t overlay none -o lowerdir=${folder},upperdir=${work}/upper,workdir=${work}/work ${folder}`;
    execFileSync("unshare", ["-m", "sh", "-c", hide("/mnt")], { stdio: "ignore" });
    return hide;
  } catch {
    return null;
  }
}
