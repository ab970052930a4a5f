import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** The two connections of a relay. */
interface RelaySockets {
  client: Socket;
  server: Socket;
}

/**
 * Changes one chunk, as latin1 text, on its way through a relay. Returns null to pass nothing on. A head is always one
 * chunk, because Node writes it at once.
 */
export type Tamper = (text: string, sockets: RelaySockets) => string | null;

/** What a relay changes. Everything else passes unchanged. */
export interface RelayTampering {
  /** Tampers with what the client sends. */
  up?: Tamper;
  /** Tampers with what the server sends. */
  down?: Tamper;
  /** Keeps the server's connection open when the client disconnects. */
  hidesDisconnect?: true;
}

/**
 * Returns a tamper function that replaces the first match in each chunk. A short text also occurs in random bodies and words, so
 * match what is around it too.
 */
export function replacing(what: string | RegExp, replacement: string): Tamper {
  return (text) => text.replace(what, replacement);
}

/**
 * Starts a relay on a free loopback port and returns that port.
 * @param serverPort returns the port to connect to; called for each connection
 */
export async function startRelay(
  t: TestContext,
  serverPort: () => number,
  { up, down, hidesDisconnect }: RelayTampering,
): Promise<number> {
  const sockets = new Set<Socket>();
  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: serverPort(), host: "127.0.0.1", noDelay: true });
    const connections = { client, server };
    pass(client, server, connections, up, hidesDisconnect === true);
    pass(server, client, connections, down, false);
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

function pass(
  from: Socket,
  to: Socket,
  connections: RelaySockets,
  tamper: Tamper | undefined,
  hidesDisconnect: boolean,
): void {
  from.on("data", (chunk: Buffer) => {
    const text = tamper === undefined ? chunk : tamper(chunk.toString("latin1"), connections);
    if (text === null) return;
    to.write(typeof text === "string" ? Buffer.from(text, "latin1") : text);
  });
  from.on("error", () => {});
  from.on("close", () => {
    if (!hidesDisconnect) to.destroy();
  });
}
