import { usualConfigFile } from "../../helpers/config/config-file.ts";
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openControlSocket } from "../../../src/adapters/control-socket.ts";
import { controlHandlers } from "../../helpers/daemon/control-handlers.ts";
import { prepareKeyCommand, sentinelKey } from "../../helpers/keychain/key-command.ts";
import type { KeyCommandResult } from "../../helpers/keychain/key-command.ts";
import { noKeyring } from "../../helpers/keychain/keychain-session.ts";
import { MemoryLog } from "../../helpers/gate/memory.ts";
import { sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";

const skip = noKeyring;
const ORIGIN = "https://api.example.com";
const CONFIG = { upstreams: { default: { baseUrl: `${ORIGIN}/v1` } } };

function assertNotPrinted({ out, err }: KeyCommandResult, key: string): void {
  assert.ok(!`${out}${err}`.includes(key), "the key is in the output");
}

async function listed(command: Awaited<ReturnType<typeof prepareKeyCommand>>) {
  const { out } = await command.run(["list", "--json"]);
  return parseJsonOutput(out) as {
    name: string;
    state: string;
    origin: string;
    source: string;
    usedBy: string[];
    upstream: string | null;
  }[];
}

test(
  "key set reads a key from a pipe, key list and key remove find it, and none prints it",
  { skip },
  async (t) => {
    const command = await prepareKeyCommand(t, CONFIG);
    const key = sentinelKey();

    const set = await command.run(["set", "--no-test"], `${key}\n`);
    assert.deepEqual([set.code, set.err], [0, ""]);
    assert.equal(
      set.out,
      `Stored key "default" of upstream default. It is sent only to ${ORIGIN}.\nTo test it, type: tollkeeper key test\n`,
    );
    const list = await command.run(["list"]);
    assert.match(list.out, /default.*https:\/\/api\.example\.com.*keychain.*stored/);
    assert.equal((await listed(command))[0]?.state, "stored");
    for (const result of [set, list, await command.run(["list", "--json"])]) assertNotPrinted(result, key);

    const unasked = await command.run(["remove"]);
    assert.deepEqual([unasked.code, unasked.out], [1, ""]);
    assert.match(
      unasked.err,
      /a removed key cannot be recovered\nhint: .* type: tollkeeper key remove --yes\n$/,
    );
    const removed = await command.run(["remove", "--yes"]);
    assert.deepEqual([removed.code, removed.out], [0, `Removed the key "default" for ${ORIGIN}.\n`]);
    const again = await command.run(["remove", "--yes"]);
    assert.deepEqual(
      [again.code, again.out],
      [0, `There is no key "default" for ${ORIGIN} in the keychain.\n`],
    );
    assert.match((await command.run(["list"])).out, /missing[^]*store it: tollkeeper key set\n/);
  },
);

test(
  "key remove of a key that is not stored says so at once, and which one may be meant",
  { skip },
  async (t) => {
    const command = await prepareKeyCommand(t, CONFIG);
    await command.run(["set", "--no-test", "openai"], sentinelKey());
    for (const yes of [[], ["--yes"]])
      assert.deepEqual(await command.run(["remove", "opnai", ...yes]), {
        code: 0,
        out: `There is no key "opnai" for ${ORIGIN} in the keychain.\n`,
        err: 'If you mean "openai", type: tollkeeper key remove openai\n',
      });
  },
);

test("key set echoes nothing of a key typed at a terminal, not even its length", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  const key = sentinelKey();
  const question = `Paste the key "default" of upstream default; it is sent only to ${ORIGIN}, and is not shown: `;
  // Ctrl-U takes back a line, backspace a character; a pasted key ends with a line break.
  const result = await command.runOnTerminal(
    ["set", "--no-test"],
    [[question, `wrong\u0015${key}x\u007f\n`]],
  );
  assert.equal(result.code, 0);
  assert.ok(
    result.out.startsWith(
      `${question}\r\nStored key "default" of upstream default. It is sent only to ${ORIGIN}.\r\n`,
    ),
  );
  assertNotPrinted(result, key);
  assert.equal((await listed(command))[0]?.state, "stored");
});

test("Ctrl-C at the prompt of key set stores nothing and exits with 130", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  const key = sentinelKey();
  const result = await command.runOnTerminal(["set"], [["not shown: ", `${key}\u0003`]]);
  assert.equal(result.code, 130);
  assertNotPrinted(result, key);
  assert.equal((await listed(command))[0]?.state, "missing");
});

