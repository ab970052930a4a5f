import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { noKeyring, startUnlockedSession } from "../../helpers/keychain/keychain-session.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { homeOfDaemon, homeWithSystemd } from "../service/service-home.ts";
import { prepareSetup, setupWith, writeConfiguration } from "./setup-home.ts";

const skip = noKeyring;

/** Two texts that differ in their layout alone have the same words. */
const words = (written: string) => written.split(/\s+/).join(" ");

test(
  "setup without a terminal and without answers names every option that is missing",
  { skip },
  async (t) => {
    const { run, exists } = await prepareSetup(t);
    const cases: [args: string[], message: string][] = [
      [
        [],
        "setup asks questions, but there is no terminal to ask on; missing: --base-url URL, --key-stdin, --yes",
      ],
      [["--yes"], "with --yes, setup asks nothing; missing: --base-url URL, --key-stdin"],
      [
        ["--base-url", "https://api.example.com/v1"],
        "setup asks questions, but there is no terminal to ask on; missing: --yes",
      ],
      [
        ["--base-url", "https://api.example.com/v1", "--yes"],
        "https://api.example.com needs a key, and --yes asks nothing; missing: --key-stdin",
      ],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await run(["setup", ...args]);
      assert.equal(code, 2);
      assert.equal(stderr.split("\n")[0], `error: ${message}`);
      assert.match(stderr, /^hint: for example: pass show api-key \| tollkeeper setup --base-url .* --yes$/m);
    }
    const noPath = await run(["setup", "--yes", "--base-url", "https://api.example.com"]);
    assert.equal(noPath.code, 2);
    assert.match(
      noPath.stderr,
      /^error: --base-url has no path; did you mean "https:\/\/api\.example\.com\/v1"\?/,
    );
    assert.ok(!exists(".config/tollkeeper"));
  },
);

test(
  "setup stores a tested key, writes a configuration with comments and connects the tools",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { run, upstream, key, configFile, read } = machine;
    const args = setupWith(upstream.baseUrl, "--connect", "all");
    const first = await run(args, `${key}\n`);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /accepts the key and lists 2 models\.\n/);
    assert.match(
      first.stdout,
      new RegExp(
        `\nSet up:\n {2}upstream .*${upstream.baseUrl}, in ~/\\.config/tollkeeper/config\\.jsonc\n {2}key .*"default" for ${upstream.origin} \\(keychain\\)\n {2}service .*none: .*tollkeeper serve.*\n {2}tool .*Claude Code: connected.*\n {2}tool .*Codex: connected.*\n`,
      ),
    );
    assert.match(first.stdout, /\nWhat to type next:\n {2}tollkeeper serve /);
    assert.deepEqual(await machine.storedKeys(), [`default@${upstream.origin}`]);
    const text = readFileSync(configFile, "utf8");
    assert.match(text, /^ {2}\/\/ Written by "tollkeeper setup"\./m);
    assert.match(text, new RegExp(`"default": \\{\n\\s+"baseUrl": "${upstream.baseUrl}"\n`));
    assert.equal((await run(["config", "check"])).code, 0);
    const settings = read(".claude/settings.json");
    assert.match(settings, /127\.0\.0\.1:8655\/t\/claude-code/);

    const again = await run(args, key);
    assert.deepEqual(
      [again.code, readFileSync(configFile, "utf8"), read(".claude/settings.json")],
      [0, text, settings],
    );
    assert.match(again.stdout, /Claude Code is already connected/);
    // With what is there, nothing need be said again.
    const rest = await run(["setup", "--yes"]);
    assert.deepEqual([rest.code, readFileSync(configFile, "utf8")], [0, text]);
    assert.match(rest.stdout, /accepts the key[^]*tools +unchanged/);
  },
);

