import { usualConfigFile } from "../../helpers/config/config-file.ts";
import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { managedMachine, MANAGED, noManagedConfig } from "../../helpers/config/managed-config.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const skip = noManagedConfig;

const MANAGED_TEXT = `{
  "locked": ["access", "upstreams.corp", "budgets"],
  "access": "token",
  "upstreams": { "corp": { "baseUrl": "https://gw.example/v1", "key": "corp" } },
  "limits": { "drainMs": 5000 },
  "tools": { "codex": { "budgets": [{ "usd": 5, "per": "day" }] } },
}
`;

const OWN_TEXT = `{
  "access": "open",
  "listen": { "port": 8700 },
  "outbound": { "httpsProxy": "http://ada:secret-word@proxy:1" },
}
`;

/** A machine with both files. `run` runs a command with the user's file, `own` is that file. */
function setUp(
  t: TestContext,
  { managed = MANAGED_TEXT, own = OWN_TEXT }: { managed?: string; own?: string | null } = {},
) {
  const machine = managedMachine(t, managed);
  const home = scratchDirectory(t);
  const file = usualConfigFile(home, "config");
  if (own !== null) writeFileSync(file, own, { mode: 0o600 });
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_RUNTIME_DIR: home,
  };
  const run = (...args: string[]) => machine.command(env, ...args, "--config", file);
  return { ...machine, env, home, own: file, run };
}

test(
  "config explain says where a value comes from, whether it is locked, and what it does",
  { skip },
  async (t) => {
    const { own, run } = setUp(t);
    const { code, stdout } = await run("config", "explain", "access");
    assert.equal(code, 0);
    const description =
      'Which programs on this machine may connect; "open" and "token" are short for {"mode": ...}.';
    assert.deepEqual(stdout.split("\n"), [
      "access",
      '  value     "token"',
      `  from      ${MANAGED}:3; locked`,
      `  not used  "open", from ${own}:2`,
      '  default   "open"',
      `  meaning   ${description}`,
      "",
    ]);
    const ofDefault = await run("config", "explain", "limits.bodyBytes");
    assert.match(ofDefault.stdout, /\n {2}value {5}134217728\n {2}from {6}the default\n/);
  },
);

test(
  "config explain --json has one form for values of either file, of both and of none",
  { skip },
  async (t) => {
    const { own, run } = setUp(t);
    const explain = async (key: string) => {
      const { stdout } = await run("config", "explain", key, "--json");
      const { description, default: _fallback, ...rest } = JSON.parse(stdout) as Record<string, unknown>;
      assert.equal(typeof description, "string");
      return rest;
    };
    assert.deepEqual(await explain("listen.port"), {
      key: "listen.port",
      value: 8700,
      source: "user",
      places: [{ file: own, line: 3 }],
      locked: false,
      overruled: null,
    });
    assert.deepEqual(await explain("upstreams.corp.baseUrl"), {
      key: "upstreams.corp.baseUrl",
      value: "https://gw.example/v1",
      source: "managed",
      places: [{ file: MANAGED, line: 4 }],
      locked: true,
      overruled: null,
    });
    // Below a short form there is nothing to explain but that.
    assert.deepEqual(await explain("access.mode"), {
      key: "access",
      value: "token",
      source: "managed",
      places: [{ file: MANAGED, line: 3 }],
      locked: true,
      overruled: { file: own, line: 2, value: "open" },
    });
    assert.deepEqual((await explain("outbound.httpsProxy"))["value"], "http://[hidden]@proxy:1");
    writeFileSync(own, `{ "limits": { "bodyBytes": 5 } }`);
    const both = await explain("limits");
    assert.deepEqual([both["source"], both["value"]], ["both", { bodyBytes: 5, drainMs: 5000 }]);
  },
);

