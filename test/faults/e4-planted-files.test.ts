// E4, planted files and loose modes: nothing that another user may have planted is written to or used, our files are accessible to
// their owner alone whatever the umask is, and a world-writable configuration is not used.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { Failure } from "../../src/core/failure.ts";
import { NOTES_DIRECTORY } from "../../src/core/ledger/note-file.ts";
import { prepareHome, startDaemon } from "../helpers/daemon/daemon.ts";
import { runProgram } from "../helpers/daemon/run-program.ts";
import { post } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { ledgerScratchDirectory, startLedger, startLedgerGate, TODAY } from "../helpers/ledger/ledger.ts";
import { noteNames, orphanNotes } from "../helpers/ledger/notes.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";
import { NOBODY } from "../helpers/process/other-user.ts";
import { startUpstream, respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { makeVictim, PLANTED_FILES } from "./planted-files.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";

const isRoot = process.geteuid?.() === 0;

async function startMessageUpstream(t: TestContext) {
  return startUpstream(t, respondWithMessage);
}

for (const { what, plant, reason, hint, needsRoot } of PLANTED_FILES) {
  const skip = needsRoot === true && !isRoot && "needs root, to give a file to another user";
  test(
    `with ${what} in place of the day's file requests succeed, nothing is written to it, and the log has a hint how to repair it`,
    { skip },
    async (t) => {
      const victim = makeVictim(t);
      const { gate, ledger, directory, clock, log, ids } = await startLedgerGate(
        t,
        (await startMessageUpstream(t)).baseUrl,
      );
      const file = join(directory, `${TODAY}.ndjson`);
      plant(file, victim.path);
      assert.equal((await post(gate, "/v1/messages", {})).status, 200);
      victim.assertUntouched();
      assert.equal(ledger.health().waiting, 1);
      assert.match(ledger.health().lastError ?? "", reason);
      assert.match(JSON.parse(/\{.*/.exec(log.lines[0] ?? "")?.[0] ?? "{}").hint, hint);
      fs.rmSync(file, { recursive: true });
      clock.advance(1000);
      assert.equal((await post(gate, "/v1/messages", {})).status, 200);
      assert.equal(ids().length, 2);
    },
  );

  test(`with ${what} in place of an older day's file the ledger is not opened`, { skip }, (t) => {
    const victim = makeVictim(t);
    const directory = join(ledgerScratchDirectory(t), "ledger");
    fs.mkdirSync(directory, { mode: 0o700 });
    plant(join(directory, "2026-11-20.ndjson"), victim.path);
    assert.throws(
      () => startLedger(t, { directory }),
      (error) => error instanceof Failure && reason.test(error.message) && hint.test(error.hint ?? ""),
    );
    victim.assertUntouched();
  });
}

test("a link planted in place of the file for torn notes is not followed", (t) => {
  const victim = makeVictim(t);
  const { ledger, directory } = startLedger(t);
  ledger.note([usageRecord()]);
  orphanNotes(directory);
  const [note = ""] = noteNames(directory);
  fs.truncateSync(join(directory, NOTES_DIRECTORY, note), 10);
  fs.symlinkSync(victim.path, join(directory, `${TODAY}.torn`));
  const { log } = startLedger(t, { directory });
  assert.match(log.lines.join("\n"), /2026-11-21\.torn: it is a symbolic link/);
  victim.assertUntouched();
});

/** Changes of a running daemon's directory that would give others access to the files in it. */
const DIRECTORIES: [what: string, plant: (directory: string, elsewhere: string) => void, reason: RegExp][] = [
  [
    "a link to another directory",
    (directory, elsewhere) => {
      fs.rmdirSync(directory);
      fs.symlinkSync(elsewhere, directory);
    },
    /is a symbolic link/,
  ],
  ["a group-writable directory", (directory) => fs.chmodSync(directory, 0o770), /can be written by other/],
  ["a world-writable directory", (directory) => fs.chmodSync(directory, 0o1777), /can be written by other/],
  [
    "a directory of another user",
    (directory) => fs.chownSync(directory, NOBODY, NOBODY),
    /belongs to another user/,
  ],
];

for (const [what, plant, reason] of DIRECTORIES) {
  const skip = what.includes("user") && !isRoot && "needs root, to give a directory to another user";
  test(
    `with ${what} in place of the ledger directory requests succeed and nothing is written to it`,
    { skip },
    async (t) => {
      const elsewhere = ledgerScratchDirectory(t);
      const { gate, ledger, directory } = await startLedgerGate(t, (await startMessageUpstream(t)).baseUrl);
      plant(directory, elsewhere);
      assert.equal((await post(gate, "/v1/messages", {})).status, 200);
      assert.match(ledger.health().lastError ?? "", reason);
      assert.deepEqual([fs.readdirSync(directory), fs.readdirSync(elsewhere)], [[], []]);
    },
  );
}

/** The path, kind and mode of everything below a directory. */
function modesBelow(directory: string): [path: string, kind: "directory" | "other", mode: string][] {
  return fs.readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => {
    const found = fs.lstatSync(join(directory, name));
    return [name, found.isDirectory() ? "directory" : "other", (found.mode & 0o7777).toString(8)];
  });
}

for (const mode of [0o750, 0o755, 0o711, 0o701]) {
  const octal = mode.toString(8);
  test(`a ledger directory that exists with mode ${octal} is refused at the start and at a move, with the command, and keeps its mode`, (t) => {
    const directory = join(ledgerScratchDirectory(t), "shared");
    fs.mkdirSync(directory);
    fs.chmodSync(directory, mode);
    const refused = {
      name: "Failure",
      message: `the ledger directory ${directory} is open to other users`,
      hint: `chmod 700 '${directory}'`,
    };
    assert.throws(() => startLedger(t, { directory }), refused);
    const { ledger, ...other } = startLedger(t);
    assert.throws(() => ledger.moveTo({ directory, retainDays: 400 }), refused);
    assert.equal(ledger.health().directory, other.directory);
    assert.equal(fs.statSync(directory).mode & 0o777, mode);
    fs.chmodSync(directory, 0o700);
    ledger.moveTo({ directory, retainDays: 400 });
  });
}

test("a daemon does not start with a ledger directory that is open to others, and keeps the old one when a reload names it", async (t) => {
  const shared = join(ledgerScratchDirectory(t), "shared");
  fs.mkdirSync(shared);
  fs.chmodSync(shared, 0o755);
  const { daemon } = await startDaemonWithUpstream(t, respondWithMessage);
  const config = JSON.parse(fs.readFileSync(daemon.configFile, "utf8")) as object;
  fs.writeFileSync(daemon.configFile, JSON.stringify({ ...config, ledger: { directory: shared } }));
  await daemon.waitForOutput(/still using the old one: .*shared is open to other users; fix: chmod 700 '/);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.equal(await daemon.stop(), 0);
  const { code, stderr } = await daemon.command("serve");
  assert.equal(code, 1);
  assert.match(stderr, /^error: the ledger directory .*shared is open to other users\nhint: chmod 700 '/m);
  assert.deepEqual([fs.statSync(shared).mode & 0o777, fs.readdirSync(shared)], [0o755, []]);
});

test("a ledger directory that is opened to readers while the daemon runs costs no record, and its files stay private", async (t) => {
  const { gate, directory, clock, ledger, ids } = await startLedgerGate(
    t,
    (await startMessageUpstream(t)).baseUrl,
  );
  const file = join(directory, `${TODAY}.ndjson`);
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
  fs.chmodSync(directory, 0o755);
  fs.renameSync(file, `${file}.away`);
  clock.advance(1000);
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
  assert.deepEqual([ids().length, ledger.health().waiting, fs.statSync(file).mode & 0o777], [1, 0, 0o600]);
});

test("a file of the ledger that others may read gets mode 0600", async (t) => {
  const directory = join(ledgerScratchDirectory(t), "ledger");
  const file = join(directory, `${TODAY}.ndjson`);
  fs.mkdirSync(directory, { mode: 0o700 });
  fs.writeFileSync(file, "", { mode: 0o644 });
  const { gate } = await startLedgerGate(t, (await startMessageUpstream(t)).baseUrl, { directory });
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
});

test("under umask 000 everything that a daemon creates has mode 0700 or 0600", async (t) => {
  const env = { NODE_OPTIONS: "--import=data:text/javascript,process.umask(0)" };
  const { daemon } = await startDaemonWithUpstream(t, respondWithMessage, { env });
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  const made = [...modesBelow(join(daemon.home, "state")), ...modesBelow(join(daemon.home, "run"))];
  assert.ok(made.some(([path]) => path.endsWith(".ndjson")) && made.some(([path]) => path.endsWith(".sock")));
  for (const [path, kind, mode] of made) assert.equal(mode, kind === "directory" ? "700" : "600", path);
});

test("a daemon does not start with a link in place of the control socket's directory, and leaves its target alone", async (t) => {
  const [run, elsewhere] = [ledgerScratchDirectory(t), ledgerScratchDirectory(t)];
  fs.chmodSync(elsewhere, 0o755);
  fs.symlinkSync(elsewhere, join(run, "tollkeeper"));
  await assert.rejects(
    startDaemon(t, { env: { XDG_RUNTIME_DIR: run } }),
    /error: the control socket cannot be created in .*: it is a symbolic link or belongs to another user\nhint: inspect it with: ls -ld /,
  );
  assert.deepEqual([fs.readdirSync(elsewhere), fs.statSync(elsewhere).mode & 0o777], [[], 0o755]);
});

test("a world-writable configuration is neither loaded by a running daemon nor started with", async (t) => {
  const { upstream: first, daemon } = await startDaemonWithUpstream(t);
  const second = await startMessageUpstream(t);
  fs.chmodSync(daemon.configFile, 0o666);
  fs.writeFileSync(daemon.configFile, JSON.stringify(writeKeyFile(t, second.baseUrl, "some-key").config));
  await daemon.waitForOutput(/still using the old one: .*other users can change it/);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.deepEqual([first.seen.length, second.seen.length], [1, 0]);
  assert.equal(await daemon.stop(), 0);
  const { code, stderr } = await daemon.command("serve");
  assert.equal(code, 1);
  assert.match(stderr, /other users can change it\nhint: chmod go-w .*config\.jsonc/);
});

test("a command that changes the configuration replaces a link in place of the schema, and refuses a configuration that others may change", async (t) => {
  const { env, configFile } = prepareHome(t, { config: {} });
  const directory = dirname(configFile);
  const victim = join(directory, "precious");
  fs.writeFileSync(victim, "precious");
  const schema = join(directory, "config.schema.json");
  fs.rmSync(schema, { force: true });
  fs.symlinkSync(victim, schema);
  const set = ["config", "set", "listen.port", "4712", "--config", configFile];
  assert.equal((await runProgram(set, { env })).code, 0);
  assert.equal(fs.readFileSync(victim, "utf8"), "precious");
  assert.ok(fs.lstatSync(schema).isFile());
  const before = fs.readFileSync(configFile, "utf8");
  fs.chmodSync(configFile, 0o666);
  const { code, stderr } = await runProgram(
    ["config", "set", "listen.port", "4713", "--config", configFile],
    { env },
  );
  assert.equal(code, 1);
  assert.match(stderr, /^error: other users can change the configuration /);
  assert.equal(fs.readFileSync(configFile, "utf8"), before);
});
