// Restarts under load: systemd holds the port, the old process finishes its streams, and the next one takes new requests.
import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { after, beforeEach, test } from "node:test";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { MESSAGE_EVENTS } from "../helpers/upstream/scripted-upstream.ts";
import { ObservedRequest } from "./clients.ts";
import { HeldStreams, installBeforeUpstream, Load, openStream } from "./load.ts";
import { service, URL } from "./service.ts";

const RESTARTS = 5;
const STREAMS = 50;

beforeEach(() => service.removeAll());
after(() => service.removeAll());

/** Returns systemd's clock in seconds. */
async function monotonicNow(): Promise<number> {
  return Number((await service.container.user("cat", "/proc/uptime")).stdout.split(" ")[0]);
}

test(`${RESTARTS} restarts under load refuse or fail no request, on both addresses, with and without keep-alive`, async (t) => {
  await service.mustRun("service", "install");
  const load = new Load(t);
  const pids = new Set([await service.pid()]);
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    await load.waitForMore();
    // In total, more starts per minute than the unit allows for a failing service.
    await service.mustRun("service", "restart");
    pids.add(await service.pid());
  }
  await load.waitForMore();
  await load.stop();
  t.diagnostic(load.describe());
  assert.deepEqual(load.failures, []);
  assert.equal(pids.size, RESTARTS + 1);
});

test(`a restart lets ${STREAMS} running streams finish and records each, while a new request waits for the next process`, async (t) => {
  const streams = await HeldStreams.open(await installBeforeUpstream(t), STREAMS);
  const old = await service.pid();

  const restarted = service.systemctl("restart", "tollkeeper.service");
  await waitUntil(
    "the drain",
    async () => (await service.property("StatusText")).startsWith("stops") || null,
  );
  const late = new ObservedRequest(`${URL}/v1/models`);
  await waitUntil("its connection", () => late.isConnected || null);
  assert.equal(await service.pid(), old);
  assert.equal(late.hasResponse, false);

  streams.end();
  await restarted;
  assert.equal(await late.status, 200);
  assert.notEqual(await service.pid(), old);
  for (const body of await streams.bodies) assert.equal(body, MESSAGE_EVENTS.join(""));
  const records = (await service.ledger()).filter(({ route }) => route === "/messages");
  const endings = records.map(({ outcome, usage, tokens }) => `${outcome}, ${usage}, ${tokens?.output} out`);
  assert.deepEqual(
    endings,
    Array.from({ length: STREAMS }, () => "completed, final, 2 out"),
  );
});

test("systemd waits for a drain that takes longer than TimeoutStopSec, because the daemon requests more time", async (t) => {
  const held = await installBeforeUpstream(t);
  await service.override("TimeoutStopSec=1");
  const body = text(await openStream());
  const since = await monotonicNow();
  const restarted = service.systemctl("restart", "tollkeeper.service");
  await waitUntil("three times that long", async () => (await monotonicNow()) - since > 3 || null);
  held[0]?.end(MESSAGE_EVENTS.slice(1).join(""));
  await restarted;
  assert.equal(await body, MESSAGE_EVENTS.join(""));
});
