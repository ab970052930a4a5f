import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { WebSocketServer } from "ws";
import { listenOnLoopback } from "../helpers/upstream/loopback-port.ts";
import { PromptCache, sizeOf } from "../helpers/upstream/prompt-cache.ts";

/** A request, as far as the service looks at it. */
interface AgentRequest {
  model: string;
  generate?: boolean;
  instructions?: unknown;
  tools?: unknown;
  input: unknown[];
  previous_response_id?: string;
  client_metadata?: { session_id?: string; thread_id?: string; "x-codex-turn-metadata"?: string };
}

/** What an agent has been told so far. */
export interface AgentTurn {
  /** Its place in the tree: `/root` for the main agent, `/root/look` for one that it has started as `look`. */
  path: string;
  /** All items of its conversation. */
  input: readonly { type?: string; author?: string; output?: unknown }[];
}

/** What the service bills for one response, and for which agent. */
export interface BookedResponse {
  session: string;
  /** That of the main agent is the session. */
  thread: string;
  path: string;
  transport: "websocket" | "post";
  isWarmup: boolean;
  read: number;
  uncached: number;
  output: number;
}

/** A call of one of Codex's tools in its namespace, or code for its tool that runs code. */
export type AgentCall = { namespace: string; name: string; arguments: object } | { code: string };

/** An upstream of the Responses API for agents, which has a cache and keeps books. */
export interface AgentResponses {
  /** `http://127.0.0.1:PORT/v1` */
  baseUrl: string;
  books: BookedResponse[];
}

interface Options {
  /** Without it, clients go on with POST. */
  hasWebSocket: boolean;
  /** Returns the tool that the model of an agent calls next; null where it says `done`. */
  call(turn: AgentTurn): AgentCall | null | Promise<AgentCall | null>;
}

/** Starts it. It ends with the test. */
export async function startAgentResponses(
  t: TestContext,
  { hasWebSocket, call }: Options,
): Promise<AgentResponses> {
  const books: BookedResponse[] = [];
  const cache = new PromptCache();
  /** What a message on a WebSocket continues, by the id of its response. */
  const conversations = new Map<string, unknown[]>();
  const answer = async (asked: AgentRequest, transport: BookedResponse["transport"]): Promise<object[]> => {
    const isWarmup = asked.generate === false;
    const input = [...(conversations.get(asked.previous_response_id ?? "") ?? []), ...asked.input];
    const path = pathOf(asked);
    const called = isWarmup ? null : await call({ path, input: input as AgentTurn["input"] });
    const id = `resp_${books.length + 1}`;
    const items = isWarmup ? [] : [called === null ? doneItem(id) : callItem(id, called)];
    conversations.set(id, [...input, ...items]);
    const { session_id: session = "", thread_id: thread = "" } = asked.client_metadata ?? {};
    const parts = [[asked.model, asked.tools ?? []], asked.instructions ?? "", ...input].map((value) => {
      const part = JSON.stringify(value);
      return { key: part, tokens: sizeOf(part) };
    });
    const { read, written, uncached } = cache.use(parts, parts.length);
    const used = { read, uncached: written + uncached, output: isWarmup ? 0 : sizeOf(items) };
    books.push({ session, thread, path, transport, isWarmup, ...used });
    return eventsOf(id, asked.model, items, used);
  };
  const http = createServer((req, res) => void respond(req, res, (asked) => answer(asked, "post")));
  const server = new WebSocketServer({ noServer: true });
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => {
      void answer(JSON.parse(data.toString()) as AgentRequest, "websocket").then((events) => {
        for (const event of events) socket.send(JSON.stringify(event));
      });
    });
  });
  http.on("upgrade", (req, stream, head) => {
    stream.on("error", () => {});
    if (hasWebSocket)
      server.handleUpgrade(req, stream, head, (socket) => server.emit("connection", socket, req));
    else stream.end("HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  });
  const port = await listenOnLoopback(http);
  t.after(() => {
    for (const socket of server.clients) socket.terminate();
    http.closeAllConnections();
    http.close();
  });
  return { baseUrl: `http://127.0.0.1:${port}/v1`, books };
}

function pathOf({ client_metadata: metadata }: AgentRequest): string {
  const turn = JSON.parse(metadata?.["x-codex-turn-metadata"] ?? "{}") as { agent_name?: string };
  return turn.agent_name ?? "";
}

async function respond(
  req: IncomingMessage,
  res: ServerResponse,
  answer: (asked: AgentRequest) => Promise<object[]>,
): Promise<void> {
  if (req.method !== "POST" || req.url !== "/v1/responses") {
    res.writeHead(404, { "content-type": "application/json" }).end("{}");
    return;
  }
  const events = await answer(JSON.parse(await text(req)) as AgentRequest);
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events)
    res.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
  res.end();
}

function doneItem(id: string): object {
  const content = [{ type: "output_text", text: "done", annotations: [], logprobs: [] }];
  return { type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content };
}

function callItem(id: string, asked: AgentCall): object {
  if ("code" in asked)
    return {
      type: "custom_tool_call",
      id: `ctc_${id}`,
      call_id: `call_${id}`,
      name: "exec",
      input: asked.code,
      status: "completed",
    };
  const { arguments: given, ...called } = asked;
  const call = { call_id: `call_${id}`, arguments: JSON.stringify(given), status: "completed" };
  return { type: "function_call", id: `fc_${id}`, ...called, ...call };
}

function eventsOf(
  id: string,
  model: string,
  output: readonly object[],
  used: Pick<BookedResponse, "read" | "uncached" | "output">,
): object[] {
  const response = { id, object: "response", created_at: 1_700_000_000, model };
  const input = used.read + used.uncached;
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: used.read },
    output_tokens: used.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + used.output,
  };
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...output.flatMap((item, at) => [
      { type: "response.output_item.added", output_index: at, item },
      { type: "response.output_item.done", output_index: at, item },
    ]),
    { type: "response.completed", response: { ...response, status: "completed", output, usage } },
  ];
}
