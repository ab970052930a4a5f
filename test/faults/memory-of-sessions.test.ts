// What the daemon remembers of conversations, to say why a cache was missed, is bounded and small: 200 sessions with agents.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Daemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { sendJson, MESSAGE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { cannotMeasureMemory, measureGrowth } from "./measure-memory.ts";

const MIB = 1024 * 1024;
const SESSIONS = 200;
/** The main one and two others. */
const AGENTS = [null, "a1", "a2"];
const TURNS = 3;
const MESSAGES = 100;

/** Measured: see docs/performance.md. */
const MOST_MIB = 16;

/** Sends each turn of each agent of each session, eight at a time. */
async function sendAll(
  daemon: Daemon,
  headersOf: (session: string, agent: string | null) => object,
): Promise<void> {
  const sends = Array.from({ length: SESSIONS }, (_, at) =>
    AGENTS.map((agent) => [`session-${at}`, agent] as const),
  ).flat();
  const next = sends.values();
  const work = async () => {
    for (const [session, agent] of next)
      for (let turn = 0; turn < TURNS; turn += 1) {
        const messages = Array.from({ length: MESSAGES + 2 * turn }, (_, at) => ({
          role: at % 2 === 0 ? "user" : "assistant",
          content: `${session} ${agent} ${at} ${"x".repeat(200)}`,
        }));
        const body = { model: "claude-sonnet-5", max_tokens: 5, system: "You are an agent.", messages };
        const headers = { "user-agent": "claude-cli/2.1.332", ...headersOf(session, agent) };
        await (await post(daemon, "/v1/messages", body, headers)).text();
      }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

test(
  `${SESSIONS} sessions with agents take at most ${MOST_MIB} MiB more than as many requests without a session`,
  { skip: cannotMeasureMemory },
  async (t) => {
    const { baseUrl } = await startUpstream(t, (_seen, res) => sendJson(res, MESSAGE));
    const grown = await measureGrowth(
      t,
      { baseUrl },
      (daemon) => sendAll(daemon, () => ({})),
      async (daemon) => {
        await sendAll(daemon, (session, agent) => ({
          "x-claude-code-session-id": session,
          ...(agent !== null && { "x-claude-code-agent-id": `${session}-${agent}` }),
        }));
        const agents = (await daemon.ledger()).filter(({ session }) => session !== null);
        assert.equal(
          new Set(agents.map(({ session, agent }) => `${session} ${agent}`)).size,
          SESSIONS * AGENTS.length,
        );
      },
    );
    assert.ok(grown < MOST_MIB * MIB, `${Math.round(grown / MIB)} MiB`);
  },
);
