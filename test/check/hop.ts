import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** Both ends of a connection that passes a hop. */
export interface HopEnds {
  client: Socket;
  server: Socket;
}

/**
 * What a hop makes of a piece of what passes it, as latin1 text; null: nothing goes on. A head comes in one piece, because
 * that is how Node writes it.
 */
export type Bend = (text: string, ends: HopEnds) => string | null;

/** A hop on the way of a request: bytes pass as they are, but for what the bends change. */
export interface HopBends {
  /** Towards the server. */
  up?: Bend;
  /** Towards the client. */
  down?: Bend;
  /** Does not tell the server that the client has left. */
  hidesLeaving?: true;
}

/** A bend that changes the first place that is like this. */
export function replacing(what: string | RegExp, by: string): Bend {
  return (text) => text.replace(what, by);
}

/** Starts a hop on a free loopback port in front of the one that `serverPort` names by the time of a connection. */
export async function startHop(
  t: TestContext,
  serverPort: () => number,
  { up, down, hidesLeaving }: HopBends,
): Promise<number> {
  const sockets = new Set<Socket>();
  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: serverPort(), host: "127.0.0.1", noDelay: true });
    const ends = { client, server };
    pass(client, server, ends, up, hidesLeaving === true);
    pass(server, client, ends, down, false);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  return (listener.address() as AddressInfo).port;
}

function pass(from: Socket, to: Socket, ends: HopEnds, bend: Bend | undefined, hidesLeaving: boolean): void {
  from.on("data", (chunk: Buffer) => {
    const text = bend === undefined ? chunk : bend(chunk.toString("latin1"), ends);
    if (text === null) return;
    to.write(typeof text === "string" ? Buffer.from(text, "latin1") : text);
  });
  from.on("error", () => {});
  from.on("close", () => {
    if (!hidesLeaving) to.destroy();
  });
}
