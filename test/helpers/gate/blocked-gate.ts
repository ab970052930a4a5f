import type { ServerResponse } from "node:http";
import { EventEmitter } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import type { ConnectionHandler, Listener } from "../../../src/proxy/client/listener.ts";
import { listen } from "../../../src/proxy/client/listener.ts";
import { startGate, type TestGate } from "./gate.ts";

/** More bytes than the kernel buffers for a client that does not read. */
export const BACKLOG = Buffer.alloc(32 * 1024 * 1024, "-");

/** A gate whose responses are stuck: each connection starts with a {@link BACKLOG} that the client has to read first. */
export interface BlockedGate extends Omit<TestGate, "listener" | "url"> {
  listener: Listener;
  client: Socket;
  /** Emits `request` for every request the gate receives. */
  requests: EventEmitter<{ request: [ServerResponse] }>;
}

/** Starts a blocked gate and a client that does not read yet. Both end with the test. */
export async function startBlockedGate(t: TestContext, baseUrl: string): Promise<BlockedGate> {
  const inner = await startGate(t, baseUrl);
  const requests = new EventEmitter<{ request: [ServerResponse] }>();
  const handler: ConnectionHandler = {
    accept(socket, isOnUnixSocket) {
      inner.gate.accept(socket, isOnUnixSocket);
      socket.write(BACKLOG);
    },
    release: (socket) => inner.gate.release(socket),
    refuseInvalid: (socket, error) => inner.gate.refuseInvalid(socket, error),
    handle(req, res, expectsContinue) {
      const handled = inner.gate.handle(req, res, expectsContinue);
      requests.emit("request", res);
      return handled;
    },
  };
  const listener = await listen(0, handler);
  const client = connect(listener.port, "127.0.0.1");
  t.after(async () => {
    client.destroy();
    await listener.destroy();
  });
  return { ...inner, listener, port: listener.port, client, requests };
}