test(
  "key set with a key as argument is wrong usage, and the error does not repeat it",
  { skip },
  async (t) => {
    const command = await prepareKeyCommand(t, CONFIG);
    const key = sentinelKey();
    for (const args of [
      ["set", "default", key],
      ["set", "default", key, key],
    ]) {
      const result = await command.run(args, "sk-other\n");
      assert.equal(result.code, 2);
      assert.match(
        result.err,
        /^error: an argument looks like an API key.*\nhint: the key is now in your shell's history/,
      );
      assertNotPrinted(result, key);
    }
    const asName = await command.run(["set", "--no-test", key], "sk-other\n");
    assert.equal(asName.code, 2);
    assert.match(asName.err, /^error: an argument looks like an API key/);
    assertNotPrinted(asName, key);
    assert.equal((await listed(command))[0]?.state, "missing");
  },
);

test("key set refuses text that is not a key, and the error does not repeat it", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  const key = sentinelKey();
  const blank = await command.run(["set", "--no-test"], "\n");
  assert.equal(blank.code, 1);
  assert.match(blank.err, /^error: no key "\w+" of upstream \w+ was piped in: .*\nhint: see what .*\n$/);
  for (const text of [`Bearer ${key}`, `${key}\n${key}\n`, key.repeat(2000)]) {
    const result = await command.run(["set", "--no-test"], text);
    assert.equal(result.code, 1);
    assert.match(result.err, /^error: .*\nhint: (?:enter only the key|give the key alone), on one line\n$/);
    assertNotPrinted(result, key);
  }
});

test("key set --upstream stores a key for that upstream's origin only", { skip }, async (t) => {
  const other = "https://other.example.com";
  const command = await prepareKeyCommand(t, {
    upstreams: { ...CONFIG.upstreams, other: { baseUrl: `${other}/v1`, key: "second" } },
    tools: { codex: { key: "codex" } },
  });
  const set = await command.run(["set", "--no-test", "--upstream", "other"], sentinelKey());
  assert.match(
    set.out,
    /^Stored key "second" of upstream other\. It is sent only to https:\/\/other\.example\.com\./,
  );
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
  const unknown = await command.run(["set", "--no-test", "--upstream", "none"], sentinelKey());
  assert.deepEqual(
    [unknown.code, unknown.err],
    [
      1,
      'error: no upstream is called "none"\nhint: the upstreams are: default, other\n      to choose one, add: --upstream default\n',
    ],
  );
  assert.match(
    (await command.run(["set", "--no-test", "later"], sentinelKey())).err,
    /^note: the configuration does not name "later" yet/,
  );
});

test(
  "keys with another source than the keychain are listed, but cannot be set or removed",
  { skip },
  async (t) => {
    const file = "/nowhere/key";
    const command = await prepareKeyCommand(t, {
      upstreams: { default: { baseUrl: `${ORIGIN}/v1`, keySource: { file } } },
    });
    for (const verb of ["set", "remove"]) {
      const result = await command.run(verb === "remove" ? [verb, "--yes"] : [verb], sentinelKey());
      assert.equal(result.code, 1);
      assert.match(
        result.err,
        /^error: the keys of upstream default are not in the keychain, but in: file \/nowhere\/key\nhint: /,
      );
    }
    const [key] = await listed(command);
    assert.deepEqual([key?.source, key?.state], [`file ${file}`, "unavailable"]);
  },
);

test("key set without a configured upstream fails with a hint", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, {});
  const set = await command.run(["set", "--no-test"], sentinelKey());
  assert.deepEqual([set.code, set.out], [1, ""]);
  assert.match(set.err, /^error: no upstream is configured[^]*hint: .*tollkeeper setup/);
  assert.equal((await command.run(["list"])).out, "The configuration names no key, and none is stored.\n");
  assert.deepEqual(await listed(command), []);
});

test("key list reports the problems of an invalid configuration", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, { upstreams: { default: { baseUrl: 7 } } });
  const result = await command.run(["list"]);
  assert.equal(result.code, 1);
  assert.match(result.err, /upstreams\.default\.baseUrl/);
});

