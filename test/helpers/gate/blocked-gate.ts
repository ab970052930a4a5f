import type { ServerResponse } from "node:http";
import { EventEmitter } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import type { ConnectionHandler, Listener } from "../../../src/proxy/client/listener.ts";
import { listen } from "../../../src/proxy/client/listener.ts";
import { startGate, type TestGate } from "./gate.ts";

/** More than the system keeps for a client that does not read. */
export const BACKLOG = Buffer.alloc(32 * 1024 * 1024, "-");

/** A gate whose answers cannot leave: each connection begins with a {@link BACKLOG} that its client has to read first. */
export interface BlockedGate extends Omit<TestGate, "listener" | "url"> {
  listener: Listener;
  client: Socket;
  /** Says each `request` that comes in. */
  requests: EventEmitter<{ request: [ServerResponse] }>;
}

/** Starts one with a client that reads nothing yet; ends with the test. */
export async function startBlockedGate(t: TestContext, baseUrl: string): Promise<BlockedGate> {
  const inner = await startGate(t, baseUrl);
  const requests = new EventEmitter<{ request: [ServerResponse] }>();
  const door: ConnectionHandler = {
    accept(socket) {
      inner.gate.accept(socket);
      socket.write(BACKLOG);
    },
    release: (socket) => inner.gate.release(socket),
    handle(req, res, expectsContinue) {
      const handled = inner.gate.handle(req, res, expectsContinue);
      requests.emit("request", res);
      return handled;
    },
  };
  const listener = await listen(0, door);
  const client = connect(listener.port, "127.0.0.1");
  t.after(async () => {
    client.destroy();
    await listener.destroy();
  });
  return { ...inner, listener, port: listener.port, client, requests };
}
