import { chmodSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { dirname } from "node:path";
import { Failure } from "../core/failure.ts";
import { hasCode, messageOf } from "../core/thrown.ts";
import type { Log } from "../ports.ts";
import { answerFailure } from "./control-socket/failure-answer.ts";
import { isNobodyThere, refuseLongPath } from "./control-socket/path.ts";

export { askDaemon, leaseToken, followDaemon, type TokenLease } from "./control-socket/client.ts";

/** What the CLI may tell a running daemon. */
export type ControlOrder = "reload" | "keys-changed" | "tokens-changed" | "drain";

/** What the CLI may ask of one. */
export type ControlCommand = "status" | ControlOrder;

/** One handler for each. */
export interface ControlHandlers extends Record<ControlOrder, () => void> {
  /** Sent as JSON. */
  status(): object;
  /** Hands every record from now on to `send`, until the function that it returns is called. */
  tail(send: (record: object) => void): () => void;
  /**
   * The token with this hash counts as the tool's, until the function that it returns is called. Throws a Failure when it
   * cannot.
   */
  lend(tool: string, hash: string): () => void;
}

/** The daemon's end of the control socket. */
export interface ControlSocket {
  close(): Promise<void>;
}

/** What may wait for a reader of `tail`; one that does not read is let go, so that it holds no memory of the daemon's. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/**
 * Opens the Unix socket through which the CLI reaches its daemon: HTTP, because Node speaks it on both ends. Only its
 * owner gets in: directory 0700, socket 0600. A stale socket is removed after nobody answered on it. A handler's Failure is
 * told to who asked; one that throws anything else is answered 500 and logged. Throws a Failure when another daemon answers, or the socket cannot be made.
 */
export async function openControlSocket(
  path: string,
  handlers: ControlHandlers,
  log: Log,
): Promise<ControlSocket> {
  refuseLongPath(path);
  const server = createServer((req, res) => answer(req, res, handlers, log));
  try {
    makePrivateDirectory(dirname(path));
    await takePath(server, path);
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

function answer(req: IncomingMessage, res: ServerResponse, handlers: ControlHandlers, log: Log): void {
  const [command = "", query = ""] = (req.url ?? "").slice(1).split("?", 2);
  if (!Object.hasOwn(handlers, command)) {
    res.writeHead(404).end("null");
    return;
  }
  try {
    if (command === "tail") tail(res, handlers);
    else if (command === "lend") lend(res, handlers, new URLSearchParams(query));
    else if (command === "status") answerJson(res, handlers.status());
    else {
      handlers[command as ControlOrder]();
      answerJson(res, true);
    }
  } catch (error) {
    if (error instanceof Failure) {
      answerFailure(res, error);
      return;
    }
    log.error({ command, err: error }, "a command on the control socket failed");
    res.writeHead(500).end("null");
  }
}

function answerJson(res: ServerResponse, value: unknown): void {
  // Before the head is sent: what cannot be written must still become a 500.
  const body = JSON.stringify(value);
  res.writeHead(200, { "content-type": "application/json" }).end(body);
}

function tail(res: ServerResponse, handlers: ControlHandlers): void {
  res.writeHead(200, { "content-type": "application/x-ndjson" }).flushHeaders();
  const stop = handlers.tail((record) => {
    res.write(`${JSON.stringify(record)}\n`);
    if (res.writableLength > MAX_WAITING_BYTES) res.destroy();
  });
  res.once("close", stop);
}

/** The loan ends with the connection, however that ends: a borrower that is killed keeps nothing. */
function lend(res: ServerResponse, handlers: ControlHandlers, asked: URLSearchParams): void {
  const giveBack = handlers.lend(asked.get("tool") ?? "", asked.get("hash") ?? "");
  res.once("close", giveBack);
  res.writeHead(200).flushHeaders();
}

/**
 * A link, or a directory of somebody else's, was put there to be written into (facts/threats.md E4). The mode is set
 * once more because a directory that was there keeps its own.
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

async function takePath(server: Server, path: string): Promise<void> {
  try {
    await listen(server, path);
  } catch (error) {
    if (!hasCode(error, "EADDRINUSE")) throw error;
    if (await isAnswering(path))
      throw new Failure("tollkeeper is already running", "see it with: tollkeeper status");
    rmSync(path, { force: true });
    await listen(server, path);
  }
}

/** The socket is made under a tight umask instead of being narrowed afterwards, when someone may be in already. */
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

/** A socket that refuses is a dead daemon's; one that is merely busy is not. */
function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", (error) => resolve(!isNobodyThere(error)));
  });
}

function cannotOpen(path: string, error: unknown): Failure {
  return new Failure(
    `cannot open the control socket ${path}: ${messageOf(error)}`,
    `look at: ls -ld ${dirname(path)}`,
    { cause: error },
  );
}
