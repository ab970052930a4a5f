import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";

/** A key of another form, which only its place gives away. */
const OTHER_KEY = "AIzaSyA1234567890abcdefghijklmnopqrstuvw";

const KEY = sentinelKey();

for (const args of [
  ["config", "set", "upstreams.default.key", KEY],
  ["config", "set", "upstreams.default.key", OTHER_KEY],
  ["config", "set", "upstreams.default.baseUrl", OTHER_KEY],
  ["config", "unset", KEY],
  ["setup", "--key", KEY],
  ["setup", `--key=${OTHER_KEY}`],
  ["setup", "--base-url", KEY, "--yes"],
  ["key", "set", KEY],
  ["key", "list", KEY],
  ["budget", "set", "codex", "--usd", KEY, "--per", "day"],
  ["alias", "set", "a", KEY],
  ["alias", "set", "a", OTHER_KEY],
  ["group", "set", "small", "--key", OTHER_KEY],
  ["token", "add", "codex", "--note", `the key is ${KEY}`],
  ["connect", "codex", `OPENAI_API_KEY=${KEY}`],
  ["usage", "--tool", KEY],
])
  test(`a key as argument of "${args.join(" ").replace(KEY, "KEY").replace(OTHER_KEY, "KEY")}" is refused, not repeated, and to be revoked`, async (t) => {
    const home = prepareHome(t, { config: {} });
    const before = readFileSync(home.configFile, "utf8");
    const { code, stdout, stderr } = await home.command(...args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(
      stderr,
      /^error: an argument looks like an API key, and every program on this machine can read arguments\nhint: the key is now in your shell's history: revoke it/,
    );
    assert.ok(!stderr.includes(KEY) && !stderr.includes(OTHER_KEY));
    assert.equal(readFileSync(home.configFile, "utf8"), before);
  });

test("what only looks a little like a key is no key: long ids, long names of models, and another program's arguments", async (t) => {
  const home = prepareHome(t, { config: {} });
  const alias = await home.command("alias", "set", "a", "anthropic.claude-sonnet-4-20250514-v1:0");
  assert.equal(alias.code, 0, alias.stderr);
  const route = await home.command("route", "--explain", "0f8fad5b-d9cb-469f-a165-70867728950e");
  assert.doesNotMatch(route.stderr, /looks like an API key/);
  const echo = await home.command("run", "--tool", "nightly", "--", "true", KEY);
  assert.doesNotMatch(echo.stderr, /looks like an API key/);
});