test(
  "setup installs the service, and the next request goes to the upstream with the key",
  { skip },
  async (t) => {
    const session = await startUnlockedSession(t);
    const key = sentinelKey();
    const upstream = await startUpstream(t, ({ headers }, res) =>
      headers.authorization === `Bearer ${key}` || headers["x-api-key"] === key
        ? sendJson(res, { data: [{ id: "a" }] })
        : sendJson(res, {}, 401),
    );
    const daemon = await startDaemon(t, { port: await freePort(), env: session.busEnv });
    const { env } = homeOfDaemon(t, daemon);
    const args = setupWith(upstream.baseUrl, "--service", "--config", daemon.configFile);
    const { code, stdout, stderr } = await runProgram(args, {
      env: { ...env, ...session.busEnv },
      input: key,
    });
    assert.equal(code, 0, stderr);
    assert.ok(!(stdout + stderr).includes(key));
    assert.match(
      stdout,
      /\n {2}service +running; starts at login; see its log with: tollkeeper service logs\n/,
    );
    assert.doesNotMatch(stdout, /tollkeeper serve /);
    await waitUntil("the new upstream", async () => {
      const { upstreams } = await daemon.status();
      return upstreams.find(({ baseUrl }) => baseUrl === upstream.baseUrl) ?? null;
    });
    const response = await fetch(`${daemon.url}/v1/models`);
    assert.deepEqual(await response.json(), { data: [{ id: "a" }] });
    const again = await runProgram(["setup", "--yes", "--config", daemon.configFile], {
      env: { ...env, ...session.busEnv },
    });
    assert.match(again.stdout, /\n {2}service +already running; starts at login\n/);
  },
);

test(
  "what the upstream says of a key decides whether it is stored, and nothing is changed otherwise",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { run, upstream, key, exists } = machine;
    const html = await startUpstream(t, (_seen, res) =>
      res.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    );
    const cases: [baseUrl: string, input: string, message: RegExp, hint: RegExp][] = [
      [
        upstream.baseUrl,
        "sk-some-other-key",
        /the key was rejected: .* responded with 401: no such key; nothing was changed/,
        /use a key that/,
      ],
      [
        `${html.origin}/app`,
        key,
        /the key could not be verified: .* a web page \(200\).*; nothing was changed/,
        new RegExp(`probably ${html.origin}/v1\n {6}to store the key untested, add: --force`),
      ],
      [
        "http://127.0.0.1:9/v1",
        key,
        /cannot connect to http:\/\/127\.0\.0\.1:9: .*; nothing was changed/,
        /add: --force/,
      ],
      [
        upstream.baseUrl,
        `"${key}"`,
        /does not look like an API key: it has quotes around it/,
        /add: --force/,
      ],
      [upstream.baseUrl, "", /standard input is empty/, /see what the part before the \| prints/],
    ];
    for (const [baseUrl, input, message, hint] of cases) {
      const { code, stderr } = await run(setupWith(baseUrl), input);
      const [error = "", ...advice] = stderr.split("\n");
      assert.equal(code, 1, stderr);
      assert.match(error, message);
      assert.match(advice.join("\n"), hint);
      assert.ok(!exists(".config/tollkeeper/config.jsonc"));
      assert.deepEqual(await machine.storedKeys(), []);
    }
    const forced = await run(setupWith("http://127.0.0.1:9/v1", "--force"), key);
    assert.equal(forced.code, 0);
    assert.match(forced.stderr, /^warning: cannot connect to /m);
    assert.deepEqual(await machine.storedKeys(), ["default@http://127.0.0.1:9"]);
  },
);

test(
  "a stored key that works is replaced only with --replace, and one that is refused by any that is not",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { run, upstream, key } = machine;
    const args = setupWith(upstream.baseUrl);
    await machine.session.storeKey("sk-revoked-key", upstream.origin);
    assert.equal((await run(args, key)).code, 0);
    const other = await run(args, "sk-another-key");
    assert.equal(other.code, 1);
    assert.match(
      other.stderr,
      /^error: another key "default" for .* is stored, .*; the one on standard input was not tested\nhint: to test that one and replace the other, add: --replace\n/m,
    );
    assert.match(other.stdout, /accepts the key that is stored and lists /);
    const refused = await run([...args, "--replace"], "sk-another-key");
    assert.match(refused.stderr, /the key was rejected: /);
    upstream.respondWith(({ headers }, res) =>
      sendJson(res, { data: [] }, headers.authorization === "Bearer sk-another-key" ? 200 : 401),
    );
    assert.equal((await run([...args, "--replace"], "sk-another-key")).code, 0);
    assert.equal((await run(["key", "test"])).code, 0);
  },
);

test("a list of models that anyone gets is not taken for the acceptance of a key", { skip }, async (t) => {
  const { run, key } = await prepareSetup(t);
  const open = await startUpstream(t, (_seen, res) => sendJson(res, { data: [] }));
  const { code, stdout, stderr } = await run(setupWith(open.baseUrl), key);
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /accepts/);
  assert.match(stderr, /^note: this list is public, so it does not prove the key/m);
});

