import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Failure } from "../../core/failure.ts";
import { ACCEPT_QUEUE } from "../../core/http/accept-queue.ts";
import { READ_AHEAD_BYTES } from "./read-ahead.ts";

/** Both loopback addresses, because clients resolve `localhost` to either. No setting adds another address. */
const LOOPBACK_ADDRESSES = ["127.0.0.1", "::1"] as const;

/** Longer than any client keeps an idle connection, so that the client is the one to close it. */
const KEEP_ALIVE_MS = 95_000;
/** Longest time for a request head, from the connection or the first byte of a later request. */
const HEADERS_LIMIT_MS = 60_000;
export const MAX_HEADER_BYTES = 32 * 1024;

/** Handles connections and requests: the gate. */
export interface ConnectionHandler {
  /** `isOnUnixSocket`: the connection came through the Unix socket, not through a loopback port. */
  accept(socket: Socket, isOnUnixSocket: boolean): void;
  /** Closes the connection after the response that is under way on it. */
  release(socket: Socket): void;
  /** Ends a connection on which Node's parser has refused a request, or none has come in time. */
  refuseInvalid(socket: Socket, error: InvalidRequest): void;
  /** `expectsContinue`: the client waits for `100 Continue` before it sends its body. Never rejects. */
  handle(req: IncomingMessage, res: ServerResponse, expectsContinue: boolean): Promise<void>;
}

/** An error of Node's HTTP parser or of a connection, by its code. */
export interface InvalidRequest extends NodeJS.ErrnoException {
  /** The bytes at which it happened: the last of the request. */
  rawPacket?: Buffer;
}

const HAND_OVER_HINT =
  "correct ListenStream= in the socket unit, or rewrite the unit with: tollkeeper service install";

/** A listener that can be closed. */
export interface Closable {
  /** Stops accepting. Resolves once the last connection has closed; running exchanges end by themselves. */
  close(): Promise<void>;
  /** Closes every connection, whatever is running on it. */
  destroy(): Promise<void>;
}

/** HTTP servers on the loopback addresses. */
export interface Listener extends Closable {
  port: number;
  /** e.g. `127.0.0.1:8655` and `[::1]:8655`. */
  addresses: string[];
}

/** Options of {@link listen}. */
interface ListenOptions {
  /** Longest time for a request head, in milliseconds. */
  headersLimitMs?: number | undefined;
  /** Addresses that a handed-over socket already serves, e.g. `[::1]:8655`. */
  except?: readonly string[];
}

/**
 * Listens on both loopback addresses; on a machine without IPv6, on one. Port 0 picks a free port. Rejects with Node's error
 * when the port is taken on either address: a program on `::1` would receive requests that are meant for us (SECURITY.md A11).
 */
export async function listen(
  port: number,
  handler: ConnectionHandler,
  options: ListenOptions = {},
): Promise<Listener> {
  let bound = port;
  const listener = await allOrNothing(async (servers) => {
    for (const host of LOOPBACK_ADDRESSES) {
      if (options.except?.includes(writeAddress(host, bound))) continue;
      const endpoint = { port: bound, host, ipv6Only: host === "::1" };
      const server = await open(endpoint, handler, options.headersLimitMs);
      if (server === null) continue;
      servers.push(server);
      bound = addressOf(server).port;
    }
  });
  return { ...listener, port: bound };
}

/**
 * Takes over listening sockets by their descriptors. A service manager keeps them open from one process to the next, so that a
 * restart refuses no connection. Rejects, and closes them, unless each is a TCP socket on loopback (SECURITY.md A6).
 */
export function adopt(descriptors: readonly number[], handler: ConnectionHandler): Promise<Listener> {
  return allOrNothing(async (servers) => {
    for (const fd of descriptors) {
      const server = await open({ fd }, handler).catch((cause: unknown) => {
        throw new Failure(
          `descriptor ${fd} from the service manager is not a listening socket`,
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

/** Closes the servers that are already open when a later one fails. */
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
  return {
    port: addresses[0]?.port ?? 0,
    addresses: addresses.map(({ address, port }) => writeAddress(address, port)),
    ...closableOf(servers),
  };
}

/** Returns what closes these servers. */
export function closableOf(servers: readonly Server[]): Closable {
  const close = async () => {
    await Promise.all(servers.map(closeServer));
  };
  return {
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
    `a socket from the service manager is not on loopback: ${writeAddress(address, port)}`,
    HAND_OVER_HINT,
  );
}

/** An address to listen on, or a descriptor that already listens. */
type Endpoint = { port: number; host: string; ipv6Only: boolean } | { fd: number };

/** Returns null when the machine does not have the address. */
function open(
  endpoint: Endpoint,
  handler: ConnectionHandler,
  headersLimitMs = HEADERS_LIMIT_MS,
): Promise<Server | null> {
  const server = createHttpServer(handler, false, headersLimitMs);
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === "EADDRNOTAVAIL" || error.code === "EAFNOSUPPORT";
      if (isMissing && "host" in endpoint && endpoint.host === "::1") resolve(null);
      else reject(error);
    });
    server.listen({ ...endpoint, backlog: ACCEPT_QUEUE }, () => resolve(server));
  });
}

/** Returns a server for the connections of the Unix socket. It does not listen yet. */
export function createUnixServer(handler: ConnectionHandler): Server {
  return createHttpServer(handler, true, HEADERS_LIMIT_MS);
}

function createHttpServer(
  handler: ConnectionHandler,
  isOnUnixSocket: boolean,
  headersLimitMs: number,
): Server {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: headersLimitMs,
    // How often Node checks. At half the limit, a request is ended after at most one and a half times the limit.
    connectionsCheckingInterval: headersLimitMs / 2,
    // Node would end any upload after five minutes, however steady.
    requestTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    highWaterMark: READ_AHEAD_BYTES,
  });
  // By default Node drops header lines beyond a number, an Origin among them. The limit in bytes is enough.
  server.maxHeadersCount = 0;
  dispatch(server, handler, isOnUnixSocket);
  return server;
}

function dispatch(server: Server, handler: ConnectionHandler, isOnUnixSocket: boolean): void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    handler.accept(socket, isOnUnixSocket);
  });
  // Called by server.close(). Node's version would truncate responses that have ended but have not been sent yet.
  server.closeIdleConnections = () => {
    for (const socket of sockets) handler.release(socket);
  };
  server.on("request", (req, res) => void handler.handle(req, res, false));
  // Without these listeners Node would respond to such requests itself, before the Host is checked.
  server.on("checkExpectation", (req, res) => void handler.handle(req, res, false));
  server.on("clientError", (error, socket) => handler.refuseInvalid(socket as Socket, error));
  server.on("checkContinue", (req, res) => void handler.handle(req, res, true));
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
