import type { IncomingMessage, ServerResponse } from "node:http";
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocketServer } from "ws";
import type { Certificate } from "../../helpers/upstream/certificate.ts";

/** Responses in a session: each but the last has the tool run a command. */
export const TURNS = 10;

/** Pieces of text in a response. */
const DELTAS = 20;

/** How fast the service writes: the time to the first piece of text, and between two. */
export interface ServicePace {
  firstMs: number;
  everyMs: number;
}

/** A short response of a fast model: 0.6 s. */
export const FAST_MODEL: ServicePace = { firstMs: 300, everyMs: 15 };

/** As fast as the machine allows. */
export const AT_ONCE: ServicePace = { firstMs: 0, everyMs: 0 };

/** Prints 3.9 KB, which every later request of the session carries. */
const COMMAND = "seq 1 1000";

/** An event of either API. */
interface ServiceEvent {
  type: string;
  [member: string]: unknown;
}

/** What the service has answered since it was last asked. */
export interface Answered {
  /** Responses of the model. */
  responses: number;
  /** Responses that only prepare a WebSocket. */
  warmups: number;
  /** Everything that it was asked and does not have. */
  unknown: string[];
}

/** No upload waits for the service to read it: that would delay a direct one only, since tollkeeper does not use HTTP/2. */
const WINDOW_BYTES = 16 * 1024 * 1024;

/**
 * Makes a server of the Messages API and of the Responses API, by POST and on WebSockets. As both services do, it speaks HTTP/2 with
 * a tool that can, and keeps idle connections open.
 */
export function createService(
  { key, cert }: Pick<Certificate, "key" | "cert">,
  pace: ServicePace,
): {
  server: Http2SecureServer;
  /** Returns what was answered since the last call. */
  takeAnswered(): Answered;
} {
  let answered = nothing();
  const answerTo = (body: string): Answer => {
    const answer = answerFor(JSON.parse(body) as Asked);
    if (answer.isWarmup) answered.warmups += 1;
    else answered.responses += 1;
    return answer;
  };
  const options = { key, cert, allowHTTP1: true, settings: { initialWindowSize: WINDOW_BYTES } };
  const server = createSecureServer(options, (req, res) => {
    if (isKnown(req)) {
      void text(req).then((body) => respond(answerTo(body), pace, res));
      return;
    }
    answered.unknown.push(`${req.method} ${req.url}`);
    res.writeHead(404, { "content-type": "application/json" }).end("{}");
  });
  // It has this member, which its type lacks.
  Object.assign(server, { keepAliveTimeout: 0 });
  server.on("session", (session) => session.setLocalWindowSize(WINDOW_BYTES));
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
  server.on("upgrade", (req, raw, head) => {
    sockets.handleUpgrade(req, raw, head, (socket) => sockets.emit("connection", socket, req));
  });
  sockets.on("connection", (socket) => {
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => {
      void send(answerTo(data.toString()), pace, (event) => socket.send(JSON.stringify(event)));
    });
  });
  return {
    server,
    takeAnswered() {
      const taken = answered;
      answered = nothing();
      return taken;
    },
  };
}

function nothing(): Answered {
  return { responses: 0, warmups: 0, unknown: [] };
}

function isKnown({ method, url }: IncomingMessage | Http2ServerRequest): boolean {
  return method === "POST" && /^\/v1\/(?:messages|responses)(?:\?|$)/.test(url ?? "");
}

/** The events of a response: `deltas` come at the pace, and the others at once before and after them. */
interface Answer {
  isWarmup: boolean;
  before: readonly ServiceEvent[];
  delta: ServiceEvent;
  after: readonly ServiceEvent[];
}

async function respond(
  answer: Answer,
  { firstMs, everyMs }: ServicePace,
  res: ServerResponse | Http2ServerResponse,
): Promise<void> {
  if (firstMs > 0) await delay(firstMs);
  res.writeHead(200, { "content-type": "text/event-stream" });
  // TypeScript finds no signature that both have.
  const write = (event: string) => ("stream" in res ? res.write(event) : res.write(event));
  await send(answer, { firstMs: 0, everyMs }, (event) =>
    write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  );
  res.end();
}

