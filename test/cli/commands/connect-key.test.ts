import { usualConfigFile } from "../../helpers/config/config-file.ts";
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ListedKey } from "../../../src/cli/keys/list-keys.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { noKeyring, startUnlockedSession } from "../../helpers/keychain/keychain-session.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { runOnTerminal } from "../../helpers/process/terminal.ts";
import { assertNowhere, readFilesBelow } from "../../security/leak-search.ts";

const skip = noKeyring;
const ORIGIN = "https://api.example.com";
const UPSTREAM = { upstreams: { default: { baseUrl: `${ORIGIN}/v1` } } };

/** The setting that holds the credential of Claude Code. */
const PLACE = "~/.claude/settings.json (env.ANTHROPIC_AUTH_TOKEN)";

/** Prepares a home directory with an unlocked keychain, in which Claude Code's settings hold a real key. */
async function prepare(t: TestContext, config: object = UPSTREAM) {
  const session = await startUnlockedSession(t);
  const home = session.directory;
  const configFile = usualConfigFile(home);
  writeFileSync(configFile, JSON.stringify({ listen: { port: 4711 }, ...config }), { mode: 0o600 });
  const key = sentinelKey();
  const settings = join(home, ".claude", "settings.json");
  const before = JSON.stringify({ env: { ANTHROPIC_AUTH_TOKEN: key }, model: "opus" }, null, 2);
  mkdirSync(dirname(settings));
  writeFileSync(settings, before);
  const env = { PATH: process.env["PATH"], ...session.env, DEBUG: "*" };
  const argv = (words: readonly string[]) => [...words, "--config", configFile];
  const run = (words: readonly string[], input = "") => runProgram(argv(words), { env, input });
  return {
    home,
    key,
    before,
    settings,
    run,
    onTerminal: (typed: string) =>
      runOnTerminal([process.execPath, PROGRAM, ...argv(["connect", "claude"])], { env }, [
        ["[y/N] ", typed],
      ]),
    text: () => readFileSync(settings, "utf8"),
    async stored() {
      const { stdout } = await run(["key", "list", "--json"]);
      return (JSON.parse(stdout) as ListedKey[]).map(({ state }) => state);
    },
    /** Stores a key in the keychain. */
    async set(value: string) {
      assert.equal((await run(["key", "set", "--no-test"], value)).code, 0);
    },
  };
}

test(
  "connect moves a real key from the tool's file into the keychain and shows it nowhere",
  { skip },
  async (t) => {
    const { home, key, run, text, stored, settings, before } = await prepare(t);
    const dry = await run(["connect", "claude", "--dry-run"]);
    assert.match(
      dry.stdout,
      /^the key in .* moves to the keychain, as "default" for https:\/\/api\.example\.com /m,
    );
    assert.deepEqual([text(), await stored()], [before, ["missing"]]);

    const done = await run(["connect", "claude", "--yes"]);
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(await stored(), ["stored"]);
    assert.match(text(), /"ANTHROPIC_AUTH_TOKEN": "tk-claude-code"/);
    const undone = await run(["disconnect", "claude", "--yes"]);
    assert.match(
      undone.stdout,
      /env\.ANTHROPIC_AUTH_TOKEN in .* held a real key, which stays in the keychain/,
    );
    assert.deepEqual(await stored(), ["stored"]);
    const outputs = [dry, done, undone].map(({ stdout, stderr }) => stdout + stderr).join("\n");
    assertNowhere(key, { outputs, ...readFilesBelow(home, null) });

    // `connect` says so only of the key that the keychain holds.
    writeFileSync(settings, before);
    assert.match(
      (await run(["connect", "claude", "--dry-run"])).stdout,
      /^the key in .* is already in the keychain/m,
    );
  },
);

test(
  "connect asks before it moves a key, and a no changes neither file nor keychain",
  { skip },
  async (t) => {
    const { key, before, onTerminal, stored, text } = await prepare(t);
    const declined = await onTerminal("n\n");
    assert.equal(declined.code, 1);
    assert.match(declined.text, /Move the key into the keychain, and connect Claude Code\? \[y\/N\] /);
    assert.deepEqual([text(), await stored()], [before, ["missing"]]);
    const agreed = await onTerminal("yes\n");
    assert.equal(agreed.code, 0);
    assert.deepEqual(await stored(), ["stored"]);
    assertNowhere(key, { screens: declined.text + agreed.text, settings: text() });
  },
);

test("connect does not mention a key in its question that the keychain already has", { skip }, async (t) => {
  const { key, onTerminal, set, text } = await prepare(t);
  await set(key);
  const { code, text: screen } = await onTerminal("y\n");
  assert.equal(code, 0);
  assert.match(screen, /^Connect Claude Code\? \[y\/N\] /m);
  assertNowhere(key, { screen, settings: text() });
});

