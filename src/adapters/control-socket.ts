import { mkdirSync, rmSync } from "node:fs";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { dirname } from "node:path";
import { Failure } from "../core/failure.ts";

/** What the CLI may ask of a running daemon. */
export type ControlCommand = "status" | "reload" | "keys-changed";

/** One handler per command; what it returns is sent as JSON. */
export type ControlHandlers = Record<ControlCommand, () => unknown>;

/** The daemon's end of the control socket. */
export interface ControlSocket {
  close(): Promise<void>;
}

const ANSWER_LIMIT_MS = 5_000;

/**
 * Opens the Unix socket through which the CLI reaches its daemon: HTTP, because Node speaks it on both ends. Only its
 * owner gets in: directory 0700, socket 0600. A stale socket is removed after nobody answered on it. Throws a Failure
 * when another daemon answers.
 */
export async function openControlSocket(path: string, handlers: ControlHandlers): Promise<ControlSocket> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const server = createServer((req, res) => answer(req, res, handlers));
  try {
    await listen(server, path);
  } catch (error) {
    if (!hasCode(error, "EADDRINUSE")) throw cannotOpen(path, error);
    if (await isAnswering(path))
      throw new Failure("tollkeeper is already running", "see it with: tollkeeper status");
    rmSync(path, { force: true });
    await listen(server, path);
  }
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Asks the daemon that listens on `path`; null when none does. */
export function askDaemon(path: string, command: ControlCommand): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const req = request({ socketPath: path, path: `/${command}`, method: "POST", timeout: ANSWER_LIMIT_MS });
    req.on("response", (res) => {
      let text = "";
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => (text += chunk));
      res.on("end", () => resolve(JSON.parse(text) as unknown));
    });
    req.on("timeout", () => req.destroy(new Failure("the daemon does not answer", "restart it")));
    req.on("error", (error) => {
      if (hasCode(error, "ENOENT") || hasCode(error, "ECONNREFUSED")) resolve(null);
      else reject(error);
    });
    req.end();
  });
}

function answer(req: IncomingMessage, res: ServerResponse, handlers: ControlHandlers): void {
  const command = (req.url ?? "").slice(1);
  if (!Object.hasOwn(handlers, command)) {
    res.writeHead(404).end("null");
    return;
  }
  const result = handlers[command as ControlCommand]();
  res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result ?? null));
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

function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", () => resolve(false));
  });
}

function cannotOpen(path: string, error: unknown): Failure {
  const reason = error instanceof Error ? error.message : String(error);
  return new Failure(
    `cannot open the control socket ${path}: ${reason}`,
    `look at: ls -ld ${dirname(path)}`,
    {
      cause: error,
    },
  );
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && Reflect.get(error, "code") === code;
}
