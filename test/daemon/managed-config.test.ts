import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { managedMachine, MANAGED, noManagedConfig } from "../helpers/config/managed-config.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { asUser, NOBODY, noDaemonAs } from "../helpers/process/other-user.ts";
import { respondWithMessage, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { editConfig, IN_FORCE, NOT_ACCEPTED } from "./config-edits.ts";

const skip = noManagedConfig;

test(
  "a daemon without a managed file takes the first one that appears, follows it, and keeps to the user's own values",
  { skip },
  async (t) => {
    const [first, second] = await Promise.all([1, 2].map(() => startUpstream(t, respondWithMessage)));
    assert.ok(first !== undefined && second !== undefined);
    const machine = managedMachine(t);
    const daemon = await startDaemon(t, { launcher: machine.launcher });
    machine.write(writeKeyFile(t, first.baseUrl, "managed-key").config);
    await daemon.waitForOutput(IN_FORCE);
    assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
    assert.equal(first.seen[0]?.headers["x-api-key"], "managed-key");
    // The user's upstream stands before the managed one.
    const { upstreams } = writeKeyFile(t, second.baseUrl, "own-key").config;
    editConfig(daemon, { upstreams: { mine: upstreams.default } });
    await daemon.waitForOutput(new RegExp(`${IN_FORCE.source}[^]*${IN_FORCE.source}`));
    assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
    assert.deepEqual([first.seen.length, second.seen[0]?.headers["x-api-key"]], [1, "own-key"]);
    const { config, upstreams: inForce } = await daemon.status();
    assert.deepEqual(
      [config.managed, inForce.map(({ name }) => name)],
      [{ path: MANAGED, locked: [] }, ["mine", "default"]],
    );
  },
);

test(
  "a daemon of another user starts although its user's file sets what is locked, says so once, and again when that changes",
  { skip: skip || noDaemonAs(NOBODY) },
  async (t) => {
    const machine = managedMachine(t, { locked: ["ledger.retainDays"], ledger: { retainDays: 30 } });
    const launcher = [...machine.launcher, ...asUser(NOBODY)];
    const daemon = await startDaemon(t, { launcher, config: { ledger: { retainDays: 5 } } });
    const told = `a part of the configuration is not used: ${daemon.configFile}:1: ledger.retainDays: is not used: ${MANAGED} locks it`;
    await daemon.waitForOutput(new RegExp(told));
    const before = await daemon.status();
    assert.equal(before.config.overruled[0]?.path, "ledger.retainDays");
    assert.match(before.lastError?.message ?? "", new RegExp(told));
    const shown = await daemon.command("status");
    assert.match(
      shown.stdout,
      new RegExp(`with the managed file ${MANAGED}, which locks ledger\\.retainDays\n`),
    );
    assert.match(
      shown.stdout,
      new RegExp(`:1: ledger\\.retainDays: is not used: ${MANAGED} locks it; remove it here\n`),
    );
    // Requests are served, so the daemon is healthy.
    assert.equal(shown.code, 0);
    editConfig(daemon, { limits: { drainMs: 1 } });
    await daemon.waitForOutput(IN_FORCE);
    const after = await daemon.status();
    assert.deepEqual([after.config.overruled, after.lastError], [[], null]);
  },
);

test(
  "an invalid managed file keeps a daemon from starting and changes nothing in a running one; each problem names its file",
  { skip },
  async (t) => {
    const machine = managedMachine(t, { limits: { drainMs: 1 } });
    const daemon = await startDaemon(t, { launcher: machine.launcher });
    machine.write(`{\n"limits": { "drainMs": "x" }, }`);
    await daemon.waitForOutput(NOT_ACCEPTED);
    const { config } = await daemon.status();
    assert.deepEqual(
      config.problems.map(({ file, line, path }) => [file, line, path]),
      [[MANAGED, 2, "limits.drainMs"]],
    );
    const shown = await daemon.command("status");
    assert.equal(shown.code, 1);
    assert.match(
      shown.stdout,
      new RegExp(`not accepted .*: ${MANAGED}:2: limits\\.drainMs: must be a whole number`),
    );
    writeFileSync(daemon.configFile, `{\n\n"listen": { "port": "y" } }`);
    const both = startDaemon(t, { launcher: machine.launcher, config: `{\n\n"listen": { "port": "y" } }` });
    await assert.rejects(both, (error: Error) => {
      assert.match(error.message, /config\.jsonc:3: listen\.port: must be a whole number/);
      assert.match(error.message, new RegExp(`${MANAGED}:2: limits\\.drainMs: must be a whole number`));
      return true;
    });
  },
);

const accountsIn = (etc: string) => ["passwd", "group"].map((file) => readFileSync(join(etc, file), "utf8"));

/** The device and inode of each file. */
const filesOf = (etc: string) =>
  execFileSync("find", [etc, "-type", "f", "-printf", "%D:%i\n"], { encoding: "utf8" }).split("\n");

test(
  "what a test writes to its copy of /etc reaches neither the real one nor the test after it",
  { skip },
  async (t) => {
    const real = accountsIn("/etc");
    let first = "";
    await t.test("one that writes", (inner) => {
      const machine = managedMachine(inner, {});
      first = dirname(machine.directory);
      const own = new Set(filesOf(first).filter(Boolean));
      assert.ok(own.size > 0 && !filesOf("/etc").some((file) => own.has(file)), "no file is shared");
      appendFileSync(join(first, "passwd"), "mallory:x:1:1::/:/bin/sh\n");
      appendFileSync(join(first, "group"), "devs:x:2:mallory\n");
    });
    await t.test("one after it", (inner) => {
      const machine = managedMachine(inner);
      assert.equal(dirname(machine.directory), first);
      assert.equal(existsSync(machine.directory), false);
      assert.deepEqual(accountsIn(first), real);
    });
    assert.deepEqual(accountsIn("/etc"), real);
  },
);
