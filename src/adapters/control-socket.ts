import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Failure } from "../core/failure.ts";
import type { Log } from "../ports.ts";
import { makePrivateDirectory } from "./control-socket/directory.ts";
import { sendFailure, type ControlAction, type ControlQuestion } from "./control-socket/protocol.ts";
import { listenAt, type SparePlace } from "./unix-socket/listen.ts";
import { refuseLongPath } from "./unix-socket/path.ts";

// control-socket/ask-briefly.ts and address-file.ts have entry points of their own, for a process that has no time to load this.

export { askDaemon, followDaemon, leaseToken, type TokenLease } from "./control-socket/client.ts";
export type { ControlAction } from "./control-socket/protocol.ts";

/** The daemon's handlers, one for each command. A Failure that one throws is sent to the client. */
export interface ControlHandlers
  extends
    Record<ControlAction, () => void>,
    Record<ControlQuestion, (query: URLSearchParams) => object | Promise<object>> {
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

/** A request target: the command and its query. */
const COMMAND = /^\/([a-z-]+)(?:\?(.*))?$/s;

/** Each record is formatted once for every client of `tail`. */
const MAX_TAIL_CLIENTS = 16;

/**
 * Opens the Unix socket through which the CLI reaches the daemon. It speaks HTTP, because Node has both ends of it. Only
 * the owner can connect: the directory has mode 0700, the socket 0600. A socket left behind by a dead daemon is replaced. A
 * handler's Failure becomes a 409 response that carries it; any other error is logged and becomes a 500. A socket that
 * someone removes is created again within seconds; its connections stay. Throws a Failure when another daemon listens there, or
 * when the socket cannot be created.
 * @param spare where it goes when its directory goes, as that of a login session does when the session ends
 */
export async function openControlSocket(
  path: string,
  handlers: ControlHandlers,
  log: Log,
  spare?: SparePlace,
): Promise<ControlSocket> {
  refuseLongPath(path);
  const tailClients = new Set<ServerResponse>();
  const server = createServer((req, res) => void handleRequest(req, res, handlers, tailClients, log));
  const place = { path, name: "the control socket", prepareDirectory: makePrivateDirectory, taken, spare };
  const stopKeeping = await listenAt(server, place, log);
  return {
    close: () =>
      new Promise((resolve) => {
        stopKeeping();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function taken(): Failure {
  return new Failure("tollkeeper is already running", "see it with: tollkeeper status");
}

async function handleRequest(
  req: IncomingMessage,
  res: ServerResponse,
  handlers: ControlHandlers,
  tailClients: Set<ServerResponse>,
  log: Log,
): Promise<void> {
  const [, command = "", query = ""] = COMMAND.exec(req.url ?? "") ?? [];
  if (!Object.hasOwn(handlers, command)) {
    res.writeHead(404).end("null");
    return;
  }
  try {
    if (command === "tail") tail(res, handlers, tailClients);
    else if (command === "lease") lease(res, handlers, new URLSearchParams(query));
    else {
      const handle: (query: URLSearchParams) => unknown =
        handlers[command as ControlAction | ControlQuestion];
      const answer = await handle(new URLSearchParams(query));
      sendJson(res, typeof answer === "object" ? answer : true);
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
    const message = `${MAX_TAIL_CLIENTS} commands are already following the records`;
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