test("with a locked keychain key list shows the state and key set fails", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  await command.session.lock();
  assert.equal((await listed(command))[0]?.state, "locked");
  const set = await command.run(["set", "--no-test"], sentinelKey());
  assert.equal(set.code, 1);
  assert.match(set.err, /^error: the keychain is locked\nhint: unlock it/);
});

test("a running daemon is notified when a key was set or removed, and not otherwise", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  const directory = join(command.session.env.XDG_RUNTIME_DIR, "tollkeeper");
  mkdirSync(directory, { mode: 0o700 });
  const notified: string[] = [];
  const control = await openControlSocket(
    join(directory, "control.sock"),
    controlHandlers({
      reload: () => notified.push("reload"),
      "keys-changed": () => notified.push("keys-changed"),
    }),
    new MemoryLog(),
  );
  t.after(() => control.close());
  const set = await command.run(["set", "--no-test"], sentinelKey());
  assert.match(set.out, /\nThe running daemon uses it from the next request on\.\n/);
  await command.run(["list"]);
  const removed = await command.run(["remove", "--yes"]);
  assert.match(removed.out, /\nThe running daemon no longer uses it\.\n$/);
  await command.run(["remove", "--yes"]);
  assert.deepEqual(notified, ["keys-changed", "keys-changed"]);
});

test("key list shows the state of a key that a command prints", { skip }, async (t) => {
  const key = sentinelKey();
  const command = await prepareKeyCommand(t, CONFIG);
  const file = join(command.session.directory, "key");
  writeFileSync(file, key, { mode: 0o600 });
  const source = { command: ["cat", file] };
  const config = { upstreams: { default: { baseUrl: `${ORIGIN}/v1`, keySource: source } } };
  writeFileSync(usualConfigFile(command.session.directory), JSON.stringify(config));
  const list = await command.run(["list"]);
  assert.match(list.out, /command cat .*stored/);
  assertNotPrinted(list, key);
});

test(
  "key set replaces a stored key only with --replace or after asking, and says which one it is",
  { skip },
  async (t) => {
    const command = await prepareKeyCommand(t, {
      upstreams: { ...CONFIG.upstreams, other: { baseUrl: "https://other.example.com/v1" } },
    });
    const [first, second] = [sentinelKey(), sentinelKey()];
    for (const upstream of [[], ["--upstream", "other"]])
      await command.run(["set", "--no-test", ...upstream], first);
    const refused = await command.run(["set", "--no-test", "--upstream", "other"], second);
    assert.deepEqual(refused, {
      code: 1,
      out: "",
      err: 'error: key "default" for https://other.example.com is already stored\nhint: to replace it, type: tollkeeper key set --upstream other --replace\n',
    });
    assert.deepEqual((await command.run(["set", "--no-test", "--replace"], second)).code, 0);
    const kept = await command.runOnTerminal(["set"], [["Replace it? [y/N] ", "n\n"]]);
    assert.deepEqual([kept.code, kept.out.endsWith("Nothing was changed.\r\n")], [0, true]);
    const replaced = await command.runOnTerminal(
      ["set", "--no-test"],
      [
        ["Replace it? [y/N] ", "y\n"],
        ["is not shown: ", `${first}\n`],
      ],
    );
    assert.equal(replaced.code, 0);
    assert.match(replaced.out, /Stored key "default"/);
    assertNotPrinted(replaced, first);
  },
);

test("key set refuses what is plainly no key, unless it is forced", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  for (const [text, reason, fix] of [
    [`"${sentinelKey()}"`, "it has quotes around it", "enter it without them"],
    ["tk-claude-code", "it is a placeholder", "copy the key from the service's site"],
    ["YOUR_API_KEY", "it is a placeholder", "copy the key from the service's site"],
    ["abc", "it is only 3 characters long", "copy all of the key"],
    [`OPENAI_API_KEY=${sentinelKey()}`, "it has a name in front", "enter only what is behind the name"],
    [`x-api-key:${sentinelKey()}`, "it has a name in front", "enter only what is behind the name"],
    ["$OPENAI_API_KEY", "it only names the place of a key", "enter the key itself"],
    ["~/.keys/example", "it only names the place of a key", "enter the key itself"],
    ["https://api.example.com/v1", "it only names the place of a key", "enter the key itself"],
    ["sk-ant-oat01-abcdefgh", "it is Claude Code's login, not a key", "make a key on the service's site"],
  ] as const) {
    const { code, err } = await command.run(["set", "--no-test"], `${text}\n`);
    assert.deepEqual(
      [code, err],
      [
        1,
        `error: this does not look like an API key: ${reason}\nhint: ${fix}\n      to store it as it is, add: --force\n`,
      ],
    );
  }
  assert.equal((await listed(command))[0]?.state, "missing");
  assert.equal((await command.run(["set", "--no-test", "--force"], "abc\n")).code, 0);
});

