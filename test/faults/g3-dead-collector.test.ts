import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { launchDaemon, type Daemon, type DaemonStart } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { startOtlpReceiver, type OtlpReceiver } from "../helpers/otlp/otlp-receiver.ts";
import { respondWithMessage, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { removeDirectory } from "../helpers/process/scratch-directory.ts";

const INTERVAL_MS = 1_000;

test(
  "kills of exporter, daemon and collector leave no record out and count none twice",
  { timeout: 300_000 },
  async (t) => {
    const first = await startOtlpReceiver(t);
    const { start } = await prepare(t, first.endpoint);
    let daemon = await start();
    // Before its exporter runs.
    await send(daemon, 5);
    await waitUntil("an exporter", async () => (await daemon.status()).export?.lastAcceptedAt ?? null);
    await killExporter(daemon);
    await send(daemon, 5);
    await waitFor(first, 10);
    // The exporter has its responses, too.
    await waitUntil("ten sent", async () => (await daemon.status()).export?.counts.sent === 10 || null);
    await first.close();
    await send(daemon, 5);
    await waitUntil("a problem", async () => (await daemon.status()).export?.problem ?? null);
    daemon = await start();
    await send(daemon, 5);
    const second = await startOtlpReceiver(t, { port: first.port });
    await waitUntil("the sums", async () => (await areSumsComplete(daemon, second)) || null);
    const ids = (await daemon.ledger()).map(({ id }) => id).sort();
    assert.equal(ids.length, 20);
    assert.deepEqual([...new Set([...first.records.keys(), ...second.records.keys()])].sort(), ids);
    // What the first one has accepted is in the checkpoint.
    assert.equal(second.records.size, 10);
    assert.equal((await daemon.status()).export?.counts.sent, 20);
  },
);

test(
  "a dead collector costs one warning, which status and doctor repeat, and nothing else",
  { timeout: 300_000 },
  async (t) => {
    const receiver = await startOtlpReceiver(t);
    await receiver.close();
    const { start } = await prepare(t, receiver.endpoint);
    const daemon = await start();
    await send(daemon, 2);
    const problem = await waitUntil("a problem", async () => (await daemon.status()).export?.problem ?? null);
    assert.match(problem.reason, /connection refused/);
    const since = problem.since;
    await send(daemon, 2);
    await killExporter(daemon);
    await waitUntil("another exporter", async () => (await daemon.status()).export?.pid ?? null);
    const { stdout } = await daemon.command("status");
    assert.match(stdout, /nothing accepted, first failure .*: connection refused/);
    const doctor = await daemon.command("doctor");
    assert.match(doctor.stdout, /accepts nothing: connection refused/);
    assert.equal((await daemon.status()).export?.problem?.since, since);
    const warnings = (daemon.stdout() + daemon.stderr()).match(/records are not exported/g);
    assert.equal(warnings?.length, 1);
  },
);

test(
  "without a collector in the configuration there is no exporter, and one is started and ended with it",
  { timeout: 300_000 },
  async (t) => {
    const receiver = await startOtlpReceiver(t);
    const { start } = await prepare(t, null);
    const daemon = await start();
    assert.equal((await daemon.status()).export, null);
    const set = await daemon.command("config", "set", "export.otlp.endpoint", receiver.endpoint);
    assert.equal(set.code, 0, set.stderr);
    const pid = await waitUntil("an exporter", async () => (await daemon.status()).export?.pid ?? null);
    await daemon.stop();
    await waitUntil("the exporter's end", () => isGone(pid) || null);
  },
);

test("an exporter ends with a daemon that is killed", { timeout: 300_000 }, async (t) => {
  const receiver = await startOtlpReceiver(t);
  const { start, kill } = await prepare(t, receiver.endpoint);
  const daemon = await start();
  const pid = await waitUntil("an exporter", async () => (await daemon.status()).export?.pid ?? null);
  await kill();
  await waitUntil("the exporter's end", () => isGone(pid) || null);
});

/** Returns what starts a daemon in one home, after a kill of the one before. */
async function prepare(t: TestContext, endpoint: string | null) {
  const upstream = await startUpstream(t, respondWithMessage);
  const { config: keyed } = writeKeyFile(t, upstream.baseUrl, "some-key");
  const exported = endpoint === null ? {} : { export: { otlp: { endpoint, intervalMs: INTERVAL_MS } } };
  const config = { ...keyed, ...exported };
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  let running: DaemonStart | null = null;
  const kill = async () => running?.kill();
  t.after(async () => {
    await kill();
    removeDirectory(home);
  });
  const start = async (): Promise<Daemon> => {
    await kill();
    running = launchDaemon(home, { config });
    return running.ready;
  };
  return { start, kill };
}

async function send({ url }: Daemon, count: number): Promise<void> {
  for (let each = 0; each < count; each += 1) {
    const body = JSON.stringify({ model: "claude-sonnet-5", max_tokens: 1, messages: [] });
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    await response.text();
  }
}

async function killExporter(daemon: Daemon): Promise<void> {
  const pid = (await daemon.status()).export?.pid;
  assert.ok(typeof pid === "number");
  process.kill(pid, "SIGKILL");
  await waitUntil("its end", async () => ((await daemon.status()).export?.pid !== pid ? true : null));
}

function waitFor({ records }: OtlpReceiver, count: number) {
  return waitUntil(`${count} records`, () => (records.size >= count ? true : null));
}

async function areSumsComplete(daemon: Daemon, { sums }: OtlpReceiver): Promise<boolean> {
  const ledger = await daemon.ledger();
  const total = (name: string) =>
    [...sums].filter(([key]) => key.startsWith(`${name} `)).reduce((sum, [, value]) => sum + value, 0);
  const of = (count: (record: UsageRecord) => number) =>
    ledger.reduce((sum, record) => sum + count(record), 0);
  const expected = of(({ tokens }) => tokens?.input_total ?? 0);
  assert.ok(expected > 0);
  return (
    total("gen_ai.client.inference.usage.input_tokens") === expected &&
    total("gen_ai.client.inference.usage.output_tokens") === of(({ tokens }) => tokens?.output ?? 0) &&
    total("tollkeeper.requests") === ledger.length
  );
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
