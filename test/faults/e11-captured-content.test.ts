// E11, captured content: nothing is captured unless a person asks for it, the disk has nothing that can be read, no credential is in it, and
// it is gone when its time is over, also after a kill.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { askDaemon } from "../../src/adapters/control-socket.ts";
import type { CapturedExchange, CaptureStatus } from "../../src/core/capture/captured.ts";
import { formatLocalToken } from "../../src/core/secrets/local-token.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { managedMachine, MANAGED, noManagedConfig } from "../helpers/config/managed-config.ts";
import { launchDaemon, startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";
import { startTail } from "../helpers/daemon/tail.ts";
import { post } from "../helpers/gate/gate.ts";
import { unnamedCaptures } from "../helpers/process/unnamed-files.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { sendJson, MESSAGE, type Script } from "../helpers/upstream/scripted-upstream.ts";
import { assertNowhere, makeSentinel, readFilesBelow } from "../security/leak-search.ts";

const LIMIT = { timeout: 300_000 };
const CODEX = { "user-agent": "codex_cli_rs/0.50.0", originator: "codex_cli_rs" };
const MINUTE = "60000";
const REQUEST = { model: "claude-sonnet-5", max_tokens: 5, messages: [{ role: "user", content: "x" }] };

/** Asks as a command does, with times that no command takes. */
function ask(daemon: Daemon, question: Parameters<typeof askDaemon>[1], query: Record<string, string> = {}) {
  return askDaemon(join(daemon.home, "run", "tollkeeper", "control.sock"), question, query);
}

async function send(daemon: Daemon, body: object, headers: Record<string, string> = {}): Promise<string> {
  return (await post(daemon, "/v1/messages", body, { ...CODEX, ...headers })).text();
}

async function captured(daemon: Daemon, count: number): Promise<{ requests: { id: string }[] }> {
  return waitUntil(`${count} captured requests`, async () => {
    const found = (await ask(daemon, "captures")) as { requests: { id: string }[] };
    return found.requests.length >= count ? found : null;
  });
}

test("nothing is captured without the command, and then only what it names", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, undefined, { config: { capture: true } });
  await send(daemon, { model: "m", messages: [] });
  assert.deepEqual(await ask(daemon, "captures"), { captures: [], requests: [] });
  await ask(daemon, "start-capture", { tool: "codex", for: MINUTE, keep: MINUTE, max: "2" });
  await post(
    daemon,
    "/v1/messages",
    { model: "m", messages: [] },
    { "user-agent": "claude-cli/2.0.1 (external, cli)" },
  );
  for (let sent = 0; sent < 3; sent += 1) await send(daemon, { model: `m${sent}`, messages: [] });
  await waitUntil("five records", async () => ((await daemon.ledger()).length === 5 ? true : null));
  const { requests } = await captured(daemon, 2);
  assert.equal(requests.length, 2);
  const { captures } = (await ask(daemon, "captures")) as { captures: CaptureStatus[] };
  assert.deepEqual([captures[0]?.state, captures[0]?.ended], ["ended", "it has 2 requests"]);
});

test(
  "a configuration that forbids captures deletes them, and an administrator can lock it",
  LIMIT,
  async (t) => {
    const forbidden = await startDaemon(t, { config: { capture: false } });
    const { code, stderr } = await forbidden.command("capture", "codex");
    assert.equal(code, 1);
    assert.match(stderr, /^error: captures are forbidden: the configuration has "capture": false\n/);
    await forbidden.command("config", "set", "capture", "true");
    await waitUntil("a capture that may begin", async () =>
      (await forbidden.command("capture", "codex")).code === 0 ? true : null,
    );
    await forbidden.command("config", "set", "capture", "false");
    await waitUntil("no capture", async () =>
      (await forbidden.status()).captures.length === 0 ? true : null,
    );
  },
);

test(
  "no user can capture where the managed file locks it",
  { ...LIMIT, skip: noManagedConfig },
  async (t) => {
    const machine = managedMachine(t);
    machine.write({ capture: false, locked: ["capture"] });
    const daemon = await startDaemon(t, { config: { capture: true }, launcher: machine.launcher });
    const { code, stderr } = await daemon.command("capture", "codex");
    assert.equal(code, 1);
    assert.ok(stderr.includes(`the administrator's file ${MANAGED} locks "capture"`), stderr);
  },
);

