import {
  CLIENT_INFO_META_KEY,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { messageOf } from "../../core/failure.ts";
import { isObject, type JsonObject } from "../../core/json.ts";

/** What clients list of a tool. */
export interface McpTool {
  name: string;
  title: string;
  description: string;
  /** The parameters, all of them texts that may be left out, with what each means. */
  parameters: Readonly<Record<string, string>>;
}

/** What a client asks of a tool. */
export interface McpQuestion {
  given: JsonObject;
  /** What the client calls itself; null if it does not say. */
  client: string | null;
  /** What the client, and not its model, says besides. */
  meta: JsonObject;
}

/** What is answered: a text for the model, and the same as a document. An error has none. */
export interface McpAnswer {
  text: string;
  document: JsonObject | null;
}

/** A tool with its answers, of which none rejects. */
interface McpAnswering {
  tool: McpTool;
  answer(question: McpQuestion): Promise<McpAnswer>;
}

/** A server for one client. */
interface McpService {
  version: string;
  /** What a model should know before it asks. */
  instructions: string;
  tools: readonly McpAnswering[];
  onError(message: string): void;
}

/**
 * Serves the Model Context Protocol on standard input and output, in its revisions 2026-07-28 and earlier, until the input ends. Then
 * nothing of it keeps the process alive. Standard output has nothing else.
 */
export function serveMcp({ version, instructions, tools, onError }: McpService): void {
  serveStdio(
    () => {
      const { server } = new McpServer(
        { name: "tollkeeper", title: "tollkeeper", version },
        { capabilities: { tools: { listChanged: false } }, instructions },
      );
      server.setRequestHandler("tools/list", () => ({ tools: tools.map(({ tool }) => describeTool(tool)) }));
      server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
        const asked = tools.find(({ tool }) => tool.name === params.name);
        if (asked === undefined)
          throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool "${params.name}"`);
        const { envelope, _meta: meta } = mcpReq;
        const named = isObject(envelope) ? envelope[CLIENT_INFO_META_KEY] : server.getClientVersion();
        const { text, document } = await asked.answer({
          given: params.arguments ?? {},
          client: isObject(named) && typeof named["name"] === "string" ? named["name"] : null,
          meta: isObject(meta) ? meta : {},
        });
        const content = [{ type: "text" as const, text }];
        return document === null ? { content, isError: true } : { content, structuredContent: document };
      });
      return server;
    },
    { onerror: (error) => onError(messageOf(error)) },
  );
}

/** Of JSON Schema 2020-12, which is the protocol's usual dialect. */
function describeTool({ parameters, ...tool }: McpTool) {
  const properties = Object.fromEntries(
    Object.entries(parameters).map(([name, description]) => [name, { type: "string" as const, description }]),
  );
  return {
    ...tool,
    inputSchema: { type: "object" as const, properties, additionalProperties: false },
    annotations: { readOnlyHint: true },
  };
}