test(
  "config explain without a name lists what is set with its place, and --json the same",
  { skip },
  async (t) => {
    const { own, run } = setUp(t);
    const { stdout } = await run("config", "explain");
    assert.deepEqual(stdout.trim().split("\n"), [
      `listen.port = 8700 (${own}:3)`,
      `outbound.httpsProxy = "http://[hidden]@proxy:1" (${own}:4)`,
      `access = "token" (${MANAGED}:3, locked, not used: ${own}:2)`,
      `upstreams.corp.baseUrl = "https://gw.example/v1" (${MANAGED}:4, locked)`,
      `upstreams.corp.key = "corp" (${MANAGED}:4, locked)`,
      `limits.drainMs = 5000 (${MANAGED}:5)`,
      `tools.codex.budgets = [{"usd":5,"per":"day"}] (${MANAGED}:6)`,
    ]);
    const json = await run("config", "explain", "--json");
    const { managed, settings } = JSON.parse(json.stdout) as { managed: string; settings: { key: string }[] };
    assert.equal(managed, MANAGED);
    assert.deepEqual(
      settings.map(({ key }) => key),
      stdout
        .trim()
        .split("\n")
        .map((line) => line.split(" ", 1)[0]),
    );
    const unknown = await run("config", "explain", "nope.nope");
    assert.deepEqual([unknown.code, unknown.stdout], [2, ""]);
  },
);

test(
  "config check calls a value that is not used a problem, and shows what is in force",
  { skip },
  async (t) => {
    const { own, run } = setUp(t);
    const { code, stdout } = await run("config", "check");
    const [problem, managed] = stdout.split("\n");
    assert.equal(code, 1);
    assert.equal(problem, `${own}:2: access: is not used: ${MANAGED} locks it; remove it here`);
    assert.equal(
      managed,
      `the managed file ${MANAGED} supplies defaults, and locks access, upstreams.corp, budgets`,
    );
    assert.match(stdout, /upstream corp: https:\/\/gw\.example\/v1/);
    const json = JSON.parse((await run("config", "check", "--json")).stdout) as Record<string, unknown>;
    assert.deepEqual(
      [json["ok"], json["managed"]],
      [false, { path: MANAGED, locked: ["access", "upstreams.corp", "budgets"] }],
    );
    writeFileSync(own, `{ "listen": { "port": 8700 } }`);
    const good = await run("config", "check");
    assert.deepEqual([good.code, good.stdout.split("\n")[0]], [0, `${own} is valid`]);
  },
);

test("config check --config names the managed file alone, for whoever writes it", { skip }, async (t) => {
  const { env, command, write } = setUp(t);
  const check = () => command(env, "config", "check", "--config", MANAGED);
  assert.equal((await check()).code, 0);
  write(`{\n"locked": ["acess"] }`);
  const { code, stdout } = await check();
  assert.equal(code, 1);
  assert.match(stdout, /^\/etc\/tollkeeper\/config\.jsonc:2: locked\[0\]: the configuration has no acess/);
  assert.match(stdout, /; fix: sudo -e \/etc\/tollkeeper\/config\.jsonc\n$/);
});

test(
  "config set, budget set and setup refuse to change what is locked, name the file and write nothing",
  { skip },
  async (t) => {
    const { own, run } = setUp(t);
    for (const [path, command] of [
      ["access", ["config", "set", "access", "open"]],
      ["upstreams.corp", ["config", "set", "upstreams.corp.baseUrl", "https://x.example/v1"]],
      ["upstreams.corp", ["setup", "--base-url", "https://x.example/v1", "--yes"]],
      ["budgets", ["budget", "set", "--all", "--usd", "9", "--per", "day"]],
    ] as const) {
      const { code, stderr } = await run(...command);
      assert.equal(code, 1, command.join(" "));
      assert.match(stderr, new RegExp(`error: nothing was written: ${MANAGED} locks ${path}\n`));
      assert.match(stderr, new RegExp(`hint: .*tollkeeper config explain ${path}\n`));
      assert.equal(readFileSync(own, "utf8"), OWN_TEXT);
    }
    // What the file has already is no reason to refuse other changes.
    assert.equal((await run("config", "set", "listen.port", "8701")).code, 0);
  },
);

test("no command writes the managed file", { skip }, async (t) => {
  const { env, command, file } = setUp(t);
  for (const words of [
    ["config", "set", "listen.port", "1"],
    ["config", "edit"],
  ]) {
    const { code, stderr } = await command({ ...env, EDITOR: "true" }, ...words, "--config", MANAGED);
    assert.equal(code, 1);
    assert.match(stderr, /is the managed file, which tollkeeper never writes\nhint: sudo -e /);
  }
  assert.equal(readFileSync(file, "utf8"), MANAGED_TEXT);
  assert.equal(existsSync(join(file, "..", "config.schema.json")), false);
});

