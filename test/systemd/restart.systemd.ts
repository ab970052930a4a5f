// A restart under load: systemd keeps the port, the old process finishes what runs, the next one takes what comes.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { after, beforeEach, test, type TestContext } from "node:test";
import { answerJson, MESSAGE_EVENTS, SSE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { clientAgent, Knock, LoadClient, open, type Manner } from "./clients.ts";
import { CONFIG, service, URL } from "./service.ts";
import { until } from "../helpers/async/until.ts";
import { USER } from "./user.ts";

const RESTARTS = 5;
const STREAMS = 50;
const ANSWERS_BETWEEN = 60;
const KEY = `${USER.home}/.keys/example`;
const STREAM = { model: "claude-sonnet-5", max_tokens: 64, stream: true, messages: [] };

const MANNERS: Manner[] = (["127.0.0.1", "::1"] as const).flatMap((host) => [
  { host, keepsAlive: false },
  { host, keepsAlive: true },
]);

beforeEach(() => service.removeAll());
after(() => service.removeAll());

/** The service in front of an upstream of ours which keeps its streams open after the first event. */
async function installBeforeUpstream(t: TestContext): Promise<ServerResponse[]> {
  const held: ServerResponse[] = [];
  const upstream = await startUpstream(t, (seen, res) => {
    if (seen.method === "GET") return answerJson(res, { data: [] });
    res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]);
    held.push(res);
  });
  service.ownFile(KEY, "some-key\n");
  const upstreams = { default: { baseUrl: upstream.baseUrl, keySource: { file: KEY } } };
  service.ownFile(CONFIG, JSON.stringify({ upstreams }));
  await service.done("service", "install");
  return held;
}

/** The clock by which systemd measures, in seconds. */
async function monotonicNow(): Promise<number> {
  return Number((await service.container.user("cat", "/proc/uptime")).stdout.split(" ")[0]);
}

/** Each client has got so many more answers. */
function moreAnswers(clients: readonly LoadClient[]): Promise<true> {
  const goals = clients.map(({ answered }) => answered + ANSWERS_BETWEEN);
  return until(`${ANSWERS_BETWEEN} answers for each client`, () =>
    clients.every(({ answered }, i) => answered >= (goals[i] ?? 0)) ? true : null,
  );
}

test(`${RESTARTS} restarts under load: no request is refused or fails, on both addresses, with and without keep-alive`, async (t) => {
  await service.done("service", "install");
  const clients = MANNERS.map((manner) => new LoadClient(clientAgent(manner), `${URL}/v1/models`));
  t.after(() => Promise.all(clients.map((client) => client.stop())));
  const pids = new Set([await service.pid()]);
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    await moreAnswers(clients);
    // Together more starts in a minute than the unit allows to one that fails.
    await service.done("service", "restart");
    pids.add(await service.pid());
  }
  await moreAnswers(clients);
  await Promise.all(clients.map((client) => client.stop()));
  MANNERS.forEach(({ host, keepsAlive }, i) =>
    t.diagnostic(
      `${host}, ${keepsAlive ? "keep-alive" : "fresh connections"}: ${clients[i]?.answered} answered`,
    ),
  );
  assert.deepEqual(
    clients.flatMap(({ failures }) => failures),
    [],
  );
  assert.equal(pids.size, RESTARTS + 1);
});

test(`a restart under ${STREAMS} running streams: none is cut, each is recorded whole, and a new request waits for the next process`, async (t) => {
  const held = await installBeforeUpstream(t);
  const opening = Array.from({ length: STREAMS }, () => open(clientAgent(), `${URL}/v1/messages`, STREAM));
  const streams = await Promise.all(opening);
  const bodies = Promise.all(streams.map((stream) => text(stream)));
  const old = await service.pid();

  const restarted = service.systemctl("restart", "tollkeeper.service");
  await until("the drain", async () => (await service.property("StatusText")).startsWith("stops") || null);
  const late = new Knock(`${URL}/v1/models`);
  await until("its connection", () => late.isConnected || null);
  assert.equal(await service.pid(), old);
  assert.equal(late.isAnswered, false);

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

test("a drain may take longer than the unit's TimeoutStopSec: systemd is told, and waits", async (t) => {
  const held = await installBeforeUpstream(t);
  await service.override("TimeoutStopSec=1");
  const stream = await open(clientAgent(), `${URL}/v1/messages`, STREAM);
  const body = text(stream);
  const since = await monotonicNow();
  const restarted = service.systemctl("restart", "tollkeeper.service");
  await until("three times that long", async () => (await monotonicNow()) - since > 3 || null);
  held[0]?.end(MESSAGE_EVENTS.slice(1).join(""));
  await restarted;
  assert.equal(await body, MESSAGE_EVENTS.join(""));
});
