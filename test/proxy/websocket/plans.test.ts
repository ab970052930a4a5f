// A plan's WebSocket is judged, recorded and ended as one for a key is: its records and limits are the plan's, and nothing changes its messages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DaemonLimits } from "../../../src/daemon/limits.ts";
import type { Refusal } from "../../../src/core/refusals/refusal.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { isTerminal, openSocket, refusedSocket } from "../../helpers/client/websocket.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import {
  CHATGPT_HEADERS,
  CHATGPT_PAYER,
  startGateBefore,
  startGateWithPlanSockets,
} from "../../helpers/gate/gate-with-plans.ts";
import { CREATE } from "../../helpers/gate/gate-with-websocket.ts";
import { MemoryLog, realClock } from "../../helpers/gate/memory.ts";
import { begin, complete, respond, startUpgradeUpstream } from "../../helpers/upstream/websocket-upstream.ts";

const CLIENT = { path: "/t/codex/plan/v1/responses", headers: CHATGPT_HEADERS };
const LIMIT = { timeout: 300_000 };

test("each response on a plan's WebSocket leaves one record of the plan, with the session of its message", async (t) => {
  const { gate } = await startGateWithPlanSockets(t);
  const client = await openSocket(t, gate, CLIENT);
  for (const session of ["one", "two"]) {
    client.send({ ...CREATE, client_metadata: { session_id: session } });
    await client.until(isTerminal);
  }
  assert.deepEqual(
    (await gate.ledger.first(2)).map(({ upstream, key, session, tokens }) => [
      upstream,
      key,
      session,
      tokens?.input_total,
    ]),
    [
      ["plan:chatgpt", CHATGPT_PAYER, "one", 10],
      ["plan:chatgpt", CHATGPT_PAYER, "two", 10],
    ],
  );
});

test("an alias neither changes a plan's messages nor keeps a WebSocket from it, and neither does what upstreams are configured", async (t) => {
  const { gate, service, upstream } = await startGateWithPlanSockets(t, {
    config: { aliases: { "gpt-5.5": "another-model" } },
    upstream: { websocket: false, models: ["claude-*"], headers: { "openai-organization": "org" } },
  });
  const client = await openSocket(t, gate, CLIENT);
  client.send(CREATE);
  await client.until(isTerminal);
  assert.deepEqual(service.messages, [CREATE]);
  assert.ok(!("openai-organization" in (service.handshakes[0]?.headers ?? {})));
  assert.equal(upstream.handshakes.length, 0);
});

test("a group's models hold for a plan's messages, and a brake refuses with status 400, at which Codex stops", async (t) => {
  const config = rulesForTools({
    tools: { codex: { group: "small", brake: { requestsPerMinute: 1 } } },
    groups: { small: { models: ["gpt-5.5"] } },
  });
  const { gate, service } = await startGateWithPlanSockets(t, { config });
  const client = await openSocket(t, gate, CLIENT);
  const ask = async (model: string) => {
    client.send({ ...CREATE, model });
    const { type, status, error } = await client.until(isTerminal);
    return [type, status, error?.code];
  };
  assert.deepEqual(await ask("gpt-6.2-sol"), ["error", 400, "model_not_allowed"]);
  assert.deepEqual(await ask("gpt-5.5"), ["response.completed", undefined, undefined]);
  assert.deepEqual(await ask("gpt-5.5"), ["error", 400, "plan_throttled"]);
  assert.match(client.events.at(-1)?.error?.message ?? "", /The next may go in/);
  assert.equal(service.messages.length, 1);
  assert.deepEqual(
    (await gate.ledger.first(3)).map(({ upstream, outcome, status }) => [upstream, outcome, status]),
    [
      ["plan:chatgpt", "rejected", 400],
      ["plan:chatgpt", "completed", 101],
      ["plan:chatgpt", "rejected", 400],
    ],
  );
});

