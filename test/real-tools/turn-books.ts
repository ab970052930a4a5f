import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { WebSocketServer } from "ws";
import { listenOnLoopback } from "../helpers/upstream/loopback-port.ts";
import { usageOf } from "../helpers/upstream/websocket-upstream.ts";

/** One response of the upstream. */
export interface BookedTurn {
  id: string;
  transport: "websocket" | "post";
  isWarmup: boolean;
  input: number;
  output: number;
}

/** A request, as far as the upstream looks at it. */
interface Asked {
  model?: string;
  generate?: boolean;
  tools?: { name?: string; type?: string }[];
}

/** An upstream of the Responses API that keeps books. */
export interface BookkeepingUpstream {
  /** `http://127.0.0.1:PORT/v1` */
  baseUrl: string;
  turns: BookedTurn[];
  /** Bytes that came on all connections that have ended, heads included. */
  bytes(): number;
  handshakes: IncomingMessage[];
  /** The tools that each request offered. */
  tools: string[][];
}

/**
 * Starts an upstream that has so many calls of a tool made, one a response, and then says `done`. It has the WebSocket mode. Ends with
 * the test.
 */
export async function startBookkeepingUpstream(
  t: TestContext,
  { calls = 0, tool = "exec_command", call = { cmd: "echo hello" } } = {},
): Promise<BookkeepingUpstream> {
  const turns: BookedTurn[] = [];
  const tools: string[][] = [];
  const handshakes: IncomingMessage[] = [];
  let bytes = 0;
  let made = 0;
  const answer = (asked: Asked, transport: BookedTurn["transport"]): object[] => {
    const isWarmup = asked.generate === false;
    const number = turns.length + 1;
    const turn = {
      id: `resp_${number}`,
      transport,
      isWarmup,
      input: 1000 + number,
      output: isWarmup ? 0 : number,
    };
    turns.push(turn);
    tools.push((asked.tools ?? []).map(({ name, type }) => name ?? type ?? ""));
    const calling = !isWarmup && made < calls;
    if (calling) made += 1;
    return eventsOf(
      turn,
      asked,
      isWarmup ? null : calling ? callItem(number, tool, call) : messageItem(number),
    );
  };
  const http = createServer((req, res) => void respond(req, res, (asked) => answer(asked, "post")));
  http.on("connection", (socket) => socket.once("close", () => (bytes += socket.bytesRead)));
  const server = new WebSocketServer({ server: http, path: "/v1/responses", perMessageDeflate: true });
  server.on("connection", (socket, request) => {
    handshakes.push(request);
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => {
      for (const event of answer(JSON.parse(data.toString()) as Asked, "websocket"))
        socket.send(JSON.stringify(event));
    });
  });
  const port = await listenOnLoopback(http);
  t.after(() => {
    for (const socket of server.clients) socket.terminate();
    http.closeAllConnections();
    http.close();
  });
  return { baseUrl: `http://127.0.0.1:${port}/v1`, turns, bytes: () => bytes, handshakes, tools };
}

async function respond(
  req: IncomingMessage,
  res: ServerResponse,
  answer: (asked: Asked) => object[],
): Promise<void> {
  if (req.method !== "POST" || !(req.url ?? "").startsWith("/v1/responses")) {
    res.writeHead(404, { "content-type": "application/json" }).end("{}");
    return;
  }
  const events = answer(JSON.parse(await text(req)) as Asked);
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events)
    res.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
  res.end();
}

function messageItem(number: number): object {
  const content = [{ type: "output_text", text: "done", annotations: [], logprobs: [] }];
  return { type: "message", id: `msg_${number}`, role: "assistant", status: "completed", content };
}

function callItem(number: number, name: string, call: object): object {
  const ids = { id: `fc_${number}`, call_id: `call_${number}` };
  return { type: "function_call", ...ids, name, arguments: JSON.stringify(call), status: "completed" };
}

function eventsOf({ id, input, output }: BookedTurn, { model }: Asked, item: object | null): object[] {
  const response = {
    id,
    object: "response",
    created_at: 1_700_000_000,
    model,
    status: "in_progress",
    output: [],
  };
  const usage = usageOf(input, output);
  const items = item === null ? [] : [item];
  const place = { output_index: 0, content_index: 0 };
  const { id: itemId } = (item ?? {}) as { id?: string };
  const isMessage = itemId?.startsWith("msg_") === true;
  const events = [
    { type: "response.created", response },
    ...items.map((one) => ({
      type: "response.output_item.added",
      output_index: 0,
      item: isMessage ? { ...one, content: [] } : one,
    })),
    ...(isMessage
      ? [
          {
            type: "response.content_part.added",
            item_id: itemId,
            ...place,
            part: { type: "output_text", text: "", annotations: [] },
          },
          { type: "response.output_text.delta", item_id: itemId, ...place, delta: "done", logprobs: [] },
        ]
      : []),
    ...items.map((one) => ({ type: "response.output_item.done", output_index: 0, item: one })),
    { type: "response.completed", response: { ...response, status: "completed", output: items, usage } },
  ];
  return events.map((event, at) => ({ ...event, sequence_number: at }));
}
