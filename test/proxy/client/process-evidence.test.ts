import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import { defaultConfig } from "../../../src/core/config/config.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { UNKNOWN_OWNER } from "../../../src/adapters/peer/unknown-owner.ts";
import type { PeerInfo, PeerOwner, PeerProcess } from "../../../src/ports.ts";
import { PROCESS_SIGNATURES } from "../../../src/tools/all.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { rawRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { post } from "../../helpers/gate/gate.ts";
import { peersOf } from "../../helpers/gate/memory.ts";
import { createFakeTools, startTool, type ToolProcess } from "../../helpers/process/tool-process.ts";
import { MESSAGE, respondWithMessage, sendJson } from "../../helpers/upstream/scripted-upstream.ts";

const notLinux = process.platform !== "linux" && "needs Linux: only there are processes looked for in /proc";

/** Calls `onFound` after each finished search for a process, with the number of searches that have finished. */
function countSearches(peers: PeerInfo, onFound: (count: number) => void): PeerInfo {
  let count = 0;
  return {
    async lookUp(...ends) {
      const owner = await peers.lookUp(...ends);
      return {
        ...owner,
        async findProcess(query) {
          const found = await owner.findProcess(query);
          // Later, so that the gate has taken the result.
          setImmediate(() => onFound((count += 1)));
          return found;
        },
      };
    },
  };
}

/** A gate whose upstream holds its responses until they are released. `allFound` resolves after `connections` searches. */
async function startHoldingGate(t: TestContext, connections: number) {
  const held: ServerResponse[] = [];
  let isReleased = false;
  const { promise: allFound, resolve: onAllFound } = withResolvers<void>();
  const peers = countSearches(createPeerInfo(PROCESS_SIGNATURES), (count) => {
    if (count === connections) onAllFound();
  });
  const { gate } = await startGateWithUpstream(
    t,
    (_seen, res) => {
      if (isReleased) sendJson(res, MESSAGE);
      else held.push(res);
    },
    { peers },
  );
  const release = () => {
    isReleased = true;
    for (const res of held) sendJson(res, MESSAGE);
  };
  return { gate, allFound, release };
}

/** The client that a record names. */
function clientOf({ tool, tool_by, process: client }: UsageRecord) {
  return { tool, tool_by, pid: client?.pid, executable: client?.executable };
}

function expectedClient({ tool, pid, executable }: ToolProcess) {
  return { tool, tool_by: "process", pid, executable };
}

test(
  "thirty requests of ten concurrent processes, on kept and fresh connections, are each recorded with their own tool and process",
  { skip: notLinux, timeout: 300_000 },
  async (t) => {
    const kinds = createFakeTools(t);
    const { gate, allFound, release } = await startHoldingGate(t, 20);
    const start = (i: number) => startTool(t, kinds[i % 3] ?? kinds[0], gate.url);
    const tools = await Promise.all(Array.from({ length: 10 }, (_, i) => start(i)));
    const concurrent = tools.flatMap((tool, i) => [
      tool.send("fresh", `${i}-0`),
      tool.send("kept", `${i}-1`),
    ]);
    await allFound;
    release();
    await Promise.all(concurrent);
    // The process of the kept connections is known by now.
    await Promise.all(tools.map((tool, i) => tool.send("kept", `${i}-2`)));
    assert.equal(gate.ledger.records.length, 30);
    for (const record of gate.ledger.records) {
      const tool = tools[Number(record.session?.split("-")[0])];
      assert.ok(tool !== undefined);
      assert.deepEqual(clientOf(record), expectedClient(tool), record.session ?? "");
    }
  },
);

/** A system that reports the owner of a connection at once, and its process and project when the test says. */
function createSlowSystem() {
  const { promise: found, resolve: reportProcess } = withResolvers<PeerProcess>();
  const { promise: project, resolve: reportProject } = withResolvers<string>();
  const owner: PeerOwner = { ...UNKNOWN_OWNER, findProcess: () => found, findProject: () => project };
  const peers: PeerInfo = { lookUp: async () => owner };
  return { peers, reportProcess, reportProject };
}

const CLAUDE: PeerProcess = {
  record: { pid: 4711, executable: "/usr/bin/claude", parents: ["zsh", "kitty"] },
  name: { tool: "claude-code", isProgramName: false },
};

const WITH_PROJECT = { ledger: { ...defaultConfig.ledger, project: true } };

test("a request does not wait for its process or project to be found, and its record has what is known at its end", async (t) => {
  const { peers, reportProcess, reportProject } = createSlowSystem();
  const { gate } = await startGateWithUpstream(t, respondWithMessage, { peers, config: WITH_PROJECT });
  const ask = async () => (await post(gate, "/v1/messages", {}, { "user-agent": "x" })).text();
  await ask();
  reportProcess(CLAUDE);
  await ask();
  reportProject("/home/u/project");
  await ask();
  assert.deepEqual(
    gate.ledger.records.map((record) => ({
      tool: record.tool,
      tool_by: record.tool_by,
      process: record.process,
      project: record.project,
    })),
    [
      { tool: "unknown", tool_by: "unknown", process: null, project: null },
      { tool: "claude-code", tool_by: "process", process: CLAUDE.record, project: null },
      { tool: "claude-code", tool_by: "process", process: CLAUDE.record, project: "/home/u/project" },
    ],
  );
});

