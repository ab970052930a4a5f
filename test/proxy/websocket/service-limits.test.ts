// What a service says of its limits, in the handshake and in the event `codex.rate_limits` (docs/wire.md section 10).
import assert from "node:assert/strict";
import { test } from "node:test";
import { DaemonLimits } from "../../../src/daemon/limits.ts";
import { CREATE, openThroughGate } from "../../helpers/gate/gate-with-websocket.ts";
import { MemoryLog, realClock } from "../../helpers/gate/memory.ts";
import { respond } from "../../helpers/upstream/websocket-upstream.ts";

const EVENT = {
  type: "codex.rate_limits",
  plan_type: "plus",
  rate_limits: {
    primary: { used_percent: 62.5, window_minutes: 300, reset_after_seconds: 600, reset_at: null },
    secondary: { used_percent: 0, window_minutes: 0, reset_at: "" },
  },
};

test("limits are read from the handshake and from events, which pass to the client", async (t) => {
  const limits = new DaemonLimits({ path: "", clock: realClock, log: new MemoryLog(), warn: () => {} });
  const known = () =>
    limits
      .describe()
      .map(({ account, windows }) => [
        account,
        ...windows.map(({ window, usedPercent }) => `${window} ${usedPercent}`),
      ]);
  const { client } = await openThroughGate(t, {
    limits,
    headers: { "x-ratelimit-limit-requests": "100", "x-ratelimit-remaining-requests": "90" },
    onMessage(socket, message) {
      socket.send(JSON.stringify(EVENT));
      respond(socket, message);
    },
  });
  assert.deepEqual(known(), [["default", "requests 10"]]);
  client.send(CREATE);
  assert.deepEqual(await client.until(({ type }) => type === "codex.rate_limits"), EVENT);
  await client.until(({ type }) => type === "response.completed");
  assert.deepEqual(known(), [["default", "5h 62.5", "requests 10"]]);
});
