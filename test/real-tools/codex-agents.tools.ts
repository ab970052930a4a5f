// Codex with agents that start agents: the tree of `usage session` has the tokens and the cost of each by the books of the service.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { CODEX, installTool } from "../helpers/tools/real-tool.ts";
import {
  startAgentResponses,
  type AgentCall,
  type AgentTurn,
  type BookedResponse,
} from "./agent-responses.ts";
import { expectSuccess, runTollkeeper } from "./connect-tool.ts";

/** A model for which Codex offers its tools for agents without a search for tools. */
const MODEL = "gpt-6.2-sol";
/** Dollars per million tokens. */
const PRICE = { input: 3, cacheRead: 0.3, output: 15 };

/** Which agents each starts. */
const STARTS: Readonly<Record<string, readonly string[]>> = {
  "/root": ["look", "read"],
  "/root/look": ["list"],
  "/root/look/list": ["count"],
};

/** Calls one of the tools for agents. */
function callAgentTool(name: string, given: object): AgentCall {
  return { namespace: "collaboration", name, arguments: given };
}

/**
 * Has each agent start its agents one after the other, each once the one before has answered: Codex runs four at a time, the main one
 * among them. An agent begins with the conversation of the one that started it.
 */
function startAgents(): (turn: AgentTurn) => AgentCall | null {
  const started = new Map<string, string[]>();
  return ({ path, input }) => {
    const own = started.get(path) ?? [];
    started.set(path, own);
    const answered = new Set(input.map(({ type, author }) => (type === "agent_message" ? author : null)));
    if (own.some((name) => !answered.has(`${path}/${name}`)))
      return callAgentTool("wait_agent", { timeout_ms: 20_000 });
    const next = STARTS[path]?.[own.length];
    if (next === undefined) return null;
    own.push(next);
    return callAgentTool("spawn_agent", { task_name: next, message: "look around" });
  };
}

/** What an agent has used: its place, and what the service bills for it. */
interface Used {
  agent: string | null;
  parent: string | null;
  depth: number;
  requests: number;
  read: number;
  uncached: number;
  output: number;
  cost: string;
}

/** Sums the books up by agent. */
function booksOf(books: readonly BookedResponse[]): Used[] {
  const threads = new Map(books.map(({ path, thread }) => [path, thread]));
  return [...threads].map(([path, thread]) => {
    const own = books.filter((one) => one.thread === thread);
    const sum = (field: "read" | "uncached" | "output") => own.reduce((total, one) => total + one[field], 0);
    const [read, uncached, output] = [sum("read"), sum("uncached"), sum("output")];
    const cost = (read * PRICE.cacheRead + uncached * PRICE.input + output * PRICE.output) / 1_000_000;
    const above = path.slice(0, path.lastIndexOf("/"));
    return {
      agent: path === "/root" ? null : thread,
      // The main one has no id.
      parent: above === "" || above === "/root" ? null : (threads.get(above) ?? null),
      depth: path.split("/").length - 2,
      requests: own.length,
      read,
      uncached,
      output,
      cost: cost.toFixed(9),
    };
  });
}

/** Adds up the rows of an agent, which has one for each kind of request. */
function rowsOf(rows: readonly Record<string, unknown>[]): Used[] {
  const agents = new Map<unknown, Record<string, unknown>[]>();
  for (const row of rows) agents.set(row["agent"], [...(agents.get(row["agent"]) ?? []), row]);
  return [...agents].map(([agent, own]) => {
    const sum = (field: string) => own.reduce((total, row) => total + Number(row[field]), 0);
    return {
      agent: agent as string | null,
      parent: own[0]?.["agent_parent"] as string | null,
      depth: Number(own[0]?.["depth"]),
      requests: sum("requests"),
      read: sum("cache_read"),
      uncached: sum("input_uncached"),
      output: sum("output"),
      cost: sum("cost_usd").toFixed(9),
    };
  });
}

function inOrder(all: readonly Used[]): Used[] {
  return all.toSorted((one, other) => String(one.agent).localeCompare(String(other.agent)));
}

for (const transport of ["websocket", "post"] as const)
  test(`codex@${CODEX.version} with agents of agents by ${transport}: usage session has each as the books of the service have it`, async (t) => {
    const installed = await installTool(t, CODEX);
    if (installed === null) return;
    const hasWebSocket = transport === "websocket";
    const service = await startAgentResponses(t, { hasWebSocket, call: startAgents() });
    const { config } = writeKeyFile(t, service.baseUrl, "sk-made-up-4711");
    const upstream = { ...config.upstreams.default, websocket: hasWebSocket ? "auto" : false };
    const daemon = await startDaemon(t, {
      config: { upstreams: { default: upstream }, prices: { "*": PRICE } },
    });
    const connect = ["connect", "codex", "--model", MODEL, "--yes"];
    await expectSuccess(runTollkeeper(t, daemon, installed, ...connect));
    const { code, stdout, stderr } = await installed.run(
      "exec",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      "do it",
    );
    assert.equal(code, 0, stdout + stderr);
    assert.deepEqual(
      [...new Set(service.books.map(({ path }) => path))].toSorted(),
      ["/root", "/root/look", "/root/look/list", "/root/look/list/count", "/root/read"],
      stderr,
    );
    assert.deepEqual([...new Set(service.books.map((one) => one.transport))], [transport]);
    const { stdout: tree } = await daemon.command("usage", "session", "last", "--json");
    const { session, rows } = JSON.parse(tree) as { session: string; rows: Record<string, unknown>[] };
    assert.deepEqual([...new Set(service.books.map((one) => one.session))], [session]);
    assert.deepEqual(inOrder(rowsOf(rows)), inOrder(booksOf(service.books)));
    t.diagnostic((await daemon.command("usage", "session", "last")).stdout);
  });
