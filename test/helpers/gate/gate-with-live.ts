import { once } from "node:events";
import type { TestContext } from "node:test";
import { WebSocket, type ClientOptions } from "ws";
import type { Upstream } from "../../../src/core/config/config.ts";
import { withResolvers } from "../async/with-resolvers.ts";
import {
  LIVE_PATH,
  startLiveUpstream,
  type LiveOptions,
  type LiveUpstream,
} from "../upstream/live-upstream.ts";
import { startGate, type GateOptions, type TestGate } from "./gate.ts";

/** The message with which a client begins. */
export const SETUP = { setup: { model: "models/gemini-3.8-live" } };

/** A message that asks for a turn. */
export const SAY = {
  clientContent: { turns: [{ role: "user", parts: [{ text: "hello" }] }], turnComplete: true },
};

/** A piece of sound. */
export const SOUND = { realtimeInput: { audio: { mimeType: "audio/pcm;rate=16000", data: "AAAA" } } };

/** What a test looks at in a message of the service. */
export interface SeenLiveMessage {
  setupComplete?: object;
  serverContent?: { turnComplete?: boolean; interrupted?: boolean; modelTurn?: object };
  toolCall?: object;
  toolCallCancellation?: object;
  usageMetadata?: object;
}

/** A client of the Live API. */
export interface LiveClient {
  socket: WebSocket;
  /** Each message as it arrived. */
  frames: { data: Buffer; isBinary: boolean }[];
  send(message: object): void;
  /** Resolves with the first message that has not been waited for and for which this is true. */
  until(isMeant: (message: SeenLiveMessage) => boolean): Promise<SeenLiveMessage>;
  /** Resolves with the code and the reason once it has closed. */
  closed: Promise<{ code: number; reason: string }>;
}

export interface LiveGate {
  upstream: LiveUpstream;
  gate: TestGate;
}

/** Starts an upstream with the Live API, and a gate in front of it. Both end with the test. */
export async function startLiveGate(
  t: TestContext,
  options: LiveOptions & GateOptions = {},
): Promise<LiveGate> {
  const upstream = await startLiveUpstream(t, options);
  const settings: Partial<Upstream> = { apis: ["gemini"], websocket: "auto", ...options.upstream };
  return { upstream, gate: await startGate(t, upstream.baseUrl, { ...options, upstream: settings }) };
}

/** Opens a WebSocket as Google's SDKs do: the key is in the URL. It ends with the test. */
export async function openLive(
  t: TestContext,
  { port }: { port: number },
  { path = `${LIVE_PATH}?key=key-of-the-tool`, ...options }: ClientOptions & { path?: string } = {},
): Promise<LiveClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, options);
  t.after(() => socket.terminate());
  const frames: LiveClient["frames"] = [];
  let seen = 0;
  let arrived = withResolvers<void>();
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once("close", (code, reason) => {
      resolve({ code, reason: reason.toString() });
      arrived.resolve();
    }),
  );
  socket.on("message", (data: Buffer, isBinary) => {
    frames.push({ data, isBinary });
    arrived.resolve();
    arrived = withResolvers();
  });
  socket.on("error", () => {});
  await once(socket, "open");
  return {
    socket,
    frames,
    closed,
    send: (message) => socket.send(JSON.stringify(message)),
    async until(isMeant) {
      for (;;) {
        const frame = frames[seen];
        if (frame !== undefined) {
          seen += 1;
          const message = JSON.parse(frame.data.toString()) as SeenLiveMessage;
          if (isMeant(message)) return message;
        } else if (socket.readyState === WebSocket.CLOSED) throw new Error("the WebSocket has closed");
        else await arrived.promise;
      }
    },
  };
}

export const isSetUp = ({ setupComplete }: SeenLiveMessage) => setupComplete !== undefined;
export const isTurnComplete = ({ serverContent }: SeenLiveMessage) => serverContent?.turnComplete === true;

/** Starts both, opens a WebSocket, and sets it up. */
export async function openLiveThroughGate(
  t: TestContext,
  options: LiveOptions & GateOptions & { client?: ClientOptions & { path?: string } } = {},
): Promise<LiveGate & { client: LiveClient }> {
  const { upstream, gate } = await startLiveGate(t, options);
  const client = await openLive(t, gate, options.client);
  client.send(SETUP);
  await client.until(isSetUp);
  return { upstream, gate, client };
}