test(
  "budget set adds to the managed budgets of a tool, and budget remove gives the file back",
  { skip },
  async (t) => {
    const { own, run } = setUp(t, { own: "{}" });
    assert.equal((await run("budget", "set", "codex", "--usd", "50", "--per", "month")).code, 0);
    const { tools } = JSON.parse(readFileSync(own, "utf8")) as { tools: { codex: { budgets: unknown } } };
    assert.deepEqual(tools.codex.budgets, [
      { usd: 5, per: "day" },
      { usd: 50, per: "month" },
    ]);
    const removed = await run("budget", "remove", "codex", "--per", "month");
    assert.equal(removed.code, 0, removed.stderr);
    assert.equal(readFileSync(own, "utf8"), "{}");
    const managed = await run("budget", "remove", "codex");
    assert.equal(managed.code, 1);
    assert.match(
      managed.stderr,
      /sets no budget for tool codex\nhint: the managed file sets one, which only the administrator/,
    );
  },
);

test(
  "config get prints the value in force and says that the managed file sets it; config path names both",
  { skip },
  async (t) => {
    const { own, run } = setUp(t);
    const value = await run("config", "get", "access");
    assert.deepEqual(
      [value.stdout, value.stderr],
      ["token\n", `note: the managed file ${MANAGED} sets it\n`],
    );
    const path = await run("config", "path");
    assert.equal(path.stdout, `${own}\n`);
    assert.equal(path.stderr, `note: the managed file ${MANAGED} supplies what this file does not set\n`);
    const json = JSON.parse((await run("config", "path", "--json")).stdout) as object;
    assert.deepEqual(json, { path: own, exists: true, managed: { path: MANAGED, exists: true } });
  },
);

test("config schema has `locked` only with --managed", { skip }, async (t) => {
  const { env, command } = setUp(t);
  const properties = async (...more: string[]) => {
    const { stdout } = await command(env, "config", "schema", ...more);
    return Object.keys((JSON.parse(stdout) as { properties: object }).properties);
  };
  const [own, managed] = [await properties(), await properties("--managed")];
  assert.deepEqual(managed, [...own, "locked"]);
});

test("settings are completed, with the names that either file has", { skip }, async (t) => {
  const { command, env, home } = setUp(t);
  writeFileSync(usualConfigFile(home, "config"), `{ "tools": { "my.tool": {} } }`);
  const complete = async (...words: string[]) =>
    (await command(env, "--complete", "config", ...words)).stdout.trim().split("\n");
  assert.deepEqual(await complete("set", "listen.p"), ["listen.port"]);
  assert.deepEqual(await complete("explain", "upstreams.corp.b"), ["upstreams.corp.baseUrl"]);
  assert.deepEqual(await complete("get", 'tools["my.tool"].g'), ['tools["my.tool"].group']);
});

test(
  "doctor reports a value that is not used, and a managed file that others can write, each with its fix",
  { skip },
  async (t) => {
    const { file, own, run } = setUp(t);
    const findings = async () => {
      const { stdout } = await run("doctor", "--json");
      const { checks } = JSON.parse(stdout) as { checks: { id: string }[] };
      return JSON.stringify(checks.filter(({ id }) => id === "configuration"));
    };
    assert.match(await findings(), new RegExp(`access: is not used: ${MANAGED} locks it.*config edit`));
    writeFileSync(own, "{}");
    assert.match(await findings(), new RegExp(`is valid, above ${MANAGED}: 1 upstream`));
    chmodSync(file, 0o666);
    assert.match(
      await findings(),
      new RegExp(`users other than root can write to ${MANAGED}.*sudo chmod go-w ${MANAGED}`),
    );
  },
);

test("setup keeps a locked upstream and asks for its key only", { skip }, async (t) => {
  const key = writeKeyFile(t, "https://gw.example/v1", "some-key");
  const managed = JSON.stringify({ locked: ["upstreams"], ...key.config });
  const { own, run } = setUp(t, { managed, own: null });
  const { stdout } = await run("setup", "--yes");
  assert.match(stdout, new RegExp(`upstream +https://gw\\.example/v1, in ${MANAGED}`));
  assert.equal(existsSync(own), false);
});
