import { createServer, type IncomingMessage } from "node:http";
import type { TestContext } from "node:test";
import { WebSocketServer, type WebSocket } from "ws";
import { withResolvers } from "../async/with-resolvers.ts";
import { listenOnLoopback } from "./loopback-port.ts";

/** Where the Gemini API has its Live API. */
export const LIVE_PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

/** A message of a client of the Live API, as far as tests look at it. */
export interface LiveClientMessage {
  setup?: { model?: string; [name: string]: unknown };
  clientContent?: { turns?: object[]; turnComplete?: boolean };
  client_content?: { turns?: object[]; turn_complete?: boolean };
  realtimeInput?: object;
  toolResponse?: object;
}

/** What the service counts of a turn. */
export interface LiveTurn {
  input: number;
  output: number;
  thoughts?: number;
}

/** An upstream that speaks the Live API, and keeps books of its own. */
export interface LiveUpstream {
  /** `http://127.0.0.1:PORT/v1beta` */
  baseUrl: string;
  handshakes: IncomingMessage[];
  messages: LiveClientMessage[];
  sockets: WebSocket[];
  /** Resolves with the next WebSocket that is opened. */
  next(): Promise<WebSocket>;
  /** What it has billed, in order. */
  turns: LiveTurn[];
  /** Sends a turn of the model with its usage, and books it. */
  speak(socket: WebSocket, turn?: LiveTurn): void;
}

export interface LiveOptions {
  /** How it treats a message other than the setup; by default each that ends the user's turn gets a turn. */
  onMessage?: (socket: WebSocket, message: LiveClientMessage, upstream: LiveUpstream) => void;
  /** By default it accepts every model. */
  onSetup?: (socket: WebSocket, message: LiveClientMessage) => void;
}

/** Starts an upstream that ends with the test. */
export async function startLiveUpstream(
  t: TestContext,
  { onMessage = respond, onSetup = accept }: LiveOptions = {},
): Promise<LiveUpstream> {
  const http = createServer((_req, res) => res.writeHead(404).end());
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  let waiting = withResolvers<WebSocket>();
  const upstream: LiveUpstream = {
    baseUrl: "",
    handshakes: [],
    messages: [],
    sockets: [],
    turns: [],
    next: () => waiting.promise,
    speak(socket, turn = { input: 100 + upstream.turns.length, output: 20 }) {
      upstream.turns.push(turn);
      for (const message of turnOf(turn)) sendBinary(socket, message);
    },
  };
  server.on("connection", (socket, request) => {
    upstream.handshakes.push(request);
    upstream.sockets.push(socket);
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as LiveClientMessage;
      upstream.messages.push(message);
      if (message.setup === undefined) onMessage(socket, message, upstream);
      else onSetup(socket, message);
    });
    waiting.resolve(socket);
    waiting = withResolvers();
  });
  const port = await listenOnLoopback(http);
  upstream.baseUrl = `http://127.0.0.1:${port}/v1beta`;
  t.after(() => {
    for (const socket of server.clients) socket.terminate();
    http.closeAllConnections();
    http.close();
  });
  return upstream;
}

function accept(socket: WebSocket): void {
  sendBinary(socket, { setupComplete: {} });
}

function respond(socket: WebSocket, message: LiveClientMessage, upstream: LiveUpstream): void {
  const isComplete =
    message.clientContent?.turnComplete === true || message.client_content?.turn_complete === true;
  if (isComplete) upstream.speak(socket);
}

/** Sends a message as Google does: JSON in a binary frame. */
export function sendBinary(socket: WebSocket, message: object): void {
  socket.send(Buffer.from(`${JSON.stringify(message, null, 2)}\n`), { binary: true });
}

/** The messages of a turn in the order and form of recorded ones (docs/wire.md section 12): the total leaves thoughts out. */
export function turnOf({ input, output, thoughts }: LiveTurn): object[] {
  const audio = { inlineData: { mimeType: "audio/pcm;rate=24000", data: "AAEC".repeat(200) } };
  return [
    { serverContent: { outputTranscription: { text: "A reading of five." } } },
    { serverContent: { modelTurn: { parts: [audio] } } },
    { serverContent: { modelTurn: { parts: [audio] } } },
    { serverContent: { generationComplete: true } },
    { serverContent: { turnComplete: true }, usageMetadata: usageOf({ input, output, thoughts }) },
  ];
}

function usageOf({
  input,
  output,
  thoughts,
}: {
  input: number;
  output: number;
  thoughts: number | undefined;
}) {
  return {
    promptTokenCount: input,
    responseTokenCount: output,
    totalTokenCount: input + output,
    promptTokensDetails: [
      { modality: "TEXT", tokenCount: input - 10 },
      { modality: "AUDIO", tokenCount: 10 },
    ],
    responseTokensDetails: [{ modality: "AUDIO", tokenCount: output }],
    ...(thoughts !== undefined && { thoughtsTokenCount: thoughts }),
  };
}