test(
  "key set stores no key that the upstream refuses, neither over a working one nor alone, and says so",
  { skip },
  async (t) => {
    const key = sentinelKey();
    const upstream = await startUpstream(t, ({ headers }, res) =>
      headers.authorization === `Bearer ${key}`
        ? sendJson(res, { data: [{ id: "a" }] })
        : sendJson(res, { error: { message: "no such key" } }, 401),
    );
    const command = await prepareKeyCommand(t, { upstreams: { default: { baseUrl: upstream.baseUrl } } });
    const wrong = sentinelKey();
    const refused = await command.run(["set"], wrong);
    assert.deepEqual([refused.code, refused.out], [1, ""]);
    assert.match(
      refused.err,
      /^error: the key was rejected: .* responded with 401: no such key; nothing was stored\nhint: use a key that this service has issued\n {6}to store this one untested, add: --no-test\n$/,
    );
    assertNotPrinted(refused, wrong);
    assert.equal((await listed(command))[0]?.state, "missing");
    const accepted = await command.run(["set"], key);
    assert.deepEqual([accepted.code, accepted.err], [0, ""]);
    assert.match(accepted.out, /^http:.* accepts the key and lists 1 model\.\nStored key "default"/);
    assert.equal((await command.run(["set", "--replace"], wrong)).code, 1);
    assert.match((await command.run(["test"])).out, /accepts the key "default"/);
    const forced = await command.run(["set", "--replace", "--no-test"], wrong);
    assert.equal(forced.code, 0);
    assert.match(forced.out, /\nTo test it, type: tollkeeper key test\n$/);
    assert.equal((await command.run(["test"])).code, 1);
  },
);

test("key set stores a key that cannot be tested now, and says so", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, {
    upstreams: { default: { baseUrl: "http://127.0.0.1:9/v1" } },
  });
  const set = await command.run(["set"], sentinelKey());
  assert.equal(set.code, 0);
  assert.match(set.err, /^warning: the key is stored untested: cannot connect to http:\/\/127\.0\.0\.1:9: /);
  assert.match(set.out, /^Stored key "default"[^]*\nTo test it, type: tollkeeper key test\n$/);
  assert.equal((await listed(command))[0]?.state, "stored");
});

test("key list shows stored keys that the configuration does not name", { skip }, async (t) => {
  const command = await prepareKeyCommand(t, CONFIG);
  await command.run(["set", "--no-test", "forgotten"], sentinelKey());
  const keys = (await listed(command)).map(({ name, origin, state, upstream }) => [
    name,
    origin,
    state,
    upstream,
  ]);
  assert.deepEqual(keys, [
    ["default", ORIGIN, "missing", "default"],
    ["forgotten", ORIGIN, "stored", null],
  ]);
  assert.match(
    (await command.run(["list"])).out,
    /^forgotten +none [^]*the configuration does not name it\.\n$/m,
  );
});

test("key test --json prints the verdict, and fails unless the key is accepted", { skip }, async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { data: [{ id: "a" }] }));
  const command = await prepareKeyCommand(t, { upstreams: { default: { baseUrl: upstream.baseUrl } } });
  const verdict = async () => {
    const { code, out } = await command.run(["test", "--json"]);
    const {
      verdict: word,
      models,
      hint,
    } = JSON.parse(out) as { verdict: string; models: number | null; hint: string | null };
    return [code, word, models, hint];
  };
  const [code, word, , hint] = await verdict();
  assert.deepEqual([code, word], [1, "no_key"]);
  assert.match(String(hint), /tollkeeper key set/);
  await command.run(["set", "--no-test"], sentinelKey());
  assert.deepEqual(await verdict(), [0, "accepted", 1, null]);
  upstream.respondWith((_seen, res) => sendJson(res, { error: { message: "no" } }, 401));
  assert.deepEqual((await verdict()).slice(0, 3), [1, "refused", null]);
});
