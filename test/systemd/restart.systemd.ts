// Restarts under load: systemd holds the port, the old process finishes its streams, and the next one takes new requests.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { after, beforeEach, test, type TestContext } from "node:test";
import { sendJson, MESSAGE_EVENTS, SSE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { createAgent, ObservedRequest, LoadClient, openResponse, type ClientOptions } from "./clients.ts";
import { CONFIG, service, URL } from "./service.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { SERVICE_USER } from "./service-user.ts";

const RESTARTS = 5;
const STREAMS = 50;
const RESPONSES_BETWEEN = 60;
const KEY = `${SERVICE_USER.home}/.keys/example`;
const STREAM = { model: "claude-sonnet-5", max_tokens: 64, stream: true, messages: [] };

const CLIENTS: ClientOptions[] = (["127.0.0.1", "::1"] as const).flatMap((host) => [
  { host, keepsAlive: false },
  { host, keepsAlive: true },
]);

beforeEach(() => service.removeAll());
after(() => service.removeAll());

/** Installs the service before an upstream that keeps its streams open after the first event. */
async function installBeforeUpstream(t: TestContext): Promise<ServerResponse[]> {
  const held: ServerResponse[] = [];
  const upstream = await startUpstream(t, (seen, res) => {
    if (seen.method === "GET") return sendJson(res, { data: [] });
    res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]);
    held.push(res);
  });
  service.ownFile(KEY, "some-key\n");
  const upstreams = { default: { baseUrl: upstream.baseUrl, keySource: { file: KEY } } };
  service.ownFile(CONFIG, JSON.stringify({ upstreams }));
  await service.mustRun("service", "install");
  return held;
}

/** Returns systemd's clock in seconds. */
async function monotonicNow(): Promise<number> {
  return Number((await service.container.user("cat", "/proc/uptime")).stdout.split(" ")[0]);
}

/** Waits until each client has received another {@link RESPONSES_BETWEEN} responses. */
function waitForMoreResponses(clients: readonly LoadClient[]): Promise<true> {
  const goals = clients.map(({ responseCount }) => responseCount + RESPONSES_BETWEEN);
  return waitUntil(`${RESPONSES_BETWEEN} responses for each client`, () =>
    clients.every(({ responseCount }, i) => responseCount >= (goals[i] ?? 0)) ? true : null,
  );
}

test(`${RESTARTS} restarts under load refuse or fail no request, on both addresses, with and without keep-alive`, async (t) => {
  await service.mustRun("service", "install");
  const clients = CLIENTS.map((options) => new LoadClient(createAgent(options), `${URL}/v1/models`));
  t.after(() => Promise.all(clients.map((client) => client.stop())));
  const pids = new Set([await service.pid()]);
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    await waitForMoreResponses(clients);
    // In total, more starts per minute than the unit allows for a failing service.
    await service.mustRun("service", "restart");
    pids.add(await service.pid());
  }
  await waitForMoreResponses(clients);
  await Promise.all(clients.map((client) => client.stop()));
  CLIENTS.forEach(({ host, keepsAlive }, i) =>
    t.diagnostic(
      `${host}, ${keepsAlive ? "keep-alive" : "fresh connections"}: ${clients[i]?.responseCount} responses`,
    ),
  );
  assert.deepEqual(
    clients.flatMap(({ failures }) => failures),
    [],
  );
  assert.equal(pids.size, RESTARTS + 1);
});

test(`a restart lets ${STREAMS} running streams finish and records each, while a new request waits for the next process`, async (t) => {
  const held = await installBeforeUpstream(t);
  const opening = Array.from({ length: STREAMS }, () =>
    openResponse(createAgent(), `${URL}/v1/messages`, STREAM),
  );
  const streams = await Promise.all(opening);
  const bodies = Promise.all(streams.map((stream) => text(stream)));
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

  for (const res of held) res.end(MESSAGE_EVENTS.slice(1).join(""));
  await restarted;
  assert.equal(await late.status, 200);
  assert.notEqual(await service.pid(), old);
  for (const body of await bodies) assert.equal(body, MESSAGE_EVENTS.join(""));
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
  const stream = await openResponse(createAgent(), `${URL}/v1/messages`, STREAM);
  const body = text(stream);
  const since = await monotonicNow();
  const restarted = service.systemctl("restart", "tollkeeper.service");
  await waitUntil("three times that long", async () => (await monotonicNow()) - since > 3 || null);
  held[0]?.end(MESSAGE_EVENTS.slice(1).join(""));
  await restarted;
  assert.equal(await body, MESSAGE_EVENTS.join(""));
});
