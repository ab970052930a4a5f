import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openControlSocket } from "../../../src/adapters/control-socket.ts";
import { controlHandlers } from "../../helpers/daemon/control-handlers.ts";
import { prepareKeyCommand, sentinelKey } from "../../helpers/keychain/key-command.ts";
import type { Result } from "../../helpers/keychain/key-command.ts";
import { noKeyring } from "../../helpers/keychain/keychain-session.ts";
import { MemoryLog } from "../../helpers/gate/memory.ts";

const skip = noKeyring;
const ORIGIN = "https://api.example.com";
const CONFIG = { upstreams: { default: { baseUrl: `${ORIGIN}/v1` } } };

function assertSilent({ out, err }: Result, key: string): void {
  assert.ok(!`${out}${err}`.includes(key), "the key is in the output");
}

async function listed(command: Awaited<ReturnType<typeof prepareKeyCommand>>) {
  const { out } = await command.run(["list", "--json"]);
  return JSON.parse(out) as {
    name: string;
    state: string;
    origin: string;
    source: string;
    usedBy: string[];
  }[];
}

test("a key is set from a pipe, listed, and removed, and shows nowhere", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  const key = sentinelKey();

  const set = await command.run(["set"], `${key}\n`);
  assert.deepEqual([set.code, set.err], [0, ""]);
  assert.equal(
    set.out,
    `stored key "default" for ${ORIGIN} (upstream default); it is sent to that origin only\n`,
  );
  const list = await command.run(["list"]);
  assert.match(list.out, /default.*https:\/\/api\.example\.com.*keychain.*stored/);
  assert.equal((await listed(command))[0]?.state, "stored");
  for (const result of [set, list, await command.run(["list", "--json"])]) assertSilent(result, key);

  const removed = await command.run(["remove"]);
  assert.deepEqual([removed.code, removed.out], [0, `removed key "default" for ${ORIGIN}\n`]);
  const again = await command.run(["remove"]);
  assert.deepEqual([again.code, again.out], [0, `there was no key "default" for ${ORIGIN}\n`]);
  assert.match((await command.run(["list"])).out, /missing[^]*store it: tollkeeper key set default/);
});

test("a key typed at a terminal shows nothing on the screen, not even its length", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  const key = sentinelKey();
  const question = `key "default" for ${ORIGIN} (nothing shows while you type): `;
  // Ctrl-U takes back a line, backspace a character; a pasted key ends with a line break.
  const result = await command.runOnTerminal(["set"], question, `wrong\u0015${key}x\u007f\n`);
  assert.equal(result.code, 0);
  assert.equal(
    result.out,
    `${question}\r\nstored key "default" for ${ORIGIN} (upstream default); it is sent to that origin only\r\n`,
  );
  assert.equal((await listed(command))[0]?.state, "stored");
});

test("Ctrl-C at the question stores nothing and exits 130", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  const key = sentinelKey();
  const result = await command.runOnTerminal(["set"], "while you type): ", `${key}\u0003`);
  assert.equal(result.code, 130);
  assertSilent(result, key);
  assert.equal((await listed(command))[0]?.state, "missing");
});

test("a key on the command line is wrong usage, explained and not repeated", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  const key = sentinelKey();
  for (const args of [
    ["set", "default", key],
    ["set", "default", key, key],
  ]) {
    const result = await command.run(args, "sk-other\n");
    assert.equal(result.code, 2);
    assert.match(result.err, /^error: the key itself is never an argument/);
    assertSilent(result, key);
  }
  const asName = await command.run(["set", key], "sk-other\n");
  assert.equal(asName.code, 2);
  assert.match(asName.err, /^error: a key value never stands/);
  assertSilent(asName, key);
  assert.equal((await listed(command))[0]?.state, "missing");
});

test("text that is no key is refused and not repeated", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  const key = sentinelKey();
  for (const text of ["", `Bearer ${key}`, `${key}\n${key}\n`, key.repeat(2000)]) {
    const result = await command.run(["set"], text);
    assert.equal(result.code, 1);
    assert.match(result.err, /^error: .*\nhint: give the key alone, on one line\n$/);
    assertSilent(result, key);
  }
});

