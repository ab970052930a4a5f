import { once } from "node:events";
import { lstatSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { toOneLine, toPrintableLines } from "../../core/text/printable.ts";
import { isNotListening, refuseLongPath } from "../unix-socket/path.ts";
import { readFailure, type ControlAction, type ControlQuestion } from "./protocol.ts";

const RESPONSE_TIMEOUT_MS = 5_000;

/**
 * Sends a command to the daemon that listens on `path` and resolves to its JSON response, which is `true` for an action. Each text in it is
 * made one line without control characters, so that it forges no line of what is printed; that of metrics has lines. Resolves to null when no daemon listens. Throws a Failure when the daemon refuses the command or fails to respond.
 */
export async function askDaemon(
  path: string,
  command: ControlAction | ControlQuestion,
  query: Record<string, string> = {},
  limitMs = RESPONSE_TIMEOUT_MS,
): Promise<unknown> {
  refuseLongPath(path);
  try {
    // A starting daemon asks this and usually finds no socket. `lstat` tells in 0.1 ms, a request in 9 ms.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
    const clean = command === "metrics" ? toPrintableLines : toOneLine;
    return JSON.parse(await text(await post(path, command, query, limitMs)), (_name, value: unknown) =>
      typeof value === "string" ? clean(value) : value,
    ) as unknown;
  } catch (error) {
    return nullIfNotListening(error);
  }
}

/**
 * Yields every usage record that the daemon on `path` writes from now on, until the daemon ends. Resolves to null when no
 * daemon listens. Throws as {@link askDaemon} does.
 */
export async function followDaemon(path: string): Promise<AsyncIterable<unknown> | null> {
  refuseLongPath(path);
  try {
    return linesOf(await post(path, "tail"));
  } catch (error) {
    return nullIfNotListening(error);
  }
}

/** A local token that is valid until it is released, or until this process or the daemon ends. */
export interface TokenLease {
  /** Resolves when the lease is over. */
  ended: Promise<void>;
  release(): void;
}

/**
 * Has the daemon on `path` accept the token with this hash as the tool's. Resolves to null when no daemon listens. Throws
 * as {@link askDaemon} does, and a Failure when the daemon grants no more leases.
 */
export async function leaseToken(path: string, tool: string, hash: string): Promise<TokenLease | null> {
  refuseLongPath(path);
  try {
    const res = await post(path, "lease", { tool, hash });
    res.socket.setTimeout(0);
    // However the daemon ends, the lease ends with it, which is not an error.
    res.on("error", () => {});
    const ended = new Promise<void>((resolve) => res.once("close", resolve));
    // The body is empty, but 'close' is only emitted for a response that is being read.
    res.resume();
    return { ended, release: () => void res.destroy() };
  } catch (error) {
    return nullIfNotListening(error);
  }
}

async function* linesOf(res: IncomingMessage): AsyncIterable<unknown> {
  res.socket.setTimeout(0);
  try {
    for await (const line of createInterface(res)) yield JSON.parse(line) as unknown;
  } catch (error) {
    // A daemon that was killed ends the stream like one that stopped properly.
    if (!hasCode(error, "ECONNRESET")) throw error;
  } finally {
    res.destroy();
  }
}

function nullIfNotListening(error: unknown): null {
  if (error instanceof Failure) throw error;
  if (isNotListening(error)) return null;
  const message = `the daemon does not respond correctly: ${messageOf(error)}`;
  throw new Failure(message, "see its log: tollkeeper service logs", { cause: error });
}

async function post(
  path: string,
  command: ControlAction | ControlQuestion | "tail" | "lease",
  query: Record<string, string> = {},
  limitMs = RESPONSE_TIMEOUT_MS,
): Promise<IncomingMessage> {
  const req = request({
    socketPath: path,
    path: `/${command}?${new URLSearchParams(query).toString()}`,
    method: "POST",
    timeout: limitMs,
  });
  req.on("timeout", () => req.destroy(new Error(`no response within ${limitMs} ms`)));
  // `once` rejects on an error before the response. A later one is also emitted on the response and handled there;
  // without a listener here it would crash the process.
  req.on("error", () => {});
  req.end();
  const [res] = (await once(req, "response")) as [IncomingMessage];
  if (res.statusCode === 200) return res;
  const failure = await readFailure(res);
  res.destroy();
  if (failure !== null) throw failure;
  throw new Error(`status ${res.statusCode}`);
}