async function send(
  { isWarmup, before, delta, after }: Answer,
  { firstMs, everyMs }: ServicePace,
  emit: (event: ServiceEvent) => void,
): Promise<void> {
  const startedAt = performance.now();
  // By the clock, so that a late timer delays no later event.
  const until = async (ms: number) => {
    const left = startedAt + ms - performance.now();
    if (left > 0) await delay(left);
  };
  const deltas = isWarmup ? 0 : DELTAS;
  if (!isWarmup) await until(firstMs);
  for (const event of before) emit(event);
  for (let at = 1; at <= deltas; at += 1) {
    emit(delta);
    await until(firstMs + at * everyMs);
  }
  for (const event of after) emit(event);
}

/** A request, as far as the service looks at it. */
interface Asked {
  model: string;
  generate?: boolean;
  /** Of the Messages API. */
  messages?: { content: string | { type: string; tool_use_id?: string }[] }[];
  /** Of the Responses API. On a WebSocket, what is new. */
  input?: { type?: string; call_id?: string }[];
}

function answerFor(asked: Asked): Answer {
  const isMessages = asked.messages !== undefined;
  const results = isMessages
    ? (asked.messages?.at(-1)?.content ?? [])
    : (asked.input ?? []).map(({ call_id: id = "" }) => ({ tool_use_id: id }));
  const last =
    typeof results === "string" ? undefined : results.findLast((one) => (one.tool_use_id ?? "") !== "");
  const made = Number(/\d+$/.exec(last?.tool_use_id ?? "")?.[0] ?? 0);
  const isLast = made >= TURNS - 1;
  return isMessages ? message(asked, made + 1, isLast) : response(asked, made + 1, isLast);
}

const TEXT = "some text ";

function message({ model }: Asked, number: number, isLast: boolean): Answer {
  const usage = { input_tokens: 12_000 + 2_000 * number, output_tokens: 1 };
  const head = { id: `msg_${number}`, type: "message", role: "assistant", model, content: [] };
  const call = { type: "tool_use", id: `toolu_${number}`, name: "Bash", input: {} };
  const input = JSON.stringify({ command: COMMAND, description: "Count" });
  return {
    isWarmup: false,
    before: [
      { type: "message_start", message: { ...head, stop_reason: null, stop_sequence: null, usage } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ],
    delta: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } },
    after: [
      { type: "content_block_stop", index: 0 },
      ...(isLast
        ? []
        : [
            { type: "content_block_start", index: 1, content_block: call },
            {
              type: "content_block_delta",
              index: 1,
              delta: { type: "input_json_delta", partial_json: input },
            },
            { type: "content_block_stop", index: 1 },
          ]),
      {
        type: "message_delta",
        delta: { stop_reason: isLast ? "end_turn" : "tool_use", stop_sequence: null },
        usage: { output_tokens: 2 * DELTAS },
      },
      { type: "message_stop" },
    ],
  };
}

let responses = 0;

function response({ model, generate }: Asked, number: number, isLast: boolean): Answer {
  responses += 1;
  const isWarmup = generate === false;
  const id = `resp_${responses}`;
  const status = "completed";
  const said = {
    type: "message",
    id: `item_${id}`,
    role: "assistant",
    status,
    content: [{ type: "output_text", text: TEXT.repeat(DELTAS), annotations: [], logprobs: [] }],
  };
  const call = {
    type: "function_call",
    id: `fc_${id}`,
    call_id: `call_${number}`,
    status,
    name: "exec_command",
    arguments: JSON.stringify({ cmd: COMMAND }),
  };
  const output = isWarmup ? [] : isLast ? [said] : [said, call];
  const head = { id, object: "response", created_at: 1_700_000_000, model };
  const input = 12_000 + 2_000 * number;
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: isWarmup ? 0 : 2 * DELTAS,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + (isWarmup ? 0 : 2 * DELTAS),
  };
  const place = { item_id: said.id, output_index: 0, content_index: 0 };
  return {
    isWarmup,
    before: [
      { type: "response.created", response: { ...head, status: "in_progress", output: [] } },
      ...(isWarmup
        ? []
        : [
            { type: "response.output_item.added", output_index: 0, item: { ...said, content: [] } },
            { type: "response.content_part.added", ...place, part: { type: "output_text", text: "" } },
          ]),
    ],
    delta: { type: "response.output_text.delta", ...place, delta: TEXT, logprobs: [] },
    after: [
      ...output.map((item, at) => ({ type: "response.output_item.done", output_index: at, item })),
      { type: "response.completed", response: { ...head, status, output, usage } },
    ],
  };
}
