import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Failure } from "../../core/failure.ts";

/** Both loopback addresses, because clients resolve `localhost` to either. Nothing else, ever. */
const LOOPBACK_ADDRESSES = ["127.0.0.1", "::1"] as const;

/** Longer than any client keeps an idle connection, so that it is the client who closes (at least 75 s, DESIGN section 4). */
const KEEP_ALIVE_MS = 95_000;
/** From the connection, or the first byte of a later request, to the end of its head. */
const HEADERS_LIMIT_MS = 60_000;
const MAX_HEADER_BYTES = 32 * 1024;
/**
 * What is read of a body before anyone wants it. Node sees that a client has left only by reading to the end of what it
 * sent: this much is as large as most requests are. What a client does not read of its answer waits up to the same size.
 */
const READ_AHEAD_BYTES = 1024 * 1024;

/** Where connections and requests arrive: a Gate. */
export interface ConnectionHandler {
  accept(socket: Socket): void;
  /** A connection is to end, as soon as nothing runs on it any more. */
  release(socket: Socket): void;
  /** `expectsContinue`: the client waits for `100 Continue` before it sends its body. Never rejects. */
  handle(req: IncomingMessage, res: ServerResponse, expectsContinue: boolean): Promise<void>;
}

/**
 * Connections that may wait on a handed-over socket, as many as the system allows: they wait there for the next process.
 * Node's 511 would hold for that time, too.
 */
const MOST_WAITING = 65_535;

const HAND_OVER_HINT =
  "correct ListenStream= in the socket unit, or write it anew with: tollkeeper service install";

/** HTTP servers on the loopback addresses. */
export interface Listener {
  port: number;
  /** e.g. `127.0.0.1:8655` and `[::1]:8655`. */
  addresses: string[];
  /** Stops accepting; resolves once the last connection is closed. Running exchanges end by themselves. */
  close(): Promise<void>;
  /** Closes every connection, whatever runs on it. */
  destroy(): Promise<void>;
}

/** What may be different about a listener. */
export interface ListenOptions {
  /** From the connection, or the first byte of a later request, to the end of its head. */
  headersLimitMs?: number | undefined;
  /** Addresses that somebody listens on for us already, e.g. `[::1]:8655`. */
  except?: readonly string[];
}

/**
 * Listens on both loopback addresses. Rejects with Node's error when the port is taken on either: another program on
 * `::1` would get what is meant for us (facts/threats.md A11). A machine without IPv6 is fine. Port 0 picks a free one.
 */
export async function listen(port: number, door: ConnectionHandler, options: ListenOptions = {}): Promise<Listener> {
  let bound = port;
  const listener = await allOrNothing(async (servers) => {
    for (const host of LOOPBACK_ADDRESSES) {
      if (options.except?.includes(writeAddress(host, bound))) continue;
      const place = { port: bound, host, ipv6Only: host === "::1" };
      const server = await open(place, door, options.headersLimitMs);
      if (server === null) continue;
      servers.push(server);
      bound = addressOf(server).port;
    }
  });
  return { ...listener, port: bound };
}

/**
 * Takes over sockets that listen already, by their descriptors: a service manager keeps them open from one process of ours
 * to the next, so that a restart refuses nobody. Rejects, and closes them, unless each is a TCP socket on loopback (facts/
 * threats.md A6).
 */
export function adopt(descriptors: readonly number[], door: ConnectionHandler): Promise<Listener> {
  return allOrNothing(async (servers) => {
    for (const fd of descriptors) {
      const server = await open({ fd, backlog: MOST_WAITING }, door).catch((cause: unknown) => {
        throw new Failure(
          `descriptor ${fd}, which was handed over, is no socket that listens`,
          HAND_OVER_HINT,
          {
            cause,
          },
        );
      });
      if (server === null) continue;
      servers.push(server);
      refuseBeyondLoopback(addressOf(server));
    }
  });
}

/** A failure half way through gives back what was opened. */
async function allOrNothing(openAll: (servers: Server[]) => Promise<void>): Promise<Listener> {
  const servers: Server[] = [];
  try {
    await openAll(servers);
  } catch (error) {
    await Promise.all(servers.map(closeServer));
    throw error;
  }
  return listenerOf(servers);
}

function listenerOf(servers: readonly Server[]): Listener {
  const addresses = servers.map(addressOf);
  const close = async () => {
    await Promise.all(servers.map(closeServer));
  };
  return {
    port: addresses[0]?.port ?? 0,
    addresses: addresses.map(({ address, port }) => writeAddress(address, port)),
    close,
    destroy() {
      for (const server of servers) server.closeAllConnections();
      return close();
    },
  };
}

function writeAddress(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function refuseBeyondLoopback({ address, port }: AddressInfo): void {
  if (LOOPBACK_ADDRESSES.some((loopback) => loopback === address)) return;
  throw new Failure(
    `a socket was handed over that is not on loopback: ${writeAddress(address, port)}`,
    HAND_OVER_HINT,
  );
}

/** An address of this machine, or a socket that is open already. */
type Place = { port: number; host: string; ipv6Only: boolean } | { fd: number; backlog: number };

/** null when the machine does not have the address. */
function open(where: Place, door: ConnectionHandler, headersLimitMs = HEADERS_LIMIT_MS): Promise<Server | null> {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: headersLimitMs,
    // How often Node looks; half the limit, so that it is kept to within half as much again.
    connectionsCheckingInterval: headersLimitMs / 2,
    // A slow upload is no fault: Node would end it after five minutes, however steadily it comes.
    requestTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    highWaterMark: READ_AHEAD_BYTES,
  });
  // Node would drop lines past the thousandth, an Origin among them; the limit in bytes is enough.
  server.maxHeadersCount = 0;
  openDoor(server, door);
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === "EADDRNOTAVAIL" || error.code === "EAFNOSUPPORT";
      if (isMissing && "host" in where && where.host === "::1") resolve(null);
      else reject(error);
    });
    server.listen(where, () => resolve(server));
  });
}

function openDoor(server: Server, door: ConnectionHandler): void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    door.accept(socket);
  });
  // Called when the server closes. Node's own would cut off answers that have ended but not left yet.
  server.closeIdleConnections = () => {
    for (const socket of sockets) door.release(socket);
  };
  server.on("request", (req, res) => void door.handle(req, res, false));
  // Unheard, Node would answer these itself, before the Host is judged.
  server.on("checkExpectation", (req, res) => void door.handle(req, res, false));
  server.on("checkContinue", (req, res) => void door.handle(req, res, true));
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a TCP port");
  return address;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
