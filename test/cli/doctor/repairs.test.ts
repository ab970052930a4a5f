// What doctor says is typed, and nothing else, until doctor finds nothing more. test/systemd/broken-setups does the same to a
// service in a booted systemd.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setUpMachine, type Machine, type MachineOptions } from "../../helpers/daemon/machine.ts";
import { repair } from "../../helpers/daemon/repair.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { noKeyring, startUnlockedSession } from "../../helpers/keychain/keychain-session.ts";

/** Types what doctor says until it finds no problems. Returns what it found first, and what was typed, with names for what varies. */
async function mend(machine: Machine, env: Record<string, string> = {}) {
  const found = await repair({
    doctor: () => machine.doctor("--json"),
    type: (line) =>
      new Promise((resolve) => {
        execFile("sh", ["-c", line], { env: { ...process.env, ...env } }, () => resolve());
      }),
  });
  return { found: machine.named(found.findings[0] ?? ""), typed: found.typed.map(machine.named) };
}

/** Sets up a machine whose key is in a file, and changes it. */
async function broken(t: TestContext, change: (machine: Machine) => void, options: MachineOptions = {}) {
  const machine = await setUpMachine(t, options);
  change(machine);
  return machine;
}

/** A configuration with the key in the keychain. */
const inKeychain = (baseUrl: string) => ({ upstreams: { default: { baseUrl } } });

const skip = process.platform === "linux" ? false : "needs Linux: elsewhere the real keychain would be asked";

test(
  "a keychain whose default collection is not there gets another default one",
  { skip: noKeyring },
  async (t) => {
    const session = await startUnlockedSession(t);
    const key = sentinelKey();
    const machine = await setUpMachine(t, { key, config: inKeychain, session: session.busEnv });
    await session.storeKey(key, machine.upstream);
    writeFileSync(join(session.directory, ".local/share/keyrings/default"), "gone");
    await session.startUnlocked("--replace");
    const service = "org.freedesktop.secrets /org/freedesktop/secrets org.freedesktop.Secret.Service";
    assert.deepEqual(await mend(machine, session.env), {
      found: "the keychain's default collection, which stores keys, is missing",
      typed: [`busctl --user call ${service} SetAlias so default /org/freedesktop/secrets/collection/login`],
    });
  },
);

test("a key file that others can read is closed", { skip }, async (t) => {
  const machine = await broken(t, ({ keyFile }) => chmodSync(keyFile, 0o644));
  assert.deepEqual(await mend(machine), {
    found: "key file KEYFILE is open to other users",
    typed: ["chmod 600 KEYFILE"],
  });
});

test(
  "a configuration that anybody may change is closed, and the running daemon accepts it again",
  { skip },
  async (t) => {
    const machine = await broken(t, ({ configFile }) => chmodSync(configFile, 0o666));
    assert.deepEqual(await mend(machine), {
      found: "~/config/tollkeeper/config.jsonc: the file cannot be used: other users can change it",
      typed: ["chmod go-w HOME/config/tollkeeper/config.jsonc"],
    });
  },
);

test("a ledger that others can enter is closed", { skip }, async (t) => {
  const machine = await broken(t, ({ home }) => chmodSync(join(home, "state/tollkeeper/ledger"), 0o755));
  assert.deepEqual(await mend(machine), {
    found: "HOME/state/tollkeeper/ledger is open to other users",
    typed: ["chmod 700 'HOME/state/tollkeeper/ledger'"],
  });
});
