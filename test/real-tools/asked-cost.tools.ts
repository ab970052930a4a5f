// Claude Code and Codex ask over MCP what their session has cost: the result in their next request is what `usage session ID --json`
// says at that moment.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { assertSameFigures } from "../helpers/ledger/home-with-projects.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { CLAUDE_CODE, CODEX, installTool, type InstalledTool } from "../helpers/tools/real-tool.ts";
import { startCachingMessages, type MessagesRequest } from "../helpers/upstream/caching-messages.ts";
import { startAgentResponses } from "./agent-responses.ts";
import { expectSuccess, runTollkeeper } from "./connect-tool.ts";

/** Starts a daemon whose configuration says where the ledger is: a tool gives the servers that it starts few variables. */
async function startBefore(t: TestContext, baseUrl: string): Promise<Daemon> {
  const { config } = writeKeyFile(t, baseUrl, "sk-made-up-4711");
  const directory = join(scratchDirectory(t), "ledger");
  return startDaemon(t, { config: { ...config, ledger: { directory } } });
}

async function connectWithServer(
  t: TestContext,
  daemon: Daemon,
  tool: InstalledTool,
  name: string,
  ...options: string[]
): Promise<void> {
  const config = ["--config", daemon.configFile];
  await expectSuccess(
    runTollkeeper(t, daemon, tool, "connect", name, "--mcp", "--yes", ...config, ...options),
  );
}

/** What the tool was told, and what the ledger said when it asked its model again. */
interface Told {
  answer: Record<string, unknown>;
  usage: Parameters<typeof assertSameFigures>[1];
}

async function usageOf(daemon: Daemon, session: string): Promise<Told["usage"]> {
  return JSON.parse((await daemon.command("usage", "session", session, "--json")).stdout) as Told["usage"];
}

function assertTold(told: Told | null, session: string): void {
  assert.ok(told !== null, "the tool has not asked");
  assert.equal(told.answer["session"], session);
  assertSameFigures(told.answer, told.usage);
  assert.ok(Number(told.usage.total["requests"]) >= 1);
  assert.ok(Number(told.usage.total["cost_usd"]) > 0);
}

test(`claude-code@${CLAUDE_CODE.version} asks what its session has cost, and is told what usage session says`, async (t) => {
  const tool = await installTool(t, CLAUDE_CODE);
  if (tool === null) return;
  let [daemon, session, told] = [null as Daemon | null, "", null as Told | null];
  const service = await startCachingMessages(t, {
    async say({ tools = [], messages }, { headers }) {
      const names = tools.map(({ name }) => name);
      const result = lastResult(messages);
      if (result?.startsWith("{") === true && daemon !== null) {
        session = String(headers["x-claude-code-session-id"]);
        told = { answer: JSON.parse(result) as Told["answer"], usage: await usageOf(daemon, session) };
      }
      if (names.length === 0 || told !== null) return ["done"];
      // Servers may start later than the first request.
      const name = names.find((one) => one === "mcp__tollkeeper__session_cost") ?? "WaitForMcpServers";
      return [{ name, input: {} }];
    },
  });
  daemon = await startBefore(t, service.baseUrl);
  await connectWithServer(t, daemon, tool, "claude-code");
  const { code, stdout, stderr } = await tool.run(
    "-p",
    "what has this session cost?",
    "--model",
    "claude-sonnet-4-6",
    "--allowedTools",
    "mcp__tollkeeper__session_cost",
  );
  assert.equal(code, 0, stdout + stderr);
  assertTold(told, session);
});

/** Returns the result of a tool at the end of a conversation, without what Claude Code adds. */
function lastResult(messages: MessagesRequest["messages"]): string | null {
  const content = messages.at(-1)?.content;
  if (!Array.isArray(content)) return null;
  const found = (content as { type: string; content?: unknown }[]).find(({ type }) => type === "tool_result");
  if (found === undefined) return null;
  const text =
    typeof found.content === "string" ? found.content : (found.content as { text: string }[])[0]?.text;
  return text?.split("\n\n<system-reminder>")[0] ?? null;
}

/** Servers may start later than the first request. */
const CODE = `const ask = tools.mcp__tollkeeper__session_cost;
text(ask === undefined ? "not yet" : JSON.stringify((await ask({})).structuredContent));`;

test(`codex@${CODEX.version} asks what its session has cost, and is told what usage session says`, async (t) => {
  const tool = await installTool(t, CODEX);
  if (tool === null) return;
  let [daemon, told] = [null as Daemon | null, null as Told | null];
  const service = await startAgentResponses(t, {
    hasWebSocket: false,
    async call({ input }) {
      const document = documentIn(input.findLast((item) => item.output !== undefined)?.output);
      if (document === null || daemon === null) return { code: CODE };
      const usage = await usageOf(daemon, String(document["session"]));
      told = { answer: document, usage };
      return null;
    },
  });
  daemon = await startBefore(t, service.baseUrl);
  await connectWithServer(t, daemon, tool, "codex", "--model", "gpt-6.2-sol");
  const { code, stdout, stderr } = await tool.run(
    "exec",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "what has this session cost?",
  );
  assert.equal(code, 0, stdout + stderr);
  assertTold(told, service.books[0]?.session ?? "");
});

/** Returns the document that code has printed; null where it has printed none. */
function documentIn(output: unknown): Record<string, unknown> | null {
  const printed = Array.isArray(output) ? (output as { text: string }[]).at(-1)?.text : undefined;
  return printed?.startsWith("{") === true ? (JSON.parse(printed) as Record<string, unknown>) : null;
}
