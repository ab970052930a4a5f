import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { launchDaemon, prepareHome, type Daemon } from "../../helpers/daemon/daemon.ts";
import { startDaemonWithUpstream } from "../../helpers/daemon/daemon-with-upstream.ts";
import { post } from "../../helpers/gate/gate.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import {
  MESSAGE_EVENTS,
  respondWithMessage,
  SSE,
  startUpstream,
} from "../../helpers/upstream/scripted-upstream.ts";
import { removeDirectory } from "../../helpers/process/scratch-directory.ts";

const LIMIT = { timeout: 300_000 };
const BODY = { model: "claude-sonnet-5", max_tokens: 2, messages: [] };
const CONFIG = { tools: { codex: { group: "small" }, zed: { group: "small" } }, groups: { small: {} } };

async function send(daemon: Daemon, tool: string, path = "/v1/messages"): Promise<string | number> {
  const response = await post(daemon, `/t/${tool}${path}`, BODY);
  await response.text();
  return response.headers.get("x-tollkeeper-refusal") ?? response.status;
}

test("pause refuses every request of a tool at once, and resume ends that", LIMIT, async (t) => {
  const { daemon, upstream } = await startDaemonWithUpstream(t, undefined, { config: CONFIG });
  assert.equal(await send(daemon, "codex"), 200);
  const paused = await daemon.command("pause", "codex");
  assert.deepEqual(
    [paused.code, paused.stdout],
    [0, "Paused: codex; running requests go on. To go on, type: tollkeeper resume codex\n"],
  );
  for (const path of ["/v1/messages", "/v1/messages/count_tokens", "/v1/responses", "/v1/chat/completions"])
    assert.equal(await send(daemon, "codex", path), "paused", path);
  assert.equal(
    (await fetch(`${daemon.url}/t/codex/v1/models`)).headers.get("x-tollkeeper-refusal"),
    "paused",
  );
  const refused = await post(daemon, "/t/codex/v1/messages", BODY);
  const { error } = (await refused.json()) as { error: { type: string; message: string } };
  assert.deepEqual([refused.status, error.type], [402, "billing_error"]);
  assert.match(
    error.message,
    /^tollkeeper: codex is paused: a person paused it at .* Type: tollkeeper resume codex$/,
  );
  assert.deepEqual([await send(daemon, "zed"), upstream.seen.length], [200, 2]);
  assert.match(
    (await daemon.command("status")).stdout,
    /^paused {6}codex, .*; to go on, type: .*resume codex$/m,
  );
  assert.equal((await daemon.command("resume", "codex")).stdout, "No longer paused: codex\n");
  assert.equal(await send(daemon, "codex"), 200);
  assert.equal((await daemon.command("resume", "codex")).stdout, "Not paused: codex\n");
});

test("a group and everything can be paused, one beside the other", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, undefined, { config: CONFIG });
  await daemon.command("pause", "--group", "small");
  assert.deepEqual([await send(daemon, "codex"), await send(daemon, "pi")], ["paused", 200]);
  await daemon.command("pause", "--all");
  assert.equal(await send(daemon, "pi"), "paused");
  const resumed = await daemon.command("resume", "--all");
  assert.match(resumed.stderr, /still paused: group small; to go on, type: tollkeeper resume --group small/);
  assert.deepEqual([await send(daemon, "codex"), await send(daemon, "pi")], ["paused", 200]);
  const unknown = await daemon.command("pause", "--group", "smal");
  assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
  assert.match(unknown.stderr, /the configuration has no group "smal"\n.*name one of: small/);
});

test("pause all and resume all mean everything, with or without dashes", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, undefined, { config: CONFIG });
  assert.match((await daemon.command("pause", "all")).stdout, /^Paused: everything;/);
  assert.equal(await send(daemon, "zed"), "paused");
  await daemon.command("resume", "all");
  assert.equal(await send(daemon, "zed"), 200);
});

test("pause refuses a mistyped tool, and takes one that was not seen yet with --new", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, undefined, { config: CONFIG });
  const mistyped = await daemon.command("pause", "codx");
  assert.deepEqual([mistyped.code, mistyped.stdout], [1, ""]);
  assert.match(mistyped.stderr, /no tool called "codx" is known; did you mean "codex"\?\n[^]*add: --new\n$/);
  assert.equal(await send(daemon, "codex"), 200);
  assert.equal((await daemon.command("pause", "nightly")).code, 1);
  assert.equal((await daemon.command("pause", "nightly", "--new")).code, 0);
  assert.equal(await send(daemon, "nightly"), "paused");
  await daemon.command("resume", "nightly");
  assert.equal(await send(daemon, "nightly"), 200);
  // Its request is in the ledger now.
  assert.equal((await daemon.command("pause", "nightly")).code, 0);
  // People type the name of the program.
  assert.match((await daemon.command("pause", "claude")).stdout, /^Paused: claude-code;/);
});

