// B6, a repointed key: a stored key belongs to one upstream origin, so that a configuration that is edited to another origin finds no
// key and sends none. No configuration is read from the working directory.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post, startGate, TEST_KEY, upstreamAt } from "../helpers/gate/gate.ts";
import { writeKeyToEachSource } from "../helpers/keychain/key-file.ts";
import { noKeyring, startUnlockedSession } from "../helpers/keychain/keychain-session.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { PROGRAM } from "../helpers/daemon/program.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

const IN_FORCE = /"msg":"the new configuration is in force"/;

test("a configuration with another origin finds no key for it, even while the old key is in memory", async (t) => {
  const first = await startUpstream(t, respondWithEmptyJson);
  const second = await startUpstream(t, respondWithEmptyJson);
  const gate = await startGate(t, first.baseUrl);
  assert.equal((await post(gate, "/v1/responses", {})).status, 200);
  const { port } = new URL(second.origin);
  // Another port is another origin, and so is another name of the same address.
  for (const baseUrl of [
    second.baseUrl,
    `http://localhost:${port}/v1`,
    first.baseUrl.replace("http:", "https:"),
  ]) {
    const moved = { ...gate.gate.settings.config, upstreams: { default: upstreamAt(baseUrl) } };
    gate.gate.use(prepareSettings(moved));
    const res = await post(gate, "/v1/responses", {});
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [400, "key_missing"], baseUrl);
    assert.match(await res.text(), /Type: tollkeeper key set/);
  }
  assert.deepEqual([second.seen.length, second.sockets.size, first.seen.length], [0, 0, 1]);
});

test("a client cannot choose another upstream, origin or key than the configuration gives its tool", async (t) => {
  const [first, second] = await Promise.all([
    startUpstream(t, respondWithEmptyJson),
    startUpstream(t, respondWithEmptyJson),
  ]);
  const gate = await startGate(t, first.baseUrl, {
    config: {
      upstreams: {
        default: upstreamAt(first.baseUrl),
        other: { ...upstreamAt(second.baseUrl), name: "other" },
      },
    },
  });
  const marks = {
    "x-tollkeeper-tool": "other",
    "x-tollkeeper-upstream": "other",
    "x-upstream": second.baseUrl,
  };
  for (const tool of ["other", "constructor", "default", "toString"]) {
    assert.equal((await post(gate, `/t/${tool}/v1/responses`, {}, marks)).status, 200);
  }
  assert.deepEqual([first.seen.length, second.sockets.size], [4, 0]);
});

const upstreamsAt = (baseUrl: string) => ({ upstreams: { default: { baseUrl } } });

test(
  "an edited configuration does not send a keychain key to the new origin, and the refusal says what to type",
  { skip: noKeyring },
  async (t) => {
    const [first, second] = await Promise.all([
      startUpstream(t, respondWithEmptyJson),
      startUpstream(t, respondWithEmptyJson),
    ]);
    const session = await startUnlockedSession(t);
    await session.storeKey(TEST_KEY, first.origin);
    const daemon = await startDaemon(t, {
      config: upstreamsAt(first.baseUrl),
      env: session.busEnv,
    });
    assert.equal((await post(daemon, "/v1/messages", {})).status, 200);

    const edited = { listen: { port: daemon.port }, ...upstreamsAt(second.baseUrl) };
    writeFileSync(daemon.configFile, JSON.stringify(edited));
    await daemon.waitForOutput(IN_FORCE);
    const refused = await post(daemon, "/v1/messages", {});
    assert.equal(refused.headers.get("x-tollkeeper-refusal"), "key_missing");
    const message = await refused.text();
    assert.ok(message.includes(second.origin) && message.includes("Type: tollkeeper key set"), message);
    assert.deepEqual([second.seen, second.sockets.size], [[], 0]);

    // A key that the user stores for the new origin is sent there; the old key still is not.
    await session.storeKey("another-key", second.origin);
    assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
    assert.deepEqual(
      [first, second].map(({ seen }) => seen.map(({ headers }) => headers["x-api-key"])),
      [[TEST_KEY], ["another-key"]],
    );
  },
);

test("a key that does not come from the keychain is sent to the origin that the same configuration names", async (t) => {
  const [first, second] = await Promise.all([
    startUpstream(t, respondWithEmptyJson),
    startUpstream(t, respondWithEmptyJson),
  ]);
  const { sources, env, keys } = writeKeyToEachSource(t);
  const names = Object.keys(sources);
  const configAt = (baseUrl: string) => {
    const upstreams = names.map((name) => [name, { baseUrl, keySource: sources[name] }]);
    const tools = Object.fromEntries(names.map((name) => [name, { upstreams: [name] }]));
    return { upstreams: { default: { baseUrl }, ...Object.fromEntries(upstreams) }, tools };
  };
  const daemon = await startDaemon(t, { config: configAt(first.baseUrl), env });
  const requestAll = async () => {
    for (const name of names) await (await post(daemon, `/t/${name}/v1/messages`, {})).text();
  };
  await requestAll();
  const edited = { listen: { port: daemon.port }, ...configAt(second.baseUrl) };
  writeFileSync(daemon.configFile, JSON.stringify(edited));
  await daemon.waitForOutput(IN_FORCE);
  await requestAll();
  assert.deepEqual(
    [first, second].map(({ seen }) => seen.map(({ headers }) => headers["x-api-key"])),
    [keys, keys],
  );
});

/** Names under which programs look for a project's settings. */
const PROJECT_FILES = [
  "config.jsonc",
  "config.json",
  "tollkeeper.jsonc",
  "tollkeeper.json",
  "tollkeeper.config.json",
  ".tollkeeper",
  ".tollkeeperrc",
  ".tollkeeper.json",
  "tollkeeper/config.jsonc",
  ".tollkeeper.d/config.jsonc",
  ".config/tollkeeper/config.jsonc",
];

test("a daemon that is started in a hostile project directory reads no configuration there", async (t) => {
  const evil = await startUpstream(t, respondWithEmptyJson);
  const [project, home] = [scratchDirectory(t), scratchDirectory(t)];
  const hostile = JSON.stringify({ upstreams: { default: { baseUrl: evil.baseUrl } } });
  for (const name of PROJECT_FILES) {
    mkdirSync(join(project, name, ".."), { recursive: true });
    writeFileSync(join(project, name), hostile);
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ tollkeeper: { config: "config.jsonc" } }));
  writeFileSync(join(project, ".env"), `XDG_CONFIG_HOME=${project}\nTOLLKEEPER_CONFIG=config.jsonc\n`);
  // The user's own configuration, with which the sandbox serves.
  mkdirSync(join(home, "config/tollkeeper"), { recursive: true });
  writeFileSync(join(home, "config/tollkeeper/config.jsonc"), `{ "listen": { "port": 0 } }`);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    // A relative path would lead into the project and is ignored (XDG Base Directory Specification).
    XDG_CONFIG_DIRS: ".config",
    XDG_STATE_HOME: join(home, "state"),
    XDG_RUNTIME_DIR: home,
  };
  const daemon = spawn(process.execPath, [PROGRAM, "serve"], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  t.after(() => daemon.kill("SIGKILL"));
  let output = "";
  for await (const text of daemon.stdout.setEncoding("utf8")) {
    output += String(text);
    if (output.includes("listens on")) break;
  }
  assert.match(output, /No upstream is configured, so the built-in SANDBOX responds/);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0] ?? "";
  assert.equal((await fetch(`${url}/v1/models`)).status, 200);
  daemon.kill("SIGKILL");
  await once(daemon, "exit");
  assert.equal(evil.sockets.size, 0);
});