test(
  "no key, login or token is in what is captured, and nothing of it is anywhere else",
  LIMIT,
  async (t) => {
    const key = makeSentinel();
    const login = `sk-ant-oat01-${randomBytes(24).toString("base64url")}1a`;
    const token = formatLocalToken("codex", randomBytes(32).toString("base64url").slice(0, 43));
    // In a header whose name says so, any value is a credential.
    const plain = "a-word-for-my-service";
    const marker = `prompt-${randomBytes(8).toString("hex")}`;
    const answers = [
      (text: string) => ({ body: Buffer.from(text), headers: {} }),
      (text: string) => ({ body: gzipSync(text), headers: { "content-encoding": "gzip" } }),
      (text: string) => ({ body: brotliCompressSync(text), headers: { "content-encoding": "br" } }),
      (text: string) => ({ body: Buffer.from(text), headers: { "content-encoding": "unknown" } }),
    ];
    const script: Script = ({ body }, res) => {
      const { user } = JSON.parse(body.toString()) as { user: number };
      const text = JSON.stringify({
        ...MESSAGE,
        content: [
          {
            type: "text",
            text: `${marker} ${key} ${encodeURIComponent(key)} ${Buffer.from(key).toString("base64")}`,
          },
        ],
      });
      const answer = answers[user]?.(text);
      res.writeHead(200, {
        "content-type": "application/json",
        "x-echo": key,
        "set-cookie": `sid=${plain}`,
        ...answer?.headers,
      });
      res.end(answer?.body);
    };
    const { daemon } = await startDaemonWithUpstream(t, script, {
      key,
      args: ["--debug"],
      env: { DEBUG: "*" },
    });
    const tail = await startTail(t, daemon);
    await ask(daemon, "start-capture", { tool: "codex", for: MINUTE, keep: MINUTE });
    const content = `${marker}\nANTHROPIC_API_KEY=${login}\n{"password":"hunter2222"} Authorization: Bearer ${login} ${token} ${key}`;
    const received: string[] = [];
    for (const user of answers.keys())
      received.push(
        await send(
          daemon,
          { model: "m", user, messages: [{ role: "user", content }] },
          { "x-api-key": token, cookie: `a=${login}; b=${plain}` },
        ),
      );
    assert.ok(
      received.slice(0, 3).every((text) => text.includes(key)),
      "the client gets every byte",
    );
    const { requests } = await captured(daemon, answers.length);
    const whole = await Promise.all(
      requests.map(({ id }) => ask(daemon, "captured", { id }) as Promise<CapturedExchange>),
    );
    const texts = whole.map(({ head, request, response }) =>
      [JSON.stringify(head), Buffer.from(request, "base64"), Buffer.from(response, "base64")].join("\n"),
    );
    assert.ok(texts.every((text) => text.includes(marker)));
    assert.ok(
      texts.slice(0, 3).every((text) => text.split(marker).length === 3),
      "the answers are decoded",
    );
    assert.equal(whole[3]?.head.response.lack, "its encoding is not known");
    const shown = await Promise.all(
      requests.flatMap(({ id }) => [
        daemon.command("capture", "show", id, "--full", "--headers"),
        daemon.command("capture", "show", id, "--json"),
      ]),
    );
    const all = {
      ...Object.fromEntries(texts.entries()),
      shown: shown.map(({ stdout }) => stdout).join("\n"),
    };
    for (const secret of [key, encodeURIComponent(key), Buffer.from(key).toString("base64"), login, token])
      assertNowhere(secret, all);
    for (const secret of ["hunter2222", plain])
      assert.ok(!Object.values(all).some((text) => text.includes(secret)));
    // Each is still the JSON that it was.
    for (const { request } of whole) JSON.parse(Buffer.from(request, "base64").toString());
    if (process.platform === "linux") {
      const [file, ...others] = unnamedCaptures(daemon.pid);
      assert.equal(others.length, 0);
      assert.ok((file?.length ?? 0) > texts.join("").length);
      for (const secret of [marker, key, login, "claude", "content"]) assert.ok(!file?.includes(secret));
    }
    const printed = [daemon.stdout(), daemon.stderr()].join("\n");
    const traces = {
      ...readFilesBelow(daemon.home, null),
      printed,
      status: (await daemon.command("status")).stdout,
    };
    for (const secret of [marker, key, login]) assertNowhere(secret, traces);
    assert.match(traces.status, /^capture +1 of codex: running until \d\d:\d\d:\d\d, 4 requests, /m);
    assert.match(
      ((await tail.lines.next()) as { value: string }).value,
      /requests and responses of codex are captured for 1 min/,
    );
  },
);