test("a server on this machine that wants no key gets none", { skip }, async (t) => {
  const { run, configFile, storedKeys } = await prepareSetup(t);
  const local = await startUpstream(t, (_seen, res) => sendJson(res, { data: [{ id: "a" }] }));
  const { code, stdout } = await run(["setup", "--base-url", local.baseUrl, "--yes"]);
  assert.equal(code, 0);
  assert.match(stdout, /responds without a key and lists 1 model\.\n/);
  assert.match(readFileSync(configFile, "utf8"), /"auth": "none"/);
  assert.deepEqual(
    local.seen.flatMap(({ headers }) => [headers.authorization, headers["x-api-key"]]).filter(Boolean),
    [],
  );
  assert.deepEqual(await storedKeys(), []);
  const set = await run(["key", "set"], "sk-some-key");
  assert.match(set.stderr, /^error: upstream default takes no key \("auth": "none"\)\nhint: .*config edit/);
  assert.match((await run(["key", "test"])).stdout, /responds without a key and lists 1 model/);
  assert.match((await run(["config", "check"])).stdout, /upstream default: .*, no key$/m);
  local.respondWith((_seen, res) => sendJson(res, { error: { message: "who are you?" } }, 401));
  const refused = await run(["setup", "--yes"]);
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr,
    new RegExp(`error: ${local.origin} needs a key; missing: --base-url ${local.baseUrl}, --key-stdin\n`),
  );
  const named = await run(["setup", "--yes", "--base-url", local.baseUrl]);
  assert.equal(
    named.stderr,
    `error: ${local.origin} needs a key; missing: --key-stdin\nhint: for example: pass show api-key | tollkeeper setup --base-url ${local.baseUrl} --key-stdin --service --connect all --yes\n`,
  );
  local.respondWith(({ headers }, res) =>
    sendJson(res, { data: [] }, headers.authorization === "Bearer sk-some-key" ? 200 : 401),
  );
  const keyed = await run(["setup", "--yes", "--key-stdin"], "sk-some-key");
  assert.equal(keyed.code, 0, keyed.stderr);
  assert.deepEqual(await storedKeys(), [`default@${local.origin}`]);
});

test(
  "an existing configuration is changed in place, and its key source goes with the service before",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { run, configFile, upstream, key, home } = machine;
    const file = join(home, "key");
    writeFileSync(file, key, { mode: 0o600 });
    const text = `{
  // mine
  "listen": { "port": 4711 }, // my port
  "upstreams": {
    "default": { "baseUrl": "${upstream.baseUrl}", "keySource": { "file": "${file}" } }, // the old one
    "other": { "baseUrl": "https://other.example.com/v1" }
  }
}
`;
    writeConfiguration(machine, text);
    const kept = await run(["setup", "--yes"]);
    assert.equal(kept.code, 0, kept.stderr);
    assert.deepEqual([readFileSync(configFile, "utf8"), await machine.storedKeys()], [text, []]);
    assert.match(kept.stdout, new RegExp(`key +"default" for .* \\(file ${file}\\)`));
    const given = await run(["setup", "--key-stdin", "--yes"], key);
    assert.equal(given.code, 1);
    assert.match(given.stderr, /^error: the keys of upstream default are not in the keychain, but in: file /);
    const moved = await run(setupWith(`${upstream.origin}/v2`), key);
    assert.equal(moved.code, 0, moved.stderr);
    const expected = text.replace(
      `"${upstream.baseUrl}", "keySource": { "file": "${file}" }`,
      `"${upstream.origin}/v2"`,
    );
    assert.equal(words(readFileSync(configFile, "utf8")), words(expected));
    writeFileSync(configFile, "{", { mode: 0o600 });
    const broken = await run(["setup", "--yes", "--base-url", upstream.baseUrl]);
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /^error: the configuration is not usable[^]*hint: correct it with: /);
  },
);

test(
  "a keychain that cannot be used is an error before the key is asked for, and nothing is changed",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { run, upstream, key, exists } = machine;
    const args = setupWith(upstream.baseUrl);
    await machine.session.storeKey(key, upstream.origin);
    await machine.session.lock();
    const locked = await run(args, key);
    assert.equal(locked.code, 1);
    assert.match(locked.stderr, /^error: the keychain is locked\nhint: unlock it/);
    const withoutBus = await prepareSetup(t, { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" });
    const none = await withoutBus.run(args, withoutBus.key);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /^error: no D-Bus session responds.*\nhint: [^]*keySource/);
    assert.ok(!exists(".config/tollkeeper") && !withoutBus.exists(".config/tollkeeper"));
  },
);