test("each request on a connection has the branch of its time, and no request waits for it", async (t) => {
  let branch: Promise<string | null> = Promise.resolve("main");
  const owner: PeerOwner = {
    ...UNKNOWN_OWNER,
    findProcess: () => Promise.resolve(CLAUDE),
    findProject: () => Promise.resolve("/home/u/project"),
    readBranch: (root) => branch.then((name) => `${name} of ${root}`),
  };
  const { gate } = await startGateWithUpstream(t, respondWithMessage, {
    peers: { lookUp: async () => owner },
    config: WITH_PROJECT,
  });
  const ask = async () => (await post(gate, "/v1/messages", {}, { "user-agent": "x" })).text();
  await ask();
  branch = Promise.resolve("feature");
  await ask();
  branch = new Promise(() => {});
  await ask();
  assert.deepEqual(
    gate.ledger.records.map(({ branch: recorded }) => recorded),
    ["main of /home/u/project", "feature of /home/u/project", null],
  );
});

test("a process that is found while the response is under way is in the record", async (t) => {
  const { promise: received, resolve: onReceived } = withResolvers<ServerResponse>();
  const { peers, reportProcess } = createSlowSystem();
  const { gate } = await startGateWithUpstream(t, (_seen, res) => onReceived(res), { peers });
  const response = post(gate, "/v1/messages", {}, { "user-agent": "curl/8.5.0" });
  const res = await received;
  reportProcess(CLAUDE);
  sendJson(res, MESSAGE);
  await (await response).text();
  const record = await gate.ledger.only();
  assert.deepEqual([record.tool, record.tool_by, record.process], ["claude-code", "process", CLAUDE.record]);
});

/** A system that knows the process and its project from other connections, and still searches for this one's. */
function createSystemThatRecalls() {
  const recalled: string[] = [];
  const owner: PeerOwner = {
    ...UNKNOWN_OWNER,
    findProcess: () => new Promise(() => {}),
    recallProcess() {
      recalled.push("process");
      return CLAUDE;
    },
    recallProject(pid) {
      recalled.push(`project of ${pid}`);
      return "/home/u/project";
    },
  };
  return { recalled, peers: { lookUp: async () => owner } satisfies PeerInfo };
}

test("a process that is known from other connections is in the first record, and its project, although the search has not ended", async (t) => {
  const { peers } = createSystemThatRecalls();
  const { gate } = await startGateWithUpstream(t, respondWithMessage, { peers, config: WITH_PROJECT });
  await (await post(gate, "/v1/messages", {}, { "user-agent": "x" })).text();
  const { tool, tool_by, process, project } = await gate.ledger.only();
  assert.deepEqual([tool, tool_by, process], ["claude-code", "process", CLAUDE.record]);
  assert.equal(project, "/home/u/project");
});

test("a refusal's record has the process that is known, too", async (t) => {
  const { peers } = createSystemThatRecalls();
  const { gate } = await startGateWithUpstream(t, respondWithMessage, { peers });
  gate.keys.values.clear();
  assert.equal((await post(gate, "/v1/messages", {})).status, 402);
  assert.deepEqual((await gate.ledger.only()).process, CLAUDE.record);
});

test("the system is asked no more once process and project are known", async (t) => {
  const { recalled, peers } = createSystemThatRecalls();
  const { gate } = await startGateWithUpstream(t, respondWithMessage, { peers, config: WITH_PROJECT });
  const client = await sendRaw(t, gate.port);
  await gate.ledger.first(1);
  await client.until(/"msg_1"/);
  client.write(rawRequest(gate.port));
  await gate.ledger.first(2);
  assert.deepEqual(recalled, ["process", "project of 4711"]);
});

test("the system is not asked again after its search has found nothing", async (t) => {
  const { recalled, peers } = createSystemThatRecalls();
  const inVain: PeerInfo = {
    lookUp: async () => ({ ...(await peers.lookUp()), findProcess: () => Promise.resolve(null) }),
  };
  const { gate } = await startGateWithUpstream(t, respondWithMessage, { peers: inVain });
  await (await post(gate, "/v1/messages", {})).text();
  assert.deepEqual(recalled, []);
  assert.equal((await gate.ledger.only()).process, null);
});

for (const [name, config, pids] of [
  ["the project directory of a process is not looked up by default", {}, []],
  [
    "the project directory of a process is looked up where the configuration asks for it",
    WITH_PROJECT,
    [4711],
  ],
] as const) {
  test(name, async (t) => {
    const lookedUp: number[] = [];
    const findProject = async (pid: number) => {
      lookedUp.push(pid);
      return null;
    };
    const owner: PeerOwner = { ...UNKNOWN_OWNER, findProcess: async () => CLAUDE, findProject };
    const peers: PeerInfo = { lookUp: async () => owner };
    const { gate } = await startGateWithUpstream(t, respondWithMessage, { peers, config });
    await (await post(gate, "/v1/messages", {})).text();
    assert.deepEqual(lookedUp, pids);
  });
}

test("the process of another user's connection is not looked for", async (t) => {
  const peers: PeerInfo = {
    lookUp: async (...ends) => ({
      ...(await peersOf(12_345).lookUp(...ends)),
      findProcess: () => assert.fail("looked for"),
    }),
  };
  const { gate } = await startGateWithUpstream(t, respondWithMessage, { peers });
  const res = await post(gate, "/v1/messages", {});
  assert.equal(res.headers.get("x-tollkeeper-refusal"), "peer_not_allowed");
});
