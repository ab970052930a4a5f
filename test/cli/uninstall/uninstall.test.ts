import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { noKeyring, startUnlockedSession } from "../../helpers/keychain/keychain-session.ts";
import { noTerminal } from "../../helpers/process/terminal.ts";
import { homeWithSystemd, writeInstallation } from "../service/service-home.ts";
import { prepareSetup, setupWith, type SetupHome } from "../setup/setup-home.ts";

const skip = noKeyring;
const PROGRAM = "To remove the program itself, type: npm uninstall -g tollkeeper\n";
const LEDGER = ".local/state/tollkeeper/ledger";
const SETTINGS = '{ "model": "opus" }\n';

/** An account that was set up, with a token, a second key and usage records. */
async function prepareUsed(t: Parameters<typeof prepareSetup>[0]): Promise<SetupHome> {
  const machine = await prepareSetup(t);
  const { run, upstream, key, home } = machine;
  mkdirSync(join(home, ".claude"), { recursive: true });
  writeFileSync(join(home, ".claude", "settings.json"), SETTINGS);
  const set = await run(setupWith(upstream.baseUrl, "--connect", "claude-code"), key);
  assert.equal(set.code, 0, set.stderr);
  await run(["key", "set", "second", "--no-test"], "sk-second-key");
  await run(["token", "add", "my-script"]);
  mkdirSync(join(home, LEDGER, "under-way"), { recursive: true, mode: 0o700 });
  mkdirSync(join(home, LEDGER, "imported", "codex"), { recursive: true, mode: 0o700 });
  for (const name of [
    "2026-11-20.ndjson",
    "2026-11-21.ndjson",
    "2026-11-21.torn",
    "2026-11.month",
    "under-way/a.1-b.json",
    "imported/codex/2026-11-20.ndjson",
    "mine.txt",
  ])
    writeFileSync(join(home, LEDGER, name), "{}\n");
  return machine;
}

test(
  "uninstall shows everything first, and without a terminal changes nothing without --yes",
  { skip },
  async (t) => {
    const { run, upstream, exists, storedKeys } = await prepareUsed(t);
    const { code, stdout, stderr } = await run(["uninstall"]);
    assert.equal(code, 1);
    assert.equal(
      stdout.replaceAll(/ +/g, " "),
      `This will be removed:
 tool claude-code; its settings will be restored
 tokens ~/.local/state/tollkeeper/tokens.json
 key "default" for ${upstream.origin}
 key "second" for ${upstream.origin}
 config ~/.config/tollkeeper/config.jsonc
 config ~/.config/tollkeeper/config.schema.json
`,
    );
    assert.equal(
      stderr,
      "error: there is no terminal to ask on, so nothing was changed\nhint: to remove everything without asking, type: tollkeeper uninstall --yes\n",
    );
    assert.ok(exists(".config/tollkeeper/config.jsonc"));
    assert.equal((await storedKeys()).length, 2);
  },
);

test(
  "uninstall --yes removes all but the usage records, and a second time finds nothing",
  { skip },
  async (t) => {
    const { run, exists, read, storedKeys, home } = await prepareUsed(t);
    const { code, stdout } = await run(["uninstall", "--yes"]);
    assert.equal(code, 0);
    const own = readdirSync(join(home, LEDGER)).filter((name) => name !== "mine.txt");
    const removed = stdout.split("\n").flatMap((line) => /^removed: (\w+)/.exec(line)?.[1] ?? []);
    assert.deepEqual(removed, ["tokens", "key", "key", "config", "config"]);
    assert.match(stdout, /^tool claude-code: settings restored$/m);
    assert.ok(
      stdout.endsWith(
        `The usage records are kept: ~/${LEDGER}, 4 files. To remove them, type: rm -r ${own.map((name) => join(home, LEDGER, name)).join(" ")}\n${PROGRAM}`,
      ),
    );
    assert.equal(read(".claude/settings.json"), SETTINGS);
    assert.deepEqual(await storedKeys(), []);
    assert.ok(!exists(".config/tollkeeper") && !exists(".local/state/tollkeeper/connections"));
    assert.ok(exists(`${LEDGER}/2026-11-20.ndjson`));
    const again = await run(["uninstall"]);
    assert.deepEqual([again.code, again.stderr], [0, ""]);
    assert.match(again.stdout, /^There is nothing to remove\.\nThe usage records are kept: /);
    rmSync(join(home, LEDGER, "mine.txt"));
    const alone = await run(["uninstall"]);
    assert.ok(alone.stdout.endsWith(`To remove them, type: rm -r ${join(home, LEDGER)}\n${PROGRAM}`));
  },
);

