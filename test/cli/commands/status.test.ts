import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, relative } from "node:path";
import { test } from "node:test";
import type { DaemonStatus } from "../../../src/daemon/status.ts";
import { programBuild } from "../../../src/adapters/program-build.ts";
import { programVersion } from "../../../src/adapters/program.ts";
import { startDaemonWithUpstream } from "../../helpers/daemon/daemon-with-upstream.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { post } from "../../helpers/gate/gate.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { MESSAGE, sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { editConfig, IN_FORCE, READ_AGAIN } from "../../daemon/config-edits.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";

test("status without a running daemon fails and says how to start it", async (t) => {
  const daemon = await startDaemon(t);
  await daemon.stop();
  for (const form of [[], ["--json"]]) {
    const { code, stdout, stderr } = await daemon.command("status", ...form);
    assert.deepEqual([code, stdout], [1, ""]);
    // The hint depends on the service manager of this machine.
    assert.match(stderr, /^error: tollkeeper is not running\nhint: [^]*tollkeeper s/);
  }
});

test("status of a healthy daemon prints a line for each fact and exits with 0", async (t) => {
  const { daemon, upstream, keyFile } = await startDaemonWithUpstream(t);
  const before = await daemon.command("status");
  assert.match(
    before.stdout,
    new RegExp(`^key +"default" for upstream default: not asked yet \\(file ${keyFile.path}\\)$`, "m"),
  );
  await (await post(daemon, "/v1/messages", {})).text();
  const { code, stdout, stderr } = await daemon.command("status");
  assert.deepEqual([code, stderr], [0, ""]);
  for (const line of [
    `health +everything works$`,
    `daemon +tollkeeper ${programVersion()}, pid ${daemon.pid}, started (?:just now|\\d+ (?:s|min) ago)$`,
    `listening +127\\.0\\.0\\.1:${daemon.port} and \\[::1\\]:${daemon.port}$`,
    `access +open, no token required; 0 tokens registered$`,
    `upstream +default: ${upstream.baseUrl}$`,
    ` +last request: completed, status 200, (?:just now|\\d+ (?:s|min) ago)$`,
    `key +"default" for upstream default: present \\(file ${keyFile.path}, (?:just now|\\d+ (?:s|min) ago)\\)$`,
    `config +~/${relative(daemon.home, daemon.configFile)}, read (?:just now|\\d+ (?:s|min) ago)$`,
    `ledger +~/state/tollkeeper/ledger, 1 written$`,
    `requests +0 open$`,
  ]) {
    assert.match(stdout, new RegExp(`^${line}`, "m"));
  }
});

test("status says that the sandbox serves made-up responses", async (t) => {
  const daemon = await startDaemon(t);
  const { stdout } = await daemon.command("status");
  assert.match(stdout, /^upstream +sandbox: built-in sandbox, made-up responses$/m);
});

test("status --json prints the whole status as one object", async (t) => {
  const { daemon, upstream, keyFile } = await startDaemonWithUpstream(t);
  const { code, stdout } = await daemon.command("status", "--json");
  assert.equal(code, 0);
  const status = parseJsonOutput(stdout) as DaemonStatus;
  const { at, startedAt, config, ...rest } = status;
  assert.ok(Date.parse(startedAt) > 0 && Date.parse(config.loadedAt) > 0);
  assert.ok(Date.parse(at) >= Date.parse(config.judgedAt));
  assert.ok((status.ledger.freeBytes ?? 0) > 0);
  assert.deepEqual(rest, {
    export: null,
    socket: null,
    version: programVersion(),
    build: programBuild(),
    pid: daemon.pid,
    state: "serving",
    listening: [`127.0.0.1:${daemon.port}`, `[::1]:${daemon.port}`],
    access: { mode: "open", peerUid: [], tokens: { registered: 0, leased: 0, problem: null } },
    upstreams: [
      {
        name: "default",
        baseUrl: upstream.baseUrl,
        credential: "key",
        isSandbox: false,
        modelsProblem: null,
        cooldownMs: null,
        lastExchange: null,
        lastFailure: null,
        failing: null,
        workedAt: null,
      },
    ],
    groups: [],
    pauses: [],
    captures: [],
    budgets: [],
    lifts: [],
    limits: [],
    holds: [],
    refused: { codes: {}, checks: 0, newest: null },
    outbound: [],
    keys: [
      {
        upstream: "default",
        name: "default",
        source: `file ${keyFile.path}`,
        state: "not_asked",
        problem: null,
        at: null,
        workedAt: null,
        expiresAt: null,
        refreshFailure: null,
      },
    ],
    ledger: {
      directory: `${daemon.home}/state/tollkeeper/ledger`,
      written: 0,
      waiting: 0,
      lost: 0,
      freeBytes: status.ledger.freeBytes,
      lastError: null,
    },
    openExchanges: 0,
    bufferedBytes: 0,
    lastError: null,
    tools: [],
  });
  assert.deepEqual([config.path, config.exists, config.problems], [daemon.configFile, true, []]);
});

test("status shows each group with its models and tools, and that it binds nobody while access is open", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, undefined, {
    config: {
      tools: { codex: { group: "small" }, "*": { group: "small" }, zed: { group: "free" } },
      groups: { small: { models: ["gpt-5-mini", "qwen*"] }, free: {} },
    },
  });
  const { stdout } = await daemon.command("status");
  assert.match(stdout, /^group +small: only gpt-5-mini qwen\*, for codex and all other tools$/m);
  assert.match(
    stdout,
    /^group +free: all models, for zed\n +access is open, so any program can use the name of another tool, and groups are not enforced$/m,
  );
  const { groups } = parseJsonOutput((await daemon.command("status", "--json")).stdout) as DaemonStatus;
  assert.deepEqual(groups, [
    { name: "small", models: ["gpt-5-mini", "qwen*"], tools: ["codex", "*"] },
    { name: "free", models: null, tools: ["zed"] },
  ]);
});