test(
  "a service that cannot be had is an error with its command, and no tool is pointed at a port on which nothing listens",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { run, upstream, key, exists } = machine;
    const args = setupWith(upstream.baseUrl, "--service", "--connect", "all");
    const { code, stdout, stderr } = await run(args, key);
    assert.equal(code, 1);
    assert.match(stderr, /^error: systemd is not running .*\nhint: .*tollkeeper serve/m);
    assert.match(
      stdout,
      /service +failed.*tollkeeper service install\n +tools +not connected, because .*tollkeeper connect --all\n/,
    );
    assert.deepEqual(
      [await machine.storedKeys(), exists(".claude/settings.json")],
      [[`default@${upstream.origin}`], false],
    );
    const unknown = await run(["setup", "--yes", "--connect", "clude-code"]);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /did you mean "claude-code"\?/);
  },
);

test(
  "with its port taken by another program the service is not installed, and no tool is connected",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { upstream, key, session, home, exists } = machine;
    const stranger = createServer().listen(0, "127.0.0.1");
    t.after(() => stranger.close());
    await once(stranger, "listening");
    const { port } = stranger.address() as AddressInfo;
    writeConfiguration(machine, JSON.stringify({ listen: { port } }));
    const { env } = homeWithSystemd(t, {}, home);
    const target = ["--config", machine.configFile];
    const args = setupWith(upstream.baseUrl, ...target, "--service", "--connect", "all");
    const { code, stdout, stderr } = await runProgram(args, {
      env: { ...env, ...session.busEnv },
      input: key,
    });
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(
        `^error: tollkeeper is not running, and its port ${port} is taken by .*\nhint: stop it with: kill \\d+\n`,
        "m",
      ),
    );
    assert.match(stdout, /tools +not connected, because the service failed/);
    assert.ok(!exists(".claude/settings.json"));
    assert.deepEqual(await machine.storedKeys(), [`default@${upstream.origin}`]);
  },
);

test("a stored key stays when the upstream cannot be asked", { skip }, async (t) => {
  const machine = await prepareSetup(t);
  writeConfiguration(machine, '{ "upstreams": { "default": { "baseUrl": "http://127.0.0.1:9/v1" } } }');
  await machine.session.storeKey(machine.key, "http://127.0.0.1:9");
  const { code, stderr } = await machine.run(["setup", "--yes"]);
  assert.equal(code, 0);
  assert.match(stderr, /^warning: cannot connect to http:\/\/127\.0\.0\.1:9: /);
  assert.deepEqual(await machine.storedKeys(), ["default@http://127.0.0.1:9"]);
});

test(
  "setup leaves a configuration with several upstreams to its owner, and sets up the only one whatever it is called",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { run, upstream, key, read } = machine;
    const other = { baseUrl: "https://api.example.com/v1" };
    writeConfiguration(machine, JSON.stringify({ upstreams: { one: other, two: other } }));
    const several = await run(setupWith(upstream.baseUrl), key);
    assert.equal(several.code, 1);
    assert.match(
      several.stderr,
      /^error: the configuration has several upstreams.*\nhint: .*config edit\n.*key set --upstream NAME\n/,
    );
    writeConfiguration(machine, JSON.stringify({ upstreams: { work: other } }));
    const only = await run(setupWith(upstream.baseUrl), key);
    assert.equal(only.code, 0, only.stderr);
    assert.match(
      read(".config/tollkeeper/config.jsonc"),
      new RegExp(`"work":\\s*{\\s*"baseUrl":\\s*"${upstream.baseUrl}"`),
    );
  },
);

test("without a keychain, the commands that setup names to use a key file can be typed as they are", async (t) => {
  const key = sentinelKey();
  const upstream = await startUpstream(t, ({ headers }, res) =>
    sendJson(res, { data: [] }, headers.authorization === `Bearer ${key}` ? 200 : 401),
  );
  const { home, env: usual } = homeWithSystemd(t);
  const env = { ...usual, DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" };
  const { code, stderr } = await runProgram(setupWith(upstream.baseUrl), { env, input: key });
  assert.equal(code, 1);
  const commands = [...stderr.matchAll(/tollkeeper (config set \S+) (?:'([^']+)'|(\S+))/g)].map(
    ([, start = "", quoted, plain = ""]) => [...start.split(" "), quoted ?? plain],
  );
  assert.deepEqual(
    commands.map(([, , path]) => path),
    ["upstreams.default.baseUrl", "upstreams.default.keySource"],
    stderr,
  );
  writeFileSync(join(home, "key"), key, { mode: 0o600 });
  for (const line of commands) assert.equal((await runProgram(line, { env })).code, 0);
  assert.equal((await runProgram(["key", "test"], { env })).code, 0);
});
