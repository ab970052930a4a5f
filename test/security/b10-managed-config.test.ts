// B10, the managed configuration: what root's file locks, no user's file changes; a file that others than root can write is not used;
// and neither an argument nor the environment moves it. A key stays bound to its origin whichever of the two files names that.
import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { managedMachine, MANAGED, noManagedConfig } from "../helpers/config/managed-config.ts";
import { launchDaemon, startDaemon } from "../helpers/daemon/daemon.ts";
import { post, TEST_KEY } from "../helpers/gate/gate.ts";
import { noKeyring, startUnlockedSession } from "../helpers/keychain/keychain-session.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { asUser, NOBODY, noDaemonAs } from "../helpers/process/other-user.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { respondWithEmptyJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

const skip = noManagedConfig;
const IN_FORCE = /"msg":"the new configuration is in force"/;
const upstreamsAt = (baseUrl: string) => ({ upstreams: { default: { baseUrl } } });
const TOKENS_ONLY = { locked: ["access.mode"], access: { mode: "token" } };

/** What a user may write to get round a lock of `access.mode`. */
const ATTEMPTS = {
  "the value itself": `{ "access": { "mode": "open" } }`,
  "its short form": `{ "access": "open" }`,
  "no object in its place": `{ "access": null }`,
  "an empty object and a value after it": `{ "access": {}, "access": "open" }`,
  "a lock of its own": `{ "locked": [], "access": "open" }`,
  "a prototype": `{ "__proto__": { "access": "open" }, "access": { "__proto__": { "mode": "open" } } }`,
};

for (const [what, text] of Object.entries(ATTEMPTS)) {
  test(`a user's file with ${what} does not change a locked setting`, { skip }, async (t) => {
    const machine = managedMachine(t, TOKENS_ONLY);
    const config = text.replace("{", `{ "listen": { "port": 0 },`);
    const home = scratchDirectory(t);
    const { ready, kill } = launchDaemon(home, { config, launcher: machine.launcher });
    t.after(kill);
    const daemon = await ready.catch((error: unknown) => error as Error);
    // A file that is not valid in itself keeps the daemon from starting, as it always does.
    if (daemon instanceof Error) return assert.match(daemon.message, /the configuration is not usable/);
    const refused = await fetch(`${daemon.url}/v1/models`);
    assert.equal(refused.headers.get("x-tollkeeper-refusal"), "token_required");
    const { config: status, access } = await daemon.status();
    assert.equal(access.mode, "token");
    assert.match(status.overruled[0]?.message ?? "", new RegExp(`${MANAGED} locks it`));
  });
}

test(
  "another file, and variables that move other files, leave the managed file where it is",
  { skip },
  async (t) => {
    const machine = managedMachine(t, TOKENS_ONLY);
    const elsewhere = scratchDirectory(t);
    mkdirSync(join(elsewhere, "tollkeeper"));
    writeFileSync(join(elsewhere, "tollkeeper", "config.jsonc"), `{ "access": "open" }`);
    const daemon = await startDaemon(t, {
      launcher: machine.launcher,
      cwd: elsewhere,
      env: {
        XDG_CONFIG_DIRS: elsewhere,
        XDG_CONFIG_HOME: elsewhere,
        TOLLKEEPER_MANAGED_CONFIG: join(elsewhere, "tollkeeper", "config.jsonc"),
      },
    });
    const refused = await fetch(`${daemon.url}/v1/models`);
    assert.equal(refused.headers.get("x-tollkeeper-refusal"), "token_required");
  },
);

test(
  "a managed file that a user can write does not take part: the daemon does not start, and says what root has to type",
  { skip: skip || noDaemonAs(NOBODY) },
  async (t) => {
    const upstream = await startUpstream(t, respondWithEmptyJson);
    const machine = managedMachine(t, { upstreams: { default: { baseUrl: upstream.baseUrl } } });
    const loosened: [act: () => void, fix: string][] = [
      [() => chmodSync(machine.file, 0o666), `sudo chmod go-w ${MANAGED}`],
      [
        () => chownSync(machine.file, NOBODY, NOBODY),
        `look at it, and then type: sudo chown -h root ${MANAGED}`,
      ],
      [() => chmodSync(machine.directory, 0o777), "sudo chmod go-w /etc/tollkeeper"],
      [
        () => chownSync(machine.directory, NOBODY, NOBODY),
        "look at it, and then type: sudo chown -h root /etc/tollkeeper",
      ],
    ];
    for (const [loosen, fix] of loosened) {
      loosen();
      const launcher = [...machine.launcher, ...asUser(NOBODY)];
      const start = launchDaemon(scratchDirectory(t), { launcher });
      t.after(() => start.kill());
      await assert.rejects(start.ready, (error: Error) => {
        assert.ok(error.message.includes(`hint: ${fix}`), error.message);
        return true;
      });
      chownSync(machine.directory, 0, 0);
      chmodSync(machine.directory, 0o755);
      chownSync(machine.file, 0, 0);
      chmodSync(machine.file, 0o644);
    }
    assert.equal(upstream.sockets.size, 0);
  },
);

test(
  "a managed file that becomes writable for others changes nothing in a running daemon",
  { skip },
  async (t) => {
    const [good, evil] = [
      await startUpstream(t, respondWithEmptyJson),
      await startUpstream(t, respondWithEmptyJson),
    ];
    const { config } = writeKeyFile(t, good.baseUrl, TEST_KEY);
    const machine = managedMachine(t, config);
    const daemon = await startDaemon(t, { launcher: machine.launcher });
    chmodSync(machine.file, 0o666);
    await daemon.waitForOutput(
      /cannot be applied; still using the old one: .*users other than root can write to/,
    );
    machine.write(writeKeyFile(t, evil.baseUrl, TEST_KEY).config);
    assert.equal((await post(daemon, "/v1/responses", {})).status, 200);
    assert.deepEqual([good.seen.length, evil.sockets.size], [1, 0]);
  },
);

test(
  "a managed baseUrl that changes to another origin finds no key, and a user's baseUrl above it finds none either",
  { skip: skip || noKeyring },
  async (t) => {
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => startUpstream(t, respondWithEmptyJson)),
    );
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    const session = await startUnlockedSession(t);
    await session.storeKey(TEST_KEY, first.origin);
    const machine = managedMachine(t, upstreamsAt(first.baseUrl));
    const daemon = await startDaemon(t, { launcher: machine.launcher, env: session.busEnv });
    assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
    machine.write(upstreamsAt(second.baseUrl));
    await daemon.waitForOutput(IN_FORCE);
    const refused = await post(daemon, "/v1/messages", {});
    assert.equal(refused.headers.get("x-tollkeeper-refusal"), "key_missing");
    const own = { listen: { port: daemon.port }, ...upstreamsAt(third.baseUrl) };
    writeFileSync(daemon.configFile, JSON.stringify(own));
    await daemon.waitForOutput(new RegExp(`${IN_FORCE.source}[^]*${IN_FORCE.source}`));
    const again = await post(daemon, "/v1/messages", {});
    assert.equal(again.headers.get("x-tollkeeper-refusal"), "key_missing");
    assert.deepEqual(
      [first, second, third].map(({ seen }) => seen.length),
      [1, 0, 0],
    );
  },
);
