import type { TestContext } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { PROGRAM } from "../daemon/program.ts";

/** How a tool starts the server. */
interface McpOptions {
  env: Readonly<Record<string, string>>;
  /** The project in which the tool works. */
  cwd: string;
  /** More arguments of `tollkeeper mcp`. */
  args?: readonly string[];
  /** What the client calls itself. */
  name?: string;
  /** True for the revision 2026-07-28 of the protocol, else that of 2025. */
  isModern?: boolean;
}

/** What a tool of the server answers. */
export interface McpResult {
  text: string;
  document: Record<string, unknown>;
  isError: boolean;
}

/** A client of a `tollkeeper mcp` of its own. */
interface McpClient {
  client: Client;
  /** @param meta what the client says besides, in `_meta` */
  ask(tool: string, given?: Record<string, unknown>, meta?: Record<string, unknown>): Promise<McpResult>;
}

/** Starts `tollkeeper mcp` as a tool does, with the official client. It ends with the test. */
export async function startMcp(t: TestContext, options: McpOptions): Promise<McpClient> {
  const { env, cwd, args = [], name = "some-client", isModern = false } = options;
  const mode = isModern ? { pin: "2026-07-28" } : "legacy";
  const client = new Client({ name, version: "1.0.0" }, { versionNegotiation: { mode } });
  const command = [PROGRAM, "mcp", ...args];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: command,
    env: { ...env },
    cwd,
  });
  await client.connect(transport);
  t.after(() => client.close());
  return {
    client,
    async ask(tool, given = {}, meta) {
      const result = await client.callTool({
        name: tool,
        arguments: given,
        ...(meta !== undefined && { _meta: meta }),
      });
      const [first] = result.content;
      return {
        text: first?.type === "text" ? first.text : "",
        document: (result.structuredContent ?? {}) as Record<string, unknown>,
        isError: result.isError === true,
      };
    },
  };
}