test(
  "connect refuses a key that differs from the one in the keychain, and says what to do",
  { skip },
  async (t) => {
    const { key, before, run, set, text } = await prepare(t);
    await set(sentinelKey());
    const { code, stdout, stderr } = await run(["connect", "claude", "--yes"]);
    assert.equal(code, 1);
    assert.ok(stderr.startsWith(`error: the key in ${PLACE} differs from the one stored as "default" for`));
    assert.match(
      stderr,
      /\nhint: if the stored key is right, .*\n {6}if not, replace it with: tollkeeper key set --replace\n {6}then connect again\n/,
    );
    assert.equal(text(), before);
    assertNowhere(key, { stdout, stderr });
  },
);

test("connect refuses a key without a configured upstream", { skip }, async (t) => {
  const { key, before, run, text } = await prepare(t, {});
  const { code, stdout, stderr } = await run(["connect", "claude", "--yes"]);
  assert.equal(code, 1);
  assert.ok(stderr.startsWith(`error: ${PLACE} contains a real key, but no upstream is configured`));
  assert.match(stderr, /\nhint: set up the upstream first: tollkeeper setup\n$/);
  assert.equal(text(), before);
  assertNowhere(key, { stdout, stderr });
});

test(
  "connect refuses a key of an upstream with another key source than the keychain",
  { skip },
  async (t) => {
    const upstream = { baseUrl: `${ORIGIN}/v1`, keySource: { file: "/nowhere/key" } };
    const { before, run, text } = await prepare(t, { upstreams: { default: upstream } });
    const { code, stderr } = await run(["connect", "claude", "--yes"]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      / contains a real key, but upstream default takes its key from another source: file \/nowhere\/key\nhint: /,
    );
    assert.equal(text(), before);
  },
);

test("connect stores the key under the key name configured for the tool", { skip }, async (t) => {
  const { run, stored } = await prepare(t, { ...UPSTREAM, tools: { "claude-code": { key: "of-claude" } } });
  const { stdout } = await run(["connect", "claude", "--yes"]);
  assert.match(stdout, /moves to the keychain, as "of-claude" for /);
  assert.deepEqual(await stored(), ["missing", "stored"]);
});

test(
  "connect claude moves the key of env.ANTHROPIC_API_KEY as well, and leaves that setting empty",
  { skip },
  async (t) => {
    const { home, key, settings, run, text, stored } = await prepare(t);
    const before = JSON.stringify({ env: { ANTHROPIC_API_KEY: key } }, null, 2);
    writeFileSync(settings, before);
    const done = await run(["connect", "claude", "--yes"]);
    assert.equal(done.code, 0, done.stderr);
    assert.match(
      done.stdout,
      /^the key in ~\/\.claude\/settings\.json \(env\.ANTHROPIC_API_KEY\) moves to the keychain, /m,
    );
    assert.match(
      done.stdout,
      /^ {2}env\.ANTHROPIC_API_KEY: left empty: Claude Code sends it in addition to ANTHROPIC_AUTH_TOKEN, which wins$/m,
    );
    assert.doesNotMatch(done.stderr, /warning/);
    assert.match(text(), /"ANTHROPIC_API_KEY": ""/);
    assert.deepEqual(await stored(), ["stored"]);
    const undone = await run(["disconnect", "claude", "--yes"]);
    assert.match(undone.stdout, /env\.ANTHROPIC_API_KEY in .* held a real key, which stays in the keychain/);
    const outputs = [done, undone].map(({ stdout, stderr }) => stdout + stderr).join("\n");
    assertNowhere(key, { outputs, ...readFilesBelow(home, null) });
  },
);

test("connect refuses two different keys, and says which of them the tool uses", { skip }, async (t) => {
  const { key, settings, run, text } = await prepare(t);
  const env = { ANTHROPIC_API_KEY: sentinelKey(), ANTHROPIC_AUTH_TOKEN: key };
  const before = JSON.stringify({ env });
  writeFileSync(settings, before);
  const { code, stdout, stderr } = await run(["connect", "claude", "--yes"]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: \S+ \(env\.ANTHROPIC_AUTH_TOKEN\) and \S+ \(env\.ANTHROPIC_API_KEY\) contain different keys \(the tool uses env\.ANTHROPIC_AUTH_TOKEN\), and only one can be stored as "default" for /m,
  );
  assert.equal(text(), before);
  for (const one of Object.values(env)) assert.ok(!(stdout + stderr).includes(one));
});
