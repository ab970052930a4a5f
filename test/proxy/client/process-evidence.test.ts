import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import type { PeerInfo, PeerProcess } from "../../../src/ports.ts";
import { post, startGate } from "../../helpers/gate/gate.ts";
import { peersOf } from "../../helpers/gate/memory.ts";
import { guises, startTool, type ToolProcess } from "../../helpers/process/tool-process.ts";
import { answerJson, MESSAGE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";

const notLinux = process.platform !== "linux" && "needs Linux: elsewhere it is not looked for in /proc";

/** Calls `onAnswer` with the number of processes that have been looked for and told, each time that there is one more. */
function countAnswers(peers: PeerInfo, onAnswer: (count: number) => void): PeerInfo {
  let count = 0;
  return {
    async lookUp(...ends) {
      const owner = await peers.lookUp(...ends);
      return {
        ...owner,
        async findProcess(query) {
          const found = await owner.findProcess(query);
          // After who asked has it.
          setImmediate(() => onAnswer((count += 1)));
          return found;
        },
      };
    },
  };
}

/** A gate in front of an upstream that ends no answer before it is let go. */
async function openHeldGate(t: TestContext, connections: number) {
  const held: ServerResponse[] = [];
  let isLetGo = false;
  const upstream = await startUpstream(t, (_seen, res) => {
    if (isLetGo) answerJson(res, MESSAGE);
    else held.push(res);
  });
  const { promise: allTold, resolve: onAllTold } = withResolvers<void>();
  const peers = countAnswers(createPeerInfo(), (count) => {
    if (count === connections) onAllTold();
  });
  const gate = await startGate(t, upstream.baseUrl, { peers });
  const letGo = () => {
    isLetGo = true;
    for (const res of held) answerJson(res, MESSAGE);
  };
  return { gate, allTold, letGo };
}

/** What a record says of who asked. */
function toldBy({ tool, tool_by, process: told }: UsageRecord) {
  return { tool, tool_by, pid: told?.pid, executable: told?.executable };
}

function expectedOf({ tool, pid, executable }: ToolProcess) {
  return { tool, tool_by: "process", pid, executable };
}

test(
  "ten processes of three tools at once, over kept and fresh connections: every record has the right tool and process",
  { skip: notLinux, timeout: 60_000 },
  async (t) => {
    const kinds = guises(t);
    const { gate, allTold, letGo } = await openHeldGate(t, 20);
    const start = (i: number) => startTool(t, kinds[i % 3] ?? kinds[0], gate.url);
    const tools = await Promise.all(Array.from({ length: 10 }, (_, i) => start(i)));
    const askedAtOnce = tools.flatMap((tool, i) => [tool.ask("fresh", `${i}-0`), tool.ask("kept", `${i}-1`)]);
    await allTold;
    letGo();
    await Promise.all(askedAtOnce);
    // On connections whose process is known by now.
    await Promise.all(tools.map((tool, i) => tool.ask("kept", `${i}-2`)));
    assert.equal(gate.ledger.records.length, 30);
    for (const record of gate.ledger.records) {
      const tool = tools[Number(record.session?.split("-")[0])];
      assert.ok(tool !== undefined);
      assert.deepEqual(toldBy(record), expectedOf(tool), record.session ?? "");
    }
  },
);

/** A system that says whose a connection is, and what its process and that one's project are only when told to. */
function slowSystem() {
  const { promise: found, resolve: tell } = withResolvers<PeerProcess>();
  const { promise: project, resolve: tellProject } = withResolvers<string>();
  const owner = { uid: null, findProcess: () => found, findProject: () => project };
  const peers: PeerInfo = { lookUp: async () => owner };
  return { peers, tell, tellProject };
}

const CLAUDE: PeerProcess = {
  record: { pid: 4711, executable: "/usr/bin/claude", parents: ["zsh", "kitty"] },
  name: { tool: "claude-code", isOwn: false },
};

const WITH_PROJECT = { ledger: { directory: null, retainDays: 1, project: true } };

test("a request waits neither for its process nor for that one's project, and the record has what is known by then", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { peers, tell, tellProject } = slowSystem();
  const gate = await startGate(t, upstream.baseUrl, { peers, config: WITH_PROJECT });
  const ask = async () => (await post(gate, "/v1/messages", {}, { "user-agent": "x" })).text();
  await ask();
  tell(CLAUDE);
  await ask();
  tellProject("/home/u/project");
  await ask();
  assert.deepEqual(
    gate.ledger.records.map(({ tool, tool_by, process: told, project }) => ({
      tool,
      tool_by,
      told,
      project,
    })),
    [
      { tool: "unknown", tool_by: "unknown", told: null, project: null },
      { tool: "claude-code", tool_by: "process", told: CLAUDE.record, project: null },
      { tool: "claude-code", tool_by: "process", told: CLAUDE.record, project: "/home/u/project" },
    ],
  );
});

test("a process that is found while its answer is under way stands in the record", async (t) => {
  const { promise: asked, resolve: onAsked } = withResolvers<ServerResponse>();
  const upstream = await startUpstream(t, (_seen, res) => onAsked(res));
  const { peers, tell } = slowSystem();
  const gate = await startGate(t, upstream.baseUrl, { peers });
  const answer = post(gate, "/v1/messages", {}, { "user-agent": "curl/8.5.0" });
  const res = await asked;
  tell(CLAUDE);
  answerJson(res, MESSAGE);
  await (await answer).text();
  const { tool, tool_by, process: told } = await gate.ledger.only();
  assert.deepEqual([tool, tool_by, told], ["claude-code", "process", CLAUDE.record]);
});

for (const [what, withProject] of [
  ["not asked for unless it is configured", false],
  ["asked for where it is", true],
] as const) {
  test(`the directory of a process is ${what}`, async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
    const asked: number[] = [];
    const findProject = async (pid: number) => {
      asked.push(pid);
      return null;
    };
    const owner = { uid: null, findProcess: async () => CLAUDE, findProject };
    const peers: PeerInfo = { lookUp: async () => owner };
    const config = withProject ? WITH_PROJECT : {};
    const gate = await startGate(t, upstream.baseUrl, { peers, config });
    await (await post(gate, "/v1/messages", {})).text();
    assert.deepEqual(asked, withProject ? [4711] : []);
  });
}

test("of a stranger's connection the process is not looked for", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const peers: PeerInfo = {
    lookUp: async (...ends) => ({
      ...(await peersOf(12_345).lookUp(...ends)),
      findProcess: () => assert.fail("looked for"),
    }),
  };
  const gate = await startGate(t, upstream.baseUrl, { peers });
  assert.equal((await post(gate, "/v1/messages", {})).status, 403);
});