test(
  "resume says that a name is a group's or mistyped, and takes a tool's program, as pause does",
  LIMIT,
  async (t) => {
    const { daemon } = await startDaemonWithUpstream(t, undefined, { config: CONFIG });
    await daemon.command("pause", "--group", "small");
    const group = await daemon.command("resume", "small");
    assert.deepEqual([group.code, group.stdout], [1, ""]);
    assert.match(
      group.stderr,
      /^error: "small" is a group, not a tool\nhint: .*type in its place: --group small\n$/,
    );
    const mistyped = await daemon.command("resume", "codx");
    assert.equal(mistyped.code, 1);
    assert.match(mistyped.stderr, /no tool called "codx" is known; did you mean "codex"\?\n/);
    assert.doesNotMatch(mistyped.stderr, /--new/);
    await daemon.command("pause", "claude");
    assert.match((await daemon.command("resume", "claude")).stdout, /^No longer paused: claude-code\n/);
  },
);

test("pause --cut ends running streams, which are recorded as cut by tollkeeper", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(
    t,
    (_seen, res) => void res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]),
    { config: CONFIG },
  );
  const [codex, zed] = [
    await post(daemon, "/t/codex/v1/messages", BODY),
    await post(daemon, "/t/zed/v1/messages", BODY),
  ];
  const { stdout } = await daemon.command("pause", "codex", "--cut", "--json");
  assert.equal((JSON.parse(stdout) as { cut: number }).cut, 1);
  await assert.rejects(codex.text());
  const [record, ...others] = await daemon.ledger();
  assert.deepEqual(
    [record?.tool, record?.outcome, record?.cut_by, record?.tokens?.input_total, others.length],
    ["codex", "cut", "proxy", 3, 0],
  );
  assert.equal((await daemon.status()).openExchanges, 1);
  await zed.body?.cancel();
});

test(
  "a pause survives a restart; one that cannot be read is forgotten, and that is said",
  LIMIT,
  async (t) => {
    const upstream = await startUpstream(t, respondWithMessage);
    const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
    const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
    t.after(() => removeDirectory(home));
    const start = async () => {
      const { ready, kill } = launchDaemon(home, { config });
      t.after(kill);
      return { daemon: await ready, kill };
    };
    const first = await start();
    await first.daemon.command("pause", "codex");
    await first.kill();
    const second = await start();
    assert.equal(await send(second.daemon, "codex"), "paused");
    await second.kill();
    const directory = join(second.daemon.env["XDG_STATE_HOME"] ?? "", "tollkeeper");
    assert.ok(readdirSync(directory).includes("pauses.json"));
    writeFileSync(join(directory, "pauses.json"), "{");
    const third = await start();
    assert.equal(await send(third.daemon, "codex"), 200);
    assert.match(third.daemon.stderr(), /what was paused cannot be read: nothing is paused now/);
    await third.kill();
  },
);

for (const [line, error] of [
  ["pause", "name a tool, or one of --group and --all\nhint: type for example: tollkeeper pause codex"],
  ["resume", "name a tool, or one of --group and --all\nhint: type for example: tollkeeper resume codex"],
  [
    "pause codex --all",
    '"codex" and --all cannot be used together\nhint: for "codex" alone, leave out --all\n      for everything, leave out "codex"',
  ],
  [
    "resume --group small --all",
    "--group and --all cannot be used together\nhint: for --group alone, leave out --all\n      for everything, leave out --group",
  ],
] as const) {
  test(`${line} is wrong usage, and the hint is for that command`, LIMIT, async (t) => {
    const { code, stderr } = await prepareHome(t, { config: {} }).command(...line.split(" "));
    assert.deepEqual([code, stderr], [2, `error: ${error}\n`]);
  });
}

test("without a daemon nothing passes anyway, and pause says how to start one", LIMIT, async (t) => {
  for (const command of ["pause", "resume"]) {
    const { code, stderr } = await prepareHome(t, { config: {} }).command(command, "codex");
    assert.equal(code, 1);
    assert.match(stderr, /tollkeeper is not running/);
  }
});