test(
  "uninstall --ledger removes the usage records and leaves the files of others in their directory",
  { skip },
  async (t) => {
    const { run, exists } = await prepareUsed(t);
    const { code, stdout, stderr } = await run(["uninstall", "--ledger", "--yes"]);
    assert.equal(code, 0);
    assert.match(stdout, /removed: ledger [^]*removed: config /);
    assert.match(stderr, /^note: ~\/\.local\/state\/tollkeeper\/ledger is kept: it contains other files$/m);
    assert.ok(
      exists(`${LEDGER}/mine.txt`) &&
        !exists(`${LEDGER}/2026-11-21.torn`) &&
        !exists(`${LEDGER}/2026-11.month`) &&
        !exists(`${LEDGER}/under-way`) &&
        !exists(`${LEDGER}/imported`),
    );
  },
);

test("what cannot be removed is told with its command, and the rest is removed", { skip }, async (t) => {
  const { run, exists, session, storedKeys } = await prepareUsed(t);
  await session.lock();
  const { code, stdout, stderr } = await run(["uninstall", "--yes"]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: the keychain is locked\nhint: unlock it: .*\n.*asks for its password: sh -c .*\n {6}then try again\nnot removed: keys in the keychain; by hand: unlock the keychain, then type: tollkeeper uninstall\n/m,
  );
  assert.doesNotMatch(stderr, /keySource/);
  assert.match(stderr, /1 item could not be removed; to try again, type: tollkeeper uninstall\n$/);
  assert.match(stdout, /tool claude-code: settings restored\n[^]*removed: config /);
  assert.ok(!exists(".config/tollkeeper"));
  await session.startUnlocked("--replace");
  assert.equal((await run(["uninstall", "--yes"])).code, 0);
  assert.deepEqual(await storedKeys(), []);
});

test("uninstall asks once, and no changes nothing", { skip: skip || noTerminal }, async (t) => {
  const { onTerminal, exists, storedKeys } = await prepareUsed(t);
  const question = "Remove all of this? Stored keys cannot be recovered. [y/N] ";
  const no = await onTerminal(["uninstall"], [[question, "\n"]]);
  assert.equal(no.code, 0);
  assert.match(no.text, /\nNothing was changed\.\n$/);
  assert.equal((await storedKeys()).length, 2);
  const yes = await onTerminal(["uninstall"], [[question, "y\n"]]);
  assert.equal(yes.code, 0);
  assert.ok(!exists(".config/tollkeeper"));
});

test("uninstall stops a daemon that was started by hand, and removes the service", { skip }, async (t) => {
  const session = await startUnlockedSession(t);
  const daemon = await startDaemon(t, { env: session.busEnv });
  const machine = homeWithSystemd(t, {}, daemon.home);
  writeInstallation(machine);
  const { code, stdout, stderr } = await runProgram(["uninstall", "--yes", "--config", daemon.configFile], {
    env: { ...machine.env, ...session.busEnv },
  });
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^removed: service systemd, not running\n[^]*^daemon started by hand, pid \d+: stopped$/m,
  );
  assert.equal(await daemon.ended, 0);
});

test("a service that this session cannot reach is told, with what to type", async (t) => {
  const stderr = "Failed to connect to bus";
  const unreachable = { match: "--user show --property=UnitPath", code: 127, stderr };
  const machine = homeWithSystemd(t, { systemctl: [unreachable] });
  writeInstallation(machine);
  const { code, stdout, stderr: errors } = await runProgram(["uninstall", "--yes"], { env: machine.env });
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^This will be removed:\n {2}service +~\/config\/systemd\/user\/tollkeeper\.service\n/,
  );
  assert.match(
    errors,
    /^error: systemd is not running .*\nhint: [^]*\nnot removed: service .*; by hand: tollkeeper service uninstall$/m,
  );
});
