import { chmodSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { dirname } from "node:path";
import { Failure, hasCode, messageOf } from "../core/failure.ts";
import type { Log } from "../ports.ts";
import { isNotListening, refuseLongPath } from "./control-socket/path.ts";
import { sendFailure, type ControlAction } from "./control-socket/protocol.ts";

export { askDaemon, followDaemon, leaseToken, type TokenLease } from "./control-socket/client.ts";
export type { ControlAction } from "./control-socket/protocol.ts";

/** The daemon's handlers, one for each command. A Failure that one throws is sent to the client. */
export interface ControlHandlers extends Record<ControlAction, () => void> {
  /** Returns the daemon's status, which is sent as JSON. */
  status(): object;
  /** Calls `send` with every record from now on, until the returned function is called. */
  tail(send: (record: object) => void): () => void;
  /** Accepts the token with this hash as the tool's, until the returned function is called. */
  lease(tool: string, hash: string): () => void;
}

/** The daemon's end of the control socket. */
export interface ControlSocket {
  close(): Promise<void>;
}

/** How much may be queued for a client of `tail`, some 500 records. A client that does not read is disconnected at this limit. */
const MAX_QUEUED_BYTES = 256 * 1024;

/** Each record is formatted once for every client of `tail`. */
const MAX_TAIL_CLIENTS = 16;

/**
 * Opens the Unix socket through which the CLI reaches the daemon. It speaks HTTP, because Node has both ends of it. Only
 * the owner can connect: the directory has mode 0700, the socket 0600. A socket that a dead daemon left is replaced. A
 * handler's Failure becomes a 409 response that carries it; any other error is logged and becomes a 500. Throws a Failure
 * when another daemon listens there, or when the socket cannot be created.
 */
export async function openControlSocket(
  path: string,
  handlers: ControlHandlers,
  log: Log,
): Promise<ControlSocket> {
  refuseLongPath(path);
  const tailClients = new Set<ServerResponse>();
  const server = createServer((req, res) => handleRequest(req, res, handlers, tailClients, log));
  try {
    makePrivateDirectory(dirname(path));
    await listenReplacingStale(server, path);
  } catch (error) {
    throw error instanceof Failure ? error : cannotOpen(path, error);
  }
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function handleRequest(
  req: IncomingMessage,
  res: ServerResponse,
  handlers: ControlHandlers,
  tailClients: Set<ServerResponse>,
  log: Log,
): void {
  const [command = "", query = ""] = (req.url ?? "").slice(1).split("?", 2);
  if (!Object.hasOwn(handlers, command)) {
    res.writeHead(404).end("null");
    return;
  }
  try {
    if (command === "tail") tail(res, handlers, tailClients);
    else if (command === "lease") lease(res, handlers, new URLSearchParams(query));
    else if (command === "status") sendJson(res, handlers.status());
    else {
      handlers[command as ControlAction]();
      sendJson(res, true);
    }
  } catch (error) {
    if (error instanceof Failure) {
      sendFailure(res, error);
      return;
    }
    log.error({ command, err: error }, "a command on the control socket failed");
    res.writeHead(500).end("null");
  }
}

function sendJson(res: ServerResponse, value: unknown): void {
  // Serialized before the header is sent, so that a value that cannot be serialized still becomes a 500.
  const body = JSON.stringify(value);
  res.writeHead(200, { "content-type": "application/json" }).end(body);
}

function tail(res: ServerResponse, handlers: ControlHandlers, clients: Set<ServerResponse>): void {
  if (clients.size >= MAX_TAIL_CLIENTS) {
    const message = `${MAX_TAIL_CLIENTS} commands follow the records already`;
    throw new Failure(message, "end one of them: pgrep -af 'tollkeeper.* tail'");
  }
  clients.add(res);
  res.once("close", () => clients.delete(res));
  res.writeHead(200, { "content-type": "application/x-ndjson" }).flushHeaders();
  const stop = handlers.tail((record) => {
    res.write(`${JSON.stringify(record)}\n`);
    if (res.writableLength > MAX_QUEUED_BYTES) res.destroy();
  });
  res.once("close", stop);
}

/** The connection holds the lease: when the client is killed, the lease ends with it. */
function lease(res: ServerResponse, handlers: ControlHandlers, query: URLSearchParams): void {
  const release = handlers.lease(query.get("tool") ?? "", query.get("hash") ?? "");
  res.once("close", release);
  res.writeHead(200).flushHeaders();
}

/**
 * Refuses a link or another user's directory, which could have been planted to receive the socket (SECURITY.md E4). The
 * mode is set explicitly because `mkdir` leaves that of an existing directory as it is.
 */
function makePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  const self = process.geteuid?.() ?? found.uid;
  if (!found.isDirectory() || found.uid !== self) {
    const message = `the control socket is not made in ${directory}: it is a link, or another user's`;
    throw new Failure(message, `look at it with: ls -ld ${directory}; then remove it`);
  }
  chmodSync(directory, 0o700);
}

async function listenReplacingStale(server: Server, path: string): Promise<void> {
  try {
    await listen(server, path);
  } catch (error) {
    if (!hasCode(error, "EADDRINUSE")) throw error;
    if (await hasListener(path))
      throw new Failure("tollkeeper is already running", "see it with: tollkeeper status");
    rmSync(path, { force: true });
    await listen(server, path);
  }
}

/** Creates the socket under a tight umask. With a `chmod` afterwards, someone could connect in between. */
function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const umask = process.umask(0o177);
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
    process.umask(umask);
  });
}

/** False only when the connection is refused, which is what a dead daemon's socket does. A busy daemon's does not. */
function hasListener(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", (error) => resolve(!isNotListening(error)));
  });
}

function cannotOpen(path: string, error: unknown): Failure {
  return new Failure(
    `cannot open the control socket ${path}: ${messageOf(error)}`,
    `look at: ls -ld ${dirname(path)}`,
    { cause: error },
  );
}
