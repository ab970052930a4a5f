import type { TestContext } from "node:test";
import type { ClientOptions } from "ws";
import { openSocket, type TestSocket } from "../client/websocket.ts";
import {
  startWebSocketUpstream,
  type WebSocketOptions,
  type WebSocketUpstream,
} from "../upstream/websocket-upstream.ts";
import { startGate, type GateOptions, type TestGate } from "./gate.ts";

/** A message that asks for a response, as Codex sends it. */
export const CREATE = { type: "response.create", model: "gpt-5.5", stream: true, store: false, input: [] };

/** Starts an upstream with WebSockets and a gate in front of it that uses them. Both end with the test. */
export async function startGateWithWebSockets(
  t: TestContext,
  { onMessage, headers, perMessageDeflate, ...options }: WebSocketOptions & GateOptions = {},
): Promise<{ upstream: WebSocketUpstream; gate: TestGate }> {
  const upstream = await startWebSocketUpstream(t, { onMessage, headers, perMessageDeflate });
  const settings = { websocket: "auto", ...options.upstream } as const;
  return { upstream, gate: await startGate(t, upstream.baseUrl, { ...options, upstream: settings }) };
}

/** The same, and opens a WebSocket. */
export async function openThroughGate(
  t: TestContext,
  options: WebSocketOptions & GateOptions & { client?: ClientOptions } = {},
): Promise<{ upstream: WebSocketUpstream; gate: TestGate; client: TestSocket }> {
  const { upstream, gate } = await startGateWithWebSockets(t, options);
  return { upstream, gate, client: await openSocket(t, gate, options.client) };
}
