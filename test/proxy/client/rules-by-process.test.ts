// A rule for a tool that is known by its process only, or for a project: the request waits for the look, and no other does.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { UNKNOWN_OWNER } from "../../../src/adapters/peer/unknown-owner.ts";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { refusePaused } from "../../../src/core/refusals/policy.ts";
import type { Pauses, PeerInfo, PeerProcess } from "../../../src/ports.ts";
import { holdTime, passTimeUntil } from "../../helpers/async/hold-time.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { post } from "../../helpers/gate/gate.ts";
import { RecordingBudgets } from "../../helpers/gate/recording-budgets.ts";
import { respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };
const NIGHTLY: PeerProcess = {
  record: { pid: 4_711, executable: "/usr/bin/node", parents: [] },
  name: { tool: "nightly", isProgramName: true },
};

const PAUSED = refusePaused({ kind: "tool", name: "nightly", since: "2026-11-23T16:44:00.000Z" });

/** Each connection is a new process. Nothing is known of it until `find` is called, and a request had time not to wait for it. */
function unknownPeers(project: string | null = null) {
  const { promise: asked, resolve: ask } = withResolvers<null>();
  const { promise: found, resolve } = withResolvers<PeerProcess | null>();
  const peers: PeerInfo = {
    lookUp: () =>
      Promise.resolve({
        ...UNKNOWN_OWNER,
        findProcess: () => {
          ask(null);
          return found;
        },
        findProject: () => afterTheOthers().then(() => project),
      }),
  };
  const find = (process: PeerProcess | null) =>
    void asked
      .then(() => nextTurn())
      .then(() => nextTurn())
      .then(() => resolve(process));
  return { peers, find };
}

/** Resolves when a request that does not wait is at the upstream. What passes does not depend on it: one that waits does so for longer. */
async function afterTheOthers(): Promise<void> {
  const until = performance.now() + 50;
  while (performance.now() < until) await nextTurn();
}

interface Setup {
  file?: object;
  project?: string;
  pauses?: Pauses;
  /** Instead of processes of which nothing is known. */
  peers?: PeerInfo;
}

/** A gate with these rules. `send` uses a connection of its own for each request. */
async function start(t: TestContext, { file = {}, project, pauses, peers }: Setup) {
  const unknown = unknownPeers(project);
  const budgets = new RecordingBudgets();
  const ledger = { ...defaultConfig.ledger, project: project !== undefined };
  const { gate, upstream } = await startGateWithUpstream(t, respondWithMessage, {
    peers: peers ?? unknown.peers,
    budgets,
    config: { ...rulesForTools(file), ledger },
    ...(pauses !== undefined && { pauses }),
  });
  const send = async (path = "/v1/messages") => {
    const response = await post(gate, path, BODY, { connection: "close" });
    await response.text();
    return response.headers.get("x-tollkeeper-refusal") ?? response.status;
  };
  return { gate, upstream, budgets, find: unknown.find, send };
}

test("a brake for a tool that only its process names holds from the first request of each process", async (t) => {
  const { gate, upstream, find, send } = await start(t, {
    file: { tools: { nightly: { brake: { requestsPerMinute: 1 } } } },
  });
  const first = send();
  find(NIGHTLY);
  assert.deepEqual([await first, await send(), await send()], [200, "braked", "braked"]);
  assert.equal(upstream.seen.length, 1);
  const { tool, tool_by } = gate.ledger.records[0] ?? {};
  assert.deepEqual([tool, tool_by], ["nightly", "process"]);
});

test("a request waits for the name of a process that is known already: that of a script is read later", async (t) => {
  const process: PeerProcess = { record: NIGHTLY.record, name: null };
  const { promise: named, resolve } = withResolvers<PeerProcess>();
  const readName = () => {
    process.name = NIGHTLY.name;
    resolve(process);
  };
  const recallProcess = () => {
    setImmediate(readName);
    return process;
  };
  const peers: PeerInfo = {
    lookUp: () => Promise.resolve({ ...UNKNOWN_OWNER, findProcess: () => named, recallProcess }),
  };
  const { send } = await start(t, {
    file: { tools: { nightly: { brake: { requestsPerMinute: 1 } } } },
    peers,
  });
  assert.deepEqual([await send(), await send()], [200, "braked"]);
});

test("a pause of a tool that only its process names holds, and ends with the pause", async (t) => {
  let isPaused = true;
  const pauses: Pauses = {
    get namesTools() {
      return isPaused;
    },
    judge: (tool) => (isPaused && tool === "nightly" ? PAUSED : null),
  };
  const { find, send } = await start(t, { pauses });
  find(NIGHTLY);
  assert.equal(await send(), "paused");
  isPaused = false;
  assert.equal(await send(), 200);
});

test("a project's budget is asked about the project of each process", async (t) => {
  const { budgets, find, send } = await start(t, {
    file: { projects: { "/code/shop": { budgets: [{ usd: 1, per: "day" }] } } },
    project: "/code/shop",
  });
  const sent = [send(), send()];
  find(NIGHTLY);
  assert.deepEqual(await Promise.all(sent), [200, 200]);
  assert.deepEqual(
    budgets.asked.map(({ project }) => project),
    ["/code/shop", "/code/shop"],
  );
});

for (const [what, file, path] of [
  ["no rule names a tool", {}, "/v1/messages"],
  ["the rules are for all tools", { tools: { "*": { group: "all" } }, groups: { all: {} } }, "/v1/messages"],
  [
    "its path names its tool",
    { tools: { nightly: { group: "all" } }, groups: { all: {} } },
    "/t/pi/v1/messages",
  ],
] as const) {
  test(`a request does not wait for its process where ${what}`, async (t) => {
    const { send, find } = await start(t, { file });
    assert.equal(await send(path), 200);
    find(null);
  });
}

test("a process that cannot be found keeps no request waiting for ever", async (t) => {
  const pass = holdTime(t);
  const { gate, send } = await start(t, {
    file: { tools: { nightly: { group: "all" } }, groups: { all: {} } },
  });
  const sent = send();
  await passTimeUntil(sent, () => pass(100));
  assert.equal(await sent, 200);
  assert.equal(gate.ledger.records[0]?.tool, "unknown");
});
