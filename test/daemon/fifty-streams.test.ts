import assert from "node:assert/strict";
import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { expectWhole, holdStreams } from "../helpers/client/many-streams.ts";

const COUNT = 50;
const LIMIT = { timeout: 60_000 };

async function startStreams(t: TestContext) {
  const streams = await holdStreams(t);
  const daemon = await startDaemon(t, { config: streams.config });
  const clients = await streams.open(daemon.port, COUNT);
  const edit = (config: object, port = daemon.port) =>
    writeFileSync(daemon.configFile, JSON.stringify({ ...streams.config, ...config, listen: { port } }));
  return { streams, daemon, clients, edit };
}

/** Every record is there, and says that its answer was whole. */
async function expectComplete(daemon: Daemon, count: number): Promise<void> {
  const records = await daemon.ledger();
  assert.equal(records.length, count);
  for (const { outcome, usage, tokens, cut_by: cutBy } of records) {
    assert.deepEqual([outcome, usage, tokens?.output, cutBy], ["completed", "final", 2, null]);
  }
}

/** Each way by which a configuration file is changed, to say what `text` says. */
const WAYS: Record<string, (file: string, text: string) => void> = {
  "an edit in place": (file, text) => writeFileSync(file, text),
  "an editor's replacing": (file, text) => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  },
  "deleting and making it again": (file, text) => {
    rmSync(file);
    writeFileSync(file, text);
  },
  "a link put in its place": (file, text) => {
    writeFileSync(`${file}.target`, text);
    symlinkSync(`${file}.target`, `${file}.link`);
    renameSync(`${file}.link`, file);
  },
  "ten saves at once": (file, text) => {
    rmSync(file);
    for (let save = 9; save > 0; save -= 1) writeFileSync(file, text.slice(save));
    writeFileSync(file, text);
  },
};

test(
  "50 streams run through every kind of reload: none is cut, every record is complete",
  LIMIT,
  async (t) => {
    const { streams, daemon, clients } = await startStreams(t);
    const textOf = (drainMs: number) =>
      JSON.stringify({ ...streams.config, limits: { drainMs }, listen: { port: daemon.port } });
    const inForce = (times: number) =>
      daemon.until(new RegExp(`(?:"msg":"the new configuration is in force"[^]*){${times}}`));
    let changes = 0;
    for (const change of Object.values(WAYS)) {
      changes += 1;
      change(daemon.configFile, textOf(changes));
      await inForce(changes);
    }
    writeFileSync(daemon.configFile, '{ "listen": ');
    await daemon.until(/is not accepted, the old one stays/);
    writeFileSync(daemon.configFile, textOf(20_000));
    await inForce(changes + 1);
    process.kill(daemon.pid, "SIGHUP");
    await daemon.until(/"msg":"keys are forgotten/);
    streams.finish();
    await expectWhole(clients);
    await expectComplete(daemon, COUNT);
  },
);

test("50 streams run through a change of port, and new ones go to the new port", LIMIT, async (t) => {
  const { streams, daemon, clients, edit } = await startStreams(t);
  const port = await freePort();
  edit({}, port);
  await daemon.until(/"msg":"moved to another port"/);
  const more = await streams.open(port, COUNT);
  streams.finish();
  await expectWhole([...clients, ...more]);
  await expectComplete(daemon, 2 * COUNT);
});

test("50 streams run through a stop: it waits for each of them", LIMIT, async (t) => {
  const { streams, daemon, clients } = await startStreams(t);
  process.kill(daemon.pid, "SIGTERM");
  await daemon.until(/"open":50,"msg":"stopping/);
  streams.finish();
  await expectWhole(clients);
  assert.equal(await daemon.ended, 0);
  await expectComplete(daemon, COUNT);
});

test("50 streams that outlive the drain limit are cut, and each record says by whom", LIMIT, async (t) => {
  const streams = await holdStreams(t);
  const daemon = await startDaemon(t, { config: { ...streams.config, limits: { drainMs: 100 } } });
  await streams.open(daemon.port, COUNT);
  assert.equal(await daemon.stop(), 0);
  const records = await daemon.ledger();
  assert.equal(records.length, COUNT);
  for (const { outcome, cut_by: cutBy, usage } of records) {
    assert.deepEqual([outcome, cutBy, usage], ["cut", "proxy", "partial"]);
  }
});
