import { once } from "node:events";
import { chmodSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { Failure } from "../core/failure.ts";
import type { Log } from "../ports.ts";

/** What the CLI may ask of a running daemon. */
export type ControlCommand = "status" | "reload" | "keys-changed";

/** One handler per command; what it returns is sent as JSON. Never nothing: that is what {@link askDaemon} gives when no daemon runs. */
export type ControlHandlers = Record<ControlCommand, () => object | number | boolean>;

/** The daemon's end of the control socket. */
export interface ControlSocket {
  close(): Promise<void>;
}

const ANSWER_LIMIT_MS = 5_000;

/** `sun_path` with its closing NUL holds 108 bytes on Linux, 104 on macOS (unix(7), unix(4)). */
const MAX_PATH_BYTES = process.platform === "linux" ? 107 : 103;

/**
 * Opens the Unix socket through which the CLI reaches its daemon: HTTP, because Node speaks it on both ends. Only its
 * owner gets in: directory 0700, socket 0600. A stale socket is removed after nobody answered on it. A handler that
 * throws is answered 500 and logged. Throws a Failure when another daemon answers, or the socket cannot be made.
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

/** Asks the daemon that listens on `path`; null when none does. Throws a Failure when there is one and it fails to answer. */
export async function askDaemon(path: string, command: ControlCommand): Promise<unknown> {
  refuseLongPath(path);
  try {
    // When a daemon starts, nobody is there. This finds it out in 0.1 ms, a request in 9.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
    return await post(path, command);
  } catch (error) {
    if (isNobodyThere(error)) return null;
    const message = `the daemon does not answer as it should: ${messageOf(error)}`;
    throw new Failure(message, "its log says why: tollkeeper service logs", { cause: error });
  }
}

async function post(path: string, command: ControlCommand): Promise<unknown> {
  const req = request({ socketPath: path, path: `/${command}`, method: "POST", timeout: ANSWER_LIMIT_MS });
  req.on("timeout", () => req.destroy(new Error(`no answer within ${ANSWER_LIMIT_MS} ms`)));
  // An error that comes after the head is the answer's too, and is dealt with there; unheard it would end the process.
  req.on("error", () => {});
  req.end();
  const [res] = (await once(req, "response")) as [IncomingMessage];
  const body = await text(res);
  if (res.statusCode !== 200) throw new Error(`status ${res.statusCode}`);
  return JSON.parse(body) as unknown;
}

function answer(req: IncomingMessage, res: ServerResponse, handlers: ControlHandlers, log: Log): void {
  const command = (req.url ?? "").slice(1);
  if (!Object.hasOwn(handlers, command)) {
    res.writeHead(404).end("null");
    return;
  }
  try {
    const body = JSON.stringify(handlers[command as ControlCommand]());
    res.writeHead(200, { "content-type": "application/json" }).end(body);
  } catch (error) {
    log.error({ command, err: error }, "a command on the control socket failed");
    res.writeHead(500).end("null");
  }
}

/** libuv may cut a longer path off without a word, and the socket would be another one. */
function refuseLongPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= MAX_PATH_BYTES) return;
  throw new Failure(
    `the control socket's path has ${bytes} bytes, and ${MAX_PATH_BYTES} is the most that the system takes: ${path}`,
    "name a shorter directory with: export XDG_RUNTIME_DIR=/run/user/$(id -u)",
  );
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isNobodyThere(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ECONNREFUSED"].some((code) => hasCode(error, code));
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && Reflect.get(error, "code") === code;
}