test("status exits with 1 when a key cannot be read, with and without --json", async (t) => {
  const { daemon, keyFile } = await startDaemonWithUpstream(t);
  rmSync(keyFile.path);
  await (await post(daemon, "/v1/messages", {})).text();
  const text = await daemon.command("status");
  assert.equal(text.code, 1);
  assert.match(text.stdout, /^key +"default" for upstream default: unavailable /m);
  assert.match(text.stdout, /^ +key file .* does not exist$/m);
  assert.match(text.stdout, /^last error +key file .* does not exist \((?:just now|\d+ (?:s|min) ago)\)$/m);
  const json = await daemon.command("status", "--json");
  assert.deepEqual(
    [json.code, (parseJsonOutput(json.stdout) as DaemonStatus).keys[0]?.state],
    [1, "unavailable"],
  );
});

test("status says when a key expires, and when and why it could last not be refreshed", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, MESSAGE));
  const directory = scratchDirectory(t);
  const script = join(directory, "print-token");
  const failsLater = '[ -e "$0.ran" ] && echo "please log in" >&2 && exit 3; : > "$0.ran"';
  writeFileSync(script, `#!/bin/sh\n${failsLater}\necho token-of-the-test\n`, { mode: 0o700 });
  const keySource = { command: [script], ttlMs: 3_600_000 };
  const daemon = await startDaemon(t, {
    config: { upstreams: { default: { baseUrl: upstream.baseUrl, keySource } } },
  });
  const from = Date.now();
  await (await post(daemon, "/v1/messages", {})).text();
  const before = await daemon.command("status");
  assert.equal(before.code, 0);
  const until = String.raw`expires (?:tomorrow )?at \d\d:\d\d`;
  assert.match(before.stdout, new RegExp(`^key .*: present \\(command .*, .*; ${until}\\)$`, "m"));
  await daemon.command("key", "test");
  const { code, stdout } = await daemon.command("status");
  assert.equal(code, 0);
  const why = String.raw`the key command failed with exit code 3 \(\S+print-token: please log in\)`;
  assert.match(stdout, new RegExp(`^ +could not be refreshed (?:just now|\\d+ (?:s|min) ago): ${why}$`, "m"));
  const json = parseJsonOutput((await daemon.command("status", "--json")).stdout) as DaemonStatus;
  const [key] = json.keys;
  const life = Date.parse(key?.expiresAt ?? "") - from;
  assert.ok(life >= 3_600_000 && life <= 3_600_000 + Date.now() - from, String(life));
  assert.match(key?.refreshFailure?.problem ?? "", new RegExp(why));
  assert.ok(Date.parse(key?.refreshFailure?.at ?? "") >= from);
});

