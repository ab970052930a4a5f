import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createKeychain } from "../../../src/adapters/keychain.ts";
import type { KeyRef } from "../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { enter, noKeyring, scratchDirectory, startSession } from "../../helpers/keychain/keychain-session.ts";

const skip = noKeyring;
const ref: KeyRef = { name: "default", origin: "https://api.example.com", source: { kind: "keychain" } };
const secret = new Secret("sk-test-0123456789");

interface Expected {
  code: string;
  message: RegExp;
  hint: RegExp;
}

const NO_SESSION: Expected = {
  code: "unavailable",
  message: /^there is no D-Bus session/,
  hint: /XDG_RUNTIME_DIR=.*"keySource": \{"file": PATH\}/,
};

const DEAD_SESSION: Expected = {
  code: "unavailable",
  message: /^no D-Bus session answers/,
  hint: /unset DBUS_SESSION_BUS_ADDRESS/,
};

const NO_PROVIDER: Expected = {
  code: "unavailable",
  message: /nothing provides org\.freedesktop\.secrets$/,
  hint: /gnome-keyring, KWallet, or KeePassXC .*"keySource"/,
};

/** Every method fails alike, with busctl and without it: keytar's own words lead to the same message. */
async function assertFails(t: Parameters<typeof enter>[0], expected: Expected): Promise<void> {
  const keychain = createKeychain();
  for (const path of [process.env["PATH"], scratchDirectory(t)]) {
    enter(t, { PATH: path });
    await assert.rejects(keychain.read(ref), expected);
    await assert.rejects(keychain.write(ref, secret), expected);
    await assert.rejects(keychain.remove(ref), expected);
  }
}

test("without a D-Bus session the message says so", { skip }, async (t) => {
  enter(t, { DBUS_SESSION_BUS_ADDRESS: undefined, XDG_RUNTIME_DIR: undefined });
  await assertFails(t, NO_SESSION);
});

test("a runtime directory without a bus in it is no D-Bus session either", { skip }, async (t) => {
  enter(t, { DBUS_SESSION_BUS_ADDRESS: undefined, XDG_RUNTIME_DIR: scratchDirectory(t) });
  await assertFails(t, NO_SESSION);
});

test("a dead bus address is named as what is wrong", { skip }, async (t) => {
  enter(t, { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(scratchDirectory(t), "gone")}` });
  await assertFails(t, DEAD_SESSION);
});

test("a bus address that is none is named as what is wrong", { skip }, async (t) => {
  enter(t, { DBUS_SESSION_BUS_ADDRESS: "rubbish" });
  await assertFails(t, DEAD_SESSION);
});

test("a session without a provider leads to providers and to other key sources", { skip }, async (t) => {
  const session = await startSession(t);
  enter(t, session.env);
  await assertFails(t, NO_PROVIDER);
});

test(
  "a libsecret that cannot be loaded is named with the loader's reason and the package",
  { skip },
  async (t) => {
    const session = await startSession(t);
    await session.startUnlocked();
    const libraries = scratchDirectory(t);
    writeFileSync(join(libraries, "libsecret-1.so.0"), "");
    enter(t, { ...session.env, LD_LIBRARY_PATH: libraries });
    await assert.rejects(createKeychain().write(ref, secret), {
      code: "unavailable",
      message: /^libsecret, .*cannot be loaded: .*libsecret-1\.so\.0: file too short$/,
      hint: /apt install libsecret-1-0/,
    });
  },
);

test("a libsecret that is not installed is named with the package", async (t) => {
  const hidden = hideLibsecret();
  if (typeof noKeyring === "string" || hidden === null) {
    const reason =
      typeof noKeyring === "string" ? noKeyring : "needs root, unshare and overlayfs to hide libsecret";
    t.diagnostic(`not run: ${reason}`);
    return t.skip(reason);
  }
  const session = await startSession(t);
  await session.startUnlocked();
  const work = scratchDirectory(t);
  const source = new URL("../../../src/", import.meta.url);
  const script = `
    import { createKeychain } from ${JSON.stringify(new URL("adapters/keychain.ts", source).href)};
    import { Secret } from ${JSON.stringify(new URL("core/secrets/secret.ts", source).href)};
    const ref = { name: "default", origin: "https://api.example.com", source: { kind: "keychain" } };
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

/** Shell words that hide libsecret inside a mount namespace of its own; null where that cannot be done. */
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
