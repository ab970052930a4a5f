import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { WebSocket, type ClientOptions } from "ws";
import { OPCODE } from "../../../src/core/websocket/frame-reader.ts";
import { writeMaskedFrame } from "../../../src/core/websocket/write-frame.ts";
import { withResolvers } from "../async/with-resolvers.ts";

/** An event of the Responses API, as far as tests look at it. */
export interface SeenEvent {
  type: string;
  status?: number;
  stream_id?: string;
  error?: { code: string; message: string };
  response?: { id: string };
}

/** A WebSocket of a tool. */
export interface TestSocket {
  socket: WebSocket;
  /** The events that have arrived, oldest first. */
  events: SeenEvent[];
  /** Sends a message. */
  send(message: object): void;
  /** Resolves with the first event that has not been waited for and for which this is true. */
  until(isMeant: (event: SeenEvent) => boolean): Promise<SeenEvent>;
  /** Resolves with the code and the reason once it has closed. */
  closed: Promise<{ code: number; reason: string }>;
}

/** Opens a WebSocket through the gate. It ends with the test. */
export async function openSocket(
  t: TestContext,
  { port }: { port: number },
  options: ClientOptions & { path?: string } = {},
): Promise<TestSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${options.path ?? "/v1/responses"}`, options);
  t.after(() => socket.terminate());
  const events: SeenEvent[] = [];
  let seen = 0;
  let arrived = withResolvers<void>();
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once("close", (code, reason) => {
      resolve({ code, reason: reason.toString() });
      arrived.resolve();
    }),
  );
  socket.on("message", (data: Buffer) => {
    events.push(JSON.parse(data.toString()) as SeenEvent);
    arrived.resolve();
    arrived = withResolvers();
  });
  socket.on("error", () => {});
  await once(socket, "open");
  return {
    socket,
    events,
    closed,
    send: (message) => socket.send(JSON.stringify(message)),
    async until(isMeant) {
      for (;;) {
        const at = events.findIndex((event, index) => index >= seen && isMeant(event));
        const event = events[at];
        if (event !== undefined) {
          seen = at + 1;
          return event;
        }
        if (socket.readyState === WebSocket.CLOSED) throw new Error(`closed after ${JSON.stringify(events)}`);
        await arrived.promise;
      }
    },
  };
}

/** Returns the connection below a WebSocket of `ws`. */
export function connectionOf(socket: WebSocket): Socket {
  return Reflect.get(socket, "_socket") as Socket;
}

/** Marks a frame as the first of a compressed message. */
export function markCompressed(frame: Buffer): Buffer {
  frame[0] = (frame[0] ?? 0) | 0x40;
  return frame;
}

/** Sends bytes as the payload of a compressed message. */
export function sendCompressed({ socket }: TestSocket, payload: Buffer): void {
  connectionOf(socket).write(markCompressed(writeMaskedFrame(OPCODE.text, payload, randomBytes(4))));
}

/** Tries to open a WebSocket, and resolves with the response that refuses it. */
export function refusedSocket(
  { port }: { port: number },
  options: ClientOptions & { path?: string } = {},
): Promise<{ status: number; headers: IncomingMessage["headers"]; body: string }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${options.path ?? "/v1/responses"}`, options);
  return new Promise((resolve, reject) => {
    socket.on("open", () => {
      socket.terminate();
      reject(new Error("the WebSocket was opened"));
    });
    socket.on("error", reject);
    socket.on("unexpected-response", (_request, response: IncomingMessage) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
  });
}

/** True for an event that ends a response. */
export function isTerminal({ type }: SeenEvent): boolean {
  return /^(?:response\.(?:completed|failed|incomplete)|error)$/.test(type);
}