test("what is in order again is gone from the next status, which until then says when it last was", async (t) => {
  const { daemon, keyFile } = await startDaemonWithUpstream(t);
  await (await post(daemon, "/v1/messages", {})).text();
  const text = readFileSync(keyFile.path, "utf8");
  rmSync(keyFile.path);
  process.kill(daemon.pid, "SIGHUP");
  await daemon.waitForOutput(READ_AGAIN);
  await (await post(daemon, "/v1/messages", {})).text();
  const broken = (await daemon.command("status")).stdout;
  assert.match(broken, /^key .*: unavailable \(.*; last available (?:just now|\d+ (?:s|min) ago)\)$/m);
  assert.match(broken, /^last error .*does not exist/m);
  writeFileSync(keyFile.path, text, { mode: 0o600 });
  const mended = await waitUntil("a status without problems", async () => {
    const status = await daemon.command("status");
    return status.code === 0 ? status : null;
  });
  assert.match(mended.stdout, /^key .*: present /m);
  assert.doesNotMatch(mended.stdout, /last error/);
});

test("status with an unknown option is wrong usage", async (t) => {
  const daemon = await startDaemon(t);
  const { code, stderr } = await daemon.command("status", "--jsn");
  assert.equal(code, 2);
  assert.match(stderr, /^error: .*jsn[^]*hint: /);
});

test("status says in words how an upstream failed, until an exchange works again", async (t) => {
  const port = await freePort();
  const { config } = writeKeyFile(t, `http://127.0.0.1:${port}/v1`, "some-key-of-the-test");
  const daemon = await startDaemon(t, { config });
  const refusal = await post(daemon, "/v1/messages", {});
  assert.equal(refusal.status, 502);
  assert.match(await refusal.text(), /: connection refused\. Type: tollkeeper doctor"/);
  const failing = await daemon.command("status");
  assert.match(
    failing.stdout,
    /^ +failing, (?:just now|\d+ (?:s|min) ago): 1 of 1 request failed: connection refused$/m,
  );
  const upstream = createServer((_req, res) => sendJson(res, { data: [] })).listen(port, "127.0.0.1");
  t.after(() => upstream.close());
  await once(upstream, "listening");
  assert.equal((await fetch(`${daemon.url}/v1/models`)).status, 200);
  assert.doesNotMatch((await daemon.command("status")).stdout, /^ +failing, /m);
});

test("status does not show a failure from before the configuration was changed", async (t) => {
  const { config } = writeKeyFile(t, `http://127.0.0.1:${await freePort()}/v1`, "some-key-of-the-test");
  const daemon = await startDaemon(t, { config });
  await (await post(daemon, "/v1/messages", {})).text();
  assert.match((await daemon.command("status")).stdout, /^ +failing, /m);
  editConfig(
    daemon,
    writeKeyFile(t, `http://127.0.0.1:${await freePort()}/v1`, "some-key-of-the-test").config,
  );
  await daemon.waitForOutput(IN_FORCE);
  assert.doesNotMatch((await daemon.command("status")).stdout, /^ +failing, /m);
  await (await post(daemon, "/v1/messages", {})).text();
  assert.match((await daemon.command("status")).stdout, /^ +failing, /m);
});

test("status counts refused requests by code, and shows the last one that left no record", async (t) => {
  const daemon = await startDaemon(t);
  assert.doesNotMatch((await daemon.command("status")).stdout, /^refused/m);
  await (await fetch(`${daemon.url}/v1/models`, { headers: { origin: "https://evil.example" } })).text();
  for (const path of ["/v1/realtime", "/v1/fine_tuning/jobs?prompt=private"])
    await (await post(daemon, path, {})).text();
  const { stdout, code } = await daemon.command("status");
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^refused +3 requests: 2 not_found, 1 origin_not_allowed\n +to see new ones, type: tollkeeper tail\n +the latest without a record: POST \/v1\/fine_tuning\/jobs, 404 not_found, (?:just now|\d+ (?:s|min) ago)$/m,
  );
});

test("a mistyped model makes no failing upstream in status", async (t) => {
  const upstream = createServer((_req, res) =>
    sendJson(res, { error: { type: "not_found_error" } }, 404),
  ).listen(0, "127.0.0.1");
  t.after(() => upstream.close());
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  const { config } = writeKeyFile(t, `http://127.0.0.1:${port}/v1`, "some-key-of-the-test");
  const daemon = await startDaemon(t, { config });
  for (let i = 0; i < 4; i += 1) await (await post(daemon, "/v1/messages", {})).text();
  const { stdout } = await daemon.command("status");
  assert.match(stdout, /^ +last request: error, status 404, /m);
  assert.doesNotMatch(stdout, /fails:|last failure/);
});
