// Real tools with sub-agents: the tree of `usage session` has the tokens and the cost of each agent by the books of the service.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { installTool } from "../helpers/tools/real-tool.ts";
import {
  startCachingMessages,
  type BookedMessage,
  type MessagesRequest,
  type Said,
} from "../helpers/upstream/caching-messages.ts";
import type { SeenRequest } from "../helpers/upstream/scripted-upstream.ts";
import { expectSuccess, runTollkeeper } from "./connect-tool.ts";
import { writeSeeds } from "./home-files.ts";
import { CONNECTED_TOOLS } from "./tools.ts";

const MODEL = "claude-sonnet-4-6";
/** Dollars per million tokens. */
const PRICE = { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 };

/** How a tool starts sub-agents, and names them in its requests. */
interface AgentTool {
  name: string;
  prompt: readonly string[];
  /** The tool by which a model starts a sub-agent, with its input. */
  call: { name: string; input: object };
  /** The agent of a request; null for the main one. */
  agentOf(headers: SeenRequest["headers"]): string | null;
  /** How deep sub-agents start sub-agents. */
  depth: number;
}

const task = {
  description: "Look",
  prompt: "Look around in the directory and start an agent of your own.",
};

/** A child session is an agent. */
const childOf = ({ "x-session-id": id, "x-parent-session-id": parent }: SeenRequest["headers"]) =>
  parent === undefined ? null : String(id);

const TOOLS: readonly AgentTool[] = [
  {
    name: "claude-code",
    prompt: ["-p", "do it", "--model", MODEL, "--allowedTools", "Agent"],
    call: { name: "Agent", input: { ...task, subagent_type: "general-purpose" } },
    agentOf: ({ "x-claude-code-agent-id": id }) => (id === undefined ? null : String(id)),
    depth: 2,
  },
  ...["opencode", "kilo"].map((name) => ({
    name,
    prompt: ["run", ...(name === "kilo" ? ["--auto"] : []), "--model", `anthropic/${MODEL}`, "do it"],
    call: { name: "task", input: { ...task, subagent_type: "general" } },
    agentOf: childOf,
    depth: 1,
  })),
];

/** What an agent has used, without its name. */
type Used = readonly [
  isMain: boolean,
  requests: number,
  read: number,
  written: number,
  rest: number,
  output: number,
  cost: number,
];

function booksOf(books: readonly BookedMessage[], { agentOf }: AgentTool): Used[] {
  return [...groupBooks(books, agentOf)].map(([agent, all]) => {
    const sum = (field: "read" | "written" | "uncached" | "output") =>
      all.reduce((total, one) => total + one[field], 0);
    const [read, written, rest, output] = [sum("read"), sum("written"), sum("uncached"), sum("output")];
    const cost =
      (read * PRICE.cacheRead + written * PRICE.cacheWrite + rest * PRICE.input + output * PRICE.output) /
      1_000_000;
    return [agent === null, all.length, read, written, rest, output, Number(cost.toFixed(9))];
  });
}

function groupBooks(books: readonly BookedMessage[], agentOf: AgentTool["agentOf"]) {
  const agents = new Map<string | null, BookedMessage[]>();
  for (const one of books) {
    const agent = agentOf(one.seen.headers);
    agents.set(agent, [...(agents.get(agent) ?? []), one]);
  }
  return agents;
}

/** Has each agent start one more, down to the depth, and then end. */
function sayFor({ call, agentOf, depth }: AgentTool): (asked: MessagesRequest, seen: SeenRequest) => Said {
  const asked = new Set<string | null>();
  return ({ tools = [] }, { headers }) => {
    const agent = agentOf(headers);
    if (!tools.some(({ name }) => name === call.name) || asked.has(agent) || asked.size >= depth)
      return ["done"];
    asked.add(agent);
    return [call];
  };
}

for (const tool of TOOLS)
  test(`${tool.name} with sub-agents: usage session has each agent as the books of the service have it`, async (t) => {
    const connected = CONNECTED_TOOLS.find(({ tool: name }) => name === tool.name);
    assert.ok(connected);
    const installed = await installTool(t, connected);
    if (installed === null) return;
    writeSeeds(installed.home, connected.seeds);
    const service = await startCachingMessages(t, { say: sayFor(tool) });
    const { config } = writeKeyFile(t, service.baseUrl, "sk-made-up-4711");
    const daemon = await startDaemon(t, { config: { ...config, prices: { "*": PRICE } } });
    await expectSuccess(runTollkeeper(t, daemon, installed, "connect", tool.name, "--yes"));
    const { code, stderr } = await installed.run(...tool.prompt);
    assert.equal(code, 0, stderr);
    const session = (await daemon.ledger()).find(({ agent }) => agent !== null)?.session;
    assert.ok(session !== undefined && session !== null, "a sub-agent was started");
    const { stdout } = await daemon.command("usage", "session", session, "--json");
    const { rows } = JSON.parse(stdout) as { rows: Record<string, unknown>[] };
    const found = rows.map((row): Used => {
      const count = (name: string) => Number(row[name]);
      return [
        row["depth"] === 0,
        count("requests"),
        count("cache_read"),
        count("cache_write"),
        count("input_uncached"),
        count("output"),
        Number(count("cost_usd").toFixed(9)),
      ];
    });
    const own = service.books.filter(({ seen }) => sessionOf(seen.headers) === session);
    assert.deepEqual(inOrder(found), inOrder(booksOf(own, tool)));
    assert.equal(Math.max(...rows.map(({ depth }) => Number(depth))), tool.depth);
  });

function inOrder(all: readonly Used[]): string[] {
  return all.map((used) => JSON.stringify(used)).toSorted();
}

function sessionOf(headers: SeenRequest["headers"]): unknown {
  return headers["x-parent-session-id"] ?? headers["x-claude-code-session-id"] ?? headers["x-session-id"];
}