test("what is captured is gone when its time is over, and when the daemon is killed", LIMIT, async (t) => {
  const home = scratchDirectory(t);
  const { ready, kill } = launchDaemon(home);
  t.after(kill);
  const daemon = await ready;
  await ask(daemon, "start-capture", { tool: "codex", for: "1500", keep: "1500" });
  await send(daemon, REQUEST);
  const { requests } = await captured(daemon, 1);
  assert.match((await daemon.command("capture", "show", "last")).stdout, /^Request /);
  if (process.platform === "linux") assert.equal(unnamedCaptures(daemon.pid).length, 1);
  await waitUntil("no capture", async () => ((await daemon.status()).captures.length === 0 ? true : null));
  if (process.platform === "linux")
    await waitUntil("no file", () => (unnamedCaptures(daemon.pid).length === 0 ? true : null));
  await assert.rejects(ask(daemon, "captured", { id: requests[0]?.id ?? "" }), /no longer kept/);
  await ask(daemon, "start-capture", { tool: "codex", for: MINUTE, keep: MINUTE });
  await send(daemon, REQUEST);
  await captured(daemon, 1);
  await kill();
  assert.deepEqual(
    readdirSync(join(home, "state", "tollkeeper")).filter((name) => name.startsWith("capture")),
    [],
  );
  const next = launchDaemon(home);
  t.after(next.kill);
  assert.deepEqual(await ask(await next.ready, "captures"), { captures: [], requests: [] });
});

/** Starts daemons with a clock of their own (Debian: `apt-get install faketime`). What has passed by the other clock stays right. */
const FAKE_CLOCK = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
const cannotMoveClock = !existsSync(FAKE_CLOCK) && "needs libfaketime on Linux: apt-get install faketime";

/** Returns what starts a daemon whose clock is moved by what `move` says, such as `+2d`, also while it runs. */
function movableClock(t: TestContext) {
  const file = join(scratchDirectory(t), "clock");
  const move = (by: string) => writeFileSync(file, by);
  move("+0d");
  const env = {
    LD_PRELOAD: FAKE_CLOCK,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  return { move, env };
}

for (const by of ["+2d", "-2d"])
  test(
    `what is captured is gone after kill -9 and a start with the clock moved by ${by}, and when a running clock is moved`,
    { ...LIMIT, skip: cannotMoveClock },
    async (t) => {
      const home = scratchDirectory(t);
      const state = join(home, "state", "tollkeeper");
      const { move, env } = movableClock(t);
      const { ready, kill } = launchDaemon(home, { env });
      t.after(kill);
      const first = await ready;
      await ask(first, "start-capture", { tool: "codex", for: MINUTE, keep: MINUTE });
      await send(first, REQUEST);
      await captured(first, 1);
      await kill();
      // As a daemon leaves it that is killed while it opens the file.
      writeFileSync(join(state, `capture-${"0".repeat(16)}.part`), "");
      move(by);
      const next = launchDaemon(home, { env });
      t.after(next.kill);
      const daemon = await next.ready;
      const days = (Date.parse((await daemon.status()).startedAt) - Date.now()) / 86_400_000;
      assert.equal(Math.round(days), Number.parseInt(by, 10));
      assert.deepEqual(await ask(daemon, "captures"), { captures: [], requests: [] });
      assert.deepEqual(unnamedCaptures(daemon.pid), []);
      assert.deepEqual(
        readdirSync(state).filter((name) => name.startsWith("capture")),
        [],
      );
      // An hour passes at once with the clock that leaps ahead, and never with the one that is set back: then the time that has passed counts.
      const ms = by === "+2d" ? "3600000" : "1000";
      await ask(daemon, "start-capture", { tool: "codex", for: ms, keep: ms });
      await send(daemon, REQUEST);
      await captured(daemon, 1);
      move(by === "+2d" ? "+3d" : "-3d");
      await waitUntil("no capture", async () =>
        (await daemon.status()).captures.length === 0 ? true : null,
      );
      await waitUntil("no file", () => (unnamedCaptures(daemon.pid).length === 0 ? true : null));
    },
  );

test("the bytes of requests and responses are the same while a capture runs", LIMIT, async (t) => {
  const text = JSON.stringify({ ...MESSAGE, filler: "é".repeat(300_000) });
  const { daemon, upstream } = await startDaemonWithUpstream(t, (_seen, res) =>
    sendJson(res, JSON.parse(text) as object),
  );
  const body = { model: "m", messages: [{ role: "user", content: "ü".repeat(300_000) }] };
  const before = await send(daemon, body);
  await ask(daemon, "start-capture", { tool: "codex", for: MINUTE, keep: MINUTE });
  assert.equal(await send(daemon, body), before);
  const [one, other] = upstream.seen;
  assert.deepEqual(other?.rawHeaders, one?.rawHeaders);
  assert.ok(one !== undefined && other?.body.equals(one.body) === true);
  await captured(daemon, 1);
});