test("a key belongs to the upstream that is named, and to its origin", { skip }, async (t) => {
  const other = "https://other.example.com";
  const command = await prepareKeyCommand(t, {
    upstreams: { ...CONFIG.upstreams, other: { baseUrl: `${other}/v1`, key: "second" } },
    tools: { codex: { key: "codex" } },
  });
  const set = await command.run(["set", "--upstream", "other"], sentinelKey());
  assert.match(set.out, /^stored key "second" for https:\/\/other\.example\.com \(upstream other\)/);
  const keys = (await listed(command)).map(({ name, origin, state, usedBy }) => [
    name,
    origin,
    state,
    usedBy,
  ]);
  assert.deepEqual(keys, [
    ["default", ORIGIN, "missing", []],
    ["second", other, "stored", []],
    ["codex", ORIGIN, "missing", ["codex"]],
  ]);
  const unknown = await command.run(["set", "--upstream", "none"], sentinelKey());
  assert.deepEqual(
    [unknown.code, unknown.err],
    [1, 'error: no upstream is called "none"\nhint: the configuration has: default, other\n'],
  );
  assert.match(
    (await command.run(["set", "later"], sentinelKey())).err,
    /^note: the configuration does not name "later" yet/,
  );
});

test("keys that live elsewhere are neither set nor removed here, but listed", { skip }, async (t) => {
  const file = "/nowhere/key";
  const command = await prepareKeyCommand(t, {
    upstreams: { default: { baseUrl: `${ORIGIN}/v1`, keySource: { file } } },
  });
  for (const verb of ["set", "remove"]) {
    const result = await command.run([verb], sentinelKey());
    assert.equal(result.code, 1);
    assert.match(
      result.err,
      /^error: the keys of upstream default do not live in the keychain, but in: file \/nowhere\/key\nhint: /,
    );
  }
  const [key] = await listed(command);
  assert.deepEqual([key?.source, key?.state], [`file ${file}`, "unavailable"]);
});

test("without an upstream there is nothing to set a key for", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, {});
  const set = await command.run(["set"], sentinelKey());
  assert.deepEqual([set.code, set.out], [1, ""]);
  assert.match(set.err, /^error: no upstream is configured[^]*hint: .*tollkeeper config edit/);
  assert.equal((await command.run(["list"])).out, "the configuration names no key\n");
  assert.deepEqual(await listed(command), []);
});

test("a bad configuration is told with its problems", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, { upstreams: { default: { baseUrl: 7 } } });
  const result = await command.run(["list"]);
  assert.equal(result.code, 1);
  assert.match(result.err, /upstreams\.default\.baseUrl/);
});

test("a locked keychain is named in the list, and refuses a key", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  await command.session.lock();
  assert.equal((await listed(command))[0]?.state, "locked");
  const set = await command.run(["set"], sentinelKey());
  assert.equal(set.code, 1);
  assert.match(set.err, /^error: the keychain is locked\nhint: unlock it/);
});

test("a running daemon is told when a key was set or removed, and not otherwise", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  const directory = join(command.session.env.XDG_RUNTIME_DIR, "tollkeeper");
  mkdirSync(directory, { mode: 0o700 });
  const told: string[] = [];
  const control = await openControlSocket(
    join(directory, "control.sock"),
    controlHandlers({
      reload: () => told.push("reload"),
      "keys-changed": () => told.push("keys-changed"),
    }),
    new MemoryLog(),
  );
  t.after(() => control.close());
  const set = await command.run(["set"], sentinelKey());
  assert.match(set.out, /\nthe running daemon reads it anew\n$/);
  await command.run(["list"]);
  await command.run(["remove"]);
  await command.run(["remove"]);
  assert.deepEqual(told, ["keys-changed", "keys-changed"]);
});

test("a configuration in which a command gives the key is listed with its state", { skip }, async (t) => {
  const key = sentinelKey();
  const command = await prepareKeyCommand(t, CONFIG);
  const file = join(command.session.directory, "key");
  writeFileSync(file, key, { mode: 0o600 });
  const source = { command: ["cat", file] };
  const config = { upstreams: { default: { baseUrl: `${ORIGIN}/v1`, keySource: source } } };
  writeFileSync(join(command.session.directory, "config.jsonc"), JSON.stringify(config));
  const list = await command.run(["list"]);
  assert.match(list.out, /command cat .*stored/);
  assertSilent(list, key);
});
