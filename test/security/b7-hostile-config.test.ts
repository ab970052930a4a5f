// B7, invalid, hostile or half-written configuration: it is parsed as a whole into new objects, unknown keys and prototype keys are
// refused at every level, the last valid configuration stays in force and the invalid one is reported.
import assert from "node:assert/strict";
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readConfigFile } from "../../src/adapters/config-file.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

/** A valid configuration for every kind of object in it. HERE marks where a key is inserted. */
const LEVELS = {
  "the file": `{ HERE "upstreams": {} }`,
  listen: `{ "listen": { HERE "port": 1 } }`,
  upstreams: `{ "upstreams": { HERE "default": { "baseUrl": "https://a.example/v1" } } }`,
  "an upstream": `{ "upstreams": { "default": { HERE "baseUrl": "https://a.example/v1" } } }`,
  "a key source": `{ "upstreams": { "default": { "baseUrl": "https://a.example/v1", "keySource": { HERE "file": "/k" } } } }`,
  "a route": `{ "upstreams": { "default": { "baseUrl": "https://a.example/v1", "routes": [{ HERE "method": "GET", "path": "/x", "auth": "bearer", "dialect": "none" }] } } }`,
  tools: `{ "tools": { HERE "codex": {} } }`,
  "a tool": `{ "tools": { "codex": { HERE "key": "default" } } }`,
  ledger: `{ "ledger": { HERE "retainDays": 400 } }`,
  abort: `{ "abort": { HERE "graceMs": 1 } }`,
  limits: `{ "limits": { HERE "drainMs": 1 } }`,
};

const POLLUTION = `{ "polluted": true, "baseUrl": "https://evil.example/v1", "allowedHosts": ["evil.example"] }`;

const FORBIDDEN = ["__proto__", "constructor", "prototype", "__pr\\u006fto__"];

function assertUnpolluted(what: string): void {
  const names = ["polluted", "baseUrl", "allowedHosts"];
  const fresh: object[] = [{}, [], () => {}, new Map()];
  for (const value of fresh) {
    assert.deepEqual(
      names.filter((name) => name in value),
      [],
      what,
    );
  }
}

for (const [level, pattern] of Object.entries(LEVELS)) {
  test(`prototype keys and unknown keys are refused in ${level}`, async (t) => {
    const path = join(scratchDirectory(t), "config.jsonc");
    const read = async (text: string) => {
      writeFileSync(path, text, { mode: 0o600 });
      return readConfigFile(path);
    };
    // Without the keys the configuration is valid, so the keys are the reason.
    assert.equal((await read(pattern.replace("HERE", ""))).ok, true);
    for (const name of FORBIDDEN) {
      const verdict = await read(pattern.replace("HERE", `"${name}": ${POLLUTION},`));
      assert.ok(!verdict.ok, name);
      const messages = verdict.problems.map(({ message }) => message);
      assert.ok(messages.includes("this key is not allowed anywhere"), `${name}: ${messages.join("; ")}`);
      assertUnpolluted(`${name} in ${level}`);
    }
    const unknown = await read(pattern.replace("HERE", `"polluted": true,`));
    assert.equal(unknown.ok, false);
  });
}

/** Files that are hostile, wrong or half-written, each with the problem that must be reported. */
function invalidTexts(good: string): [text: string, problem: RegExp][] {
  return [
    [good.slice(0, good.length / 2), /is missing|not closed/],
    ["", /the file is empty/],
    [good.replace("{", `{ "__proto__": ${POLLUTION},`), /__proto__: this key is not allowed/],
    [good.replace("{", `{ "upstream": {},`), /unknown key/],
  ];
}

test("a daemon keeps its last valid configuration, reports what is wrong with the file, and loads the next valid one", async (t) => {
  const [upstream, other] = await Promise.all([
    startUpstream(t, respondWithEmptyJson),
    startUpstream(t, respondWithEmptyJson),
  ]);
  const { config } = writeKeyFile(t, upstream.baseUrl, "a-key");
  const daemon = await startDaemon(t, { config });
  const good = JSON.stringify({ listen: { port: daemon.port }, ...config });
  let refusals = 0;
  for (const [text, problem] of invalidTexts(good)) {
    writeFileSync(daemon.configFile, text);
    refusals += 1;
    await daemon.waitForOutput(new RegExp(`(?:cannot be applied; still using the old one[^]*){${refusals}}`));
    assert.match(daemon.stderr().split("cannot be applied").at(-1) ?? "", problem, text);
    assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  }
  assert.equal((await daemon.status()).config.problems.length, 1);
  rmSync(daemon.configFile);
  await daemon.waitForOutput(/the file no longer exists; the last valid configuration stays in force/);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.deepEqual([upstream.seen.length, other.seen.length], [refusals + 1, 0]);

  writeFileSync(daemon.configFile, good.replace(upstream.origin, other.origin));
  await daemon.waitForOutput(/"msg":"the new configuration is in force"/);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.deepEqual([upstream.seen.length, other.seen.length], [refusals + 1, 1]);
});

test("a daemon serves on while its configuration is full of faults or 300 MB long, and lists no more than fifty problems", async (t) => {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  const { config } = writeKeyFile(t, upstream.baseUrl, "a-key");
  const daemon = await startDaemon(t, { config });
  const good = readFileSync(daemon.configFile, "utf8");
  const flood = `{${Array.from({ length: 10_000 }, (_, i) => `"key${i}": 1`).join()}}`;
  writeFileSync(daemon.configFile, flood);
  await daemon.waitForOutput(/cannot be applied; still using the old one: .*unknown key \\"key0/);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  const { problems } = (await daemon.status()).config;
  assert.equal(problems.length, 51);
  assert.match(problems[50]?.message ?? "", /^there are more problems/);
  truncateSync(daemon.configFile, 300e6);
  await daemon.waitForOutput(/cannot be applied; still using the old one: .*larger than 1 MiB/);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  writeFileSync(daemon.configFile, good);
  await daemon.waitForOutput(/"msg":"the configuration file is valid again"/);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
});

test("a daemon does not start with a hostile configuration", async (t) => {
  const config = `{ "listen": { "port": 0 }, "tools": { "__proto__": ${POLLUTION} } }`;
  await assert.rejects(
    startDaemon(t, { config }),
    /error: the configuration is not usable[^]*__proto__: this key is not/,
  );
});