test("a pause refuses the handshake of a plan's WebSocket, and each message on one that is open", async (t) => {
  let paused: Refusal | null = null;
  const pauses = { judge: () => paused, namesTools: false };
  const { gate, service } = await startGateWithPlanSockets(t, { pauses });
  const client = await openSocket(t, gate, CLIENT);
  paused = { code: "paused", problem: "the tool is paused", command: "tollkeeper resume" };
  client.send(CREATE);
  const { status, error } = await client.until(isTerminal);
  assert.deepEqual([status, error?.code], [400, "paused"]);
  assert.equal((await refusedSocket(gate, CLIENT)).headers["x-tollkeeper-refusal"], "paused");
  assert.deepEqual([service.handshakes.length, service.messages.length], [1, 0]);
});

test("limits are read from the handshake and the events of a plan's WebSocket, for the plan's account", async (t) => {
  const limits = new DaemonLimits({ path: "", clock: realClock, log: new MemoryLog(), warn: () => {} });
  const known = () =>
    limits
      .describe()
      .map(({ account, windows }) => [
        account,
        ...windows.map(({ window, usedPercent }) => `${window} ${usedPercent}`),
      ]);
  const { gate } = await startGateWithPlanSockets(t, {
    limits,
    headers: { "x-codex-primary-used-percent": "40", "x-codex-primary-window-minutes": "300" },
    onMessage(socket, message) {
      const primary = { used_percent: 62.5, window_minutes: 300, reset_after_seconds: 600 };
      const secondary = { used_percent: 12, window_minutes: 10080, reset_after_seconds: 6000 };
      socket.send(JSON.stringify({ type: "codex.rate_limits", rate_limits: { primary, secondary } }));
      respond(socket, message);
    },
  });
  const client = await openSocket(t, gate, CLIENT);
  assert.deepEqual(known(), [[CHATGPT_PAYER, "5h 40"]]);
  client.send(CREATE);
  await client.until(isTerminal);
  assert.deepEqual(known(), [[CHATGPT_PAYER, "5h 62.5", "7d 12"]]);
});

test("a service without a WebSocket gives 426, at which Codex uses POST, and is not asked again for a while", async (t) => {
  const service = await startUpgradeUpstream(t, (socket) =>
    socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"),
  );
  const { gate } = await startGateBefore(t, service, service);
  for (let i = 0; i < 2; i += 1) assert.equal((await refusedSocket(gate, CLIENT)).status, 426);
  assert.equal(service.handshakes.length, 1);
});

test(
  "draining closes a plan's WebSocket after the response that runs, and a crash would leave its note",
  LIMIT,
  async (t) => {
    let end: (() => void) | null = null;
    const { gate } = await startGateWithPlanSockets(t, {
      onMessage(socket, message) {
        const response = begin(socket, message);
        end = () => complete(socket, message, response);
      },
    });
    const client = await openSocket(t, gate, CLIENT);
    client.send(CREATE);
    await client.until(({ type }) => type === "response.created");
    const note = await waitUntil("a note", () => gate.ledger.notes[0] ?? null);
    assert.deepEqual([note.upstream, note.route, note.outcome], ["plan:chatgpt", "/responses", "cut"]);
    const drained = gate.gate.drain();
    (end as (() => void) | null)?.();
    assert.equal((await client.until(isTerminal)).type, "response.completed");
    assert.equal((await client.closed).code, 1012);
    await drained;
    assert.equal(gate.ledger.records.length, 1);
  },
);

test("a cut ends a plan's WebSocket at once, and its response is recorded as cut", LIMIT, async (t) => {
  const { gate } = await startGateWithPlanSockets(t, {
    onMessage: (socket, message) => void begin(socket, message),
  });
  const client = await openSocket(t, gate, CLIENT);
  client.send(CREATE);
  await client.until(({ type }) => type === "response.created");
  assert.equal(
    gate.gate.cut((tool) => tool === "codex"),
    1,
  );
  assert.equal((await client.closed).code, 1006);
  const [record] = await gate.ledger.first(1);
  assert.deepEqual([record?.upstream, record?.outcome, record?.cut_by], ["plan:chatgpt", "cut", "proxy"]);
});
