import assert from "node:assert/strict";
import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { assertComplete, holdStreams } from "../helpers/client/many-streams.ts";
import { editConfig, IN_FORCE, MOVED, NOT_ACCEPTED } from "./config-edits.ts";

const COUNT = 50;
const LIMIT = { timeout: 300_000 };

/** A daemon through which {@link COUNT} streams run. */
async function startStreams(t: TestContext, settings: object = {}) {
  const streams = await holdStreams(t);
  const daemon = await startDaemon(t, { config: { ...streams.config, ...settings } });
  const clients = await streams.open(daemon.port, COUNT);
  return { streams, daemon, clients };
}

/** Asserts that the ledger has `count` records, each of a completed response. */
async function assertRecordedAsCompleted(daemon: Daemon, count: number): Promise<void> {
  const records = await daemon.ledger();
  assert.equal(records.length, count);
  for (const { outcome, usage, tokens, cut_by: cutBy } of records) {
    assert.deepEqual([outcome, usage, tokens?.output, cutBy], ["completed", "final", 2, null]);
  }
}

/** The ways in which editors and people change a file. Each gives `file` the content `text`. */
const WRITERS: ((file: string, text: string) => void)[] = [
  function writeInPlace(file, text) {
    writeFileSync(file, text);
  },
  function replaceByRename(file, text) {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  },
  function deleteAndCreate(file, text) {
    rmSync(file);
    writeFileSync(file, text);
  },
  function replaceByLink(file, text) {
    writeFileSync(`${file}.target`, text);
    symlinkSync(`${file}.target`, `${file}.link`);
    renameSync(`${file}.link`, file);
  },
  function saveTenTimes(file, text) {
    rmSync(file);
    for (let save = 9; save > 0; save -= 1) writeFileSync(file, text.slice(save));
    writeFileSync(file, text);
  },
];

test(
  "50 streams complete and are recorded although the configuration is reloaded in every way",
  LIMIT,
  async (t) => {
    const { streams, daemon, clients } = await startStreams(t);
    const textOf = (drainMs: number) =>
      JSON.stringify({ ...streams.config, limits: { drainMs }, listen: { port: daemon.port } });
    const waitForChange = (times: number) =>
      daemon.waitForOutput(new RegExp(`(?:${IN_FORCE.source}[^]*){${times}}`));
    let changes = 0;
    for (const write of WRITERS) {
      changes += 1;
      write(daemon.configFile, textOf(changes));
      await waitForChange(changes);
    }
    writeFileSync(daemon.configFile, '{ "listen": ');
    await daemon.waitForOutput(NOT_ACCEPTED);
    writeFileSync(daemon.configFile, textOf(20_000));
    await waitForChange(changes + 1);
    process.kill(daemon.pid, "SIGHUP");
    await daemon.waitForOutput(/"msg":"reloaded configuration and keys/);
    streams.finish();
    await assertComplete(clients);
    await assertRecordedAsCompleted(daemon, COUNT);
  },
);

test(
  "50 streams complete although the port changes, and 50 new ones run through the new port",
  LIMIT,
  async (t) => {
    const { streams, daemon, clients } = await startStreams(t);
    const port = await freePort();
    editConfig({ ...daemon, port }, streams.config);
    await daemon.waitForOutput(MOVED);
    const more = await streams.open(port, COUNT);
    streams.finish();
    await assertComplete([...clients, ...more]);
    await assertRecordedAsCompleted(daemon, 2 * COUNT);
  },
);

test("a stop waits until 50 streams have completed", LIMIT, async (t) => {
  const { streams, daemon, clients } = await startStreams(t);
  process.kill(daemon.pid, "SIGTERM");
  await daemon.waitForOutput(/"open":50,"msg":"stopping/);
  streams.finish();
  await assertComplete(clients);
  assert.equal(await daemon.ended, 0);
  await assertRecordedAsCompleted(daemon, COUNT);
});

test(
  "50 streams that outlive the drain limit are cut, and each is recorded as cut by the proxy",
  LIMIT,
  async (t) => {
    const { daemon } = await startStreams(t, { limits: { drainMs: 100 } });
    assert.equal(await daemon.stop(), 0);
    const records = await daemon.ledger();
    assert.equal(records.length, COUNT);
    for (const { outcome, cut_by: cutBy, usage } of records) {
      assert.deepEqual([outcome, cutBy, usage], ["cut", "proxy", "partial"]);
    }
  },
);
