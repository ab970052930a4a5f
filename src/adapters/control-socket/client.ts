import { once } from "node:events";
import { lstatSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Failure } from "../../core/failure.ts";
import { hasCode, messageOf } from "../../core/thrown.ts";
import type { ControlCommand } from "../control-socket.ts";
import { failureIn } from "./failure-answer.ts";
import { isNobodyThere, refuseLongPath } from "./path.ts";

const ANSWER_LIMIT_MS = 5_000;

/**
 * Asks the daemon that listens on `path`; null when none does, true for an order that it took. Throws a Failure when there
 * is one and it fails to answer.
 */
export async function askDaemon(path: string, command: ControlCommand): Promise<unknown> {
  refuseLongPath(path);
  try {
    // When a daemon starts, nobody is there. This finds it out in 0.1 ms, a request in 9.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
    return JSON.parse(await text(await post(path, command))) as unknown;
  } catch (error) {
    return orNobody(error);
  }
}

/**
 * The records of the daemon that listens on `path`, each when it stands in the ledger, until the daemon ends; null when
 * none listens. Throws as {@link askDaemon} does.
 */
export async function followDaemon(path: string): Promise<AsyncIterable<unknown> | null> {
  refuseLongPath(path);
  try {
    return linesOf(await post(path, "tail"));
  } catch (error) {
    return orNobody(error);
  }
}

/** A local token counts until it is given back, or its borrower or the daemon ends. */
export interface TokenLease {
  /** Resolves then. */
  ended: Promise<void>;
  giveBack(): void;
}

/**
 * Has the daemon that listens on `path` count the token with this hash as the tool's; null when none listens. Throws as
 * {@link askDaemon} does, and when the daemon lends no more.
 */
export async function leaseToken(path: string, tool: string, hash: string): Promise<TokenLease | null> {
  refuseLongPath(path);
  try {
    const res = await post(path, `lend?${new URLSearchParams({ tool, hash }).toString()}`);
    res.socket.setTimeout(0);
    // However the daemon ends, it is the end of the loan and no fault of the borrower's.
    res.on("error", () => {});
    const ended = new Promise<void>((resolve) => res.once("close", resolve));
    // Nothing comes, but the end is only seen by who reads.
    res.resume();
    return { ended, giveBack: () => void res.destroy() };
  } catch (error) {
    return orNobody(error);
  }
}

async function* linesOf(res: IncomingMessage): AsyncIterable<unknown> {
  res.socket.setTimeout(0);
  try {
    for await (const line of createInterface(res)) yield JSON.parse(line) as unknown;
  } catch (error) {
    // However the daemon ended, there is no more to come.
    if (!hasCode(error, "ECONNRESET")) throw error;
  } finally {
    res.destroy();
  }
}

function orNobody(error: unknown): null {
  if (error instanceof Failure) throw error;
  if (isNobodyThere(error)) return null;
  const message = `the daemon does not answer as it should: ${messageOf(error)}`;
  throw new Failure(message, "its log says why: tollkeeper service logs", { cause: error });
}

async function post(
  path: string,
  command: ControlCommand | "tail" | `lend?${string}`,
): Promise<IncomingMessage> {
  const req = request({ socketPath: path, path: `/${command}`, method: "POST", timeout: ANSWER_LIMIT_MS });
  req.on("timeout", () => req.destroy(new Error(`no answer within ${ANSWER_LIMIT_MS} ms`)));
  // An error that comes after the head is the answer's too, and is dealt with there; unheard it would end the process.
  req.on("error", () => {});
  req.end();
  const [res] = (await once(req, "response")) as [IncomingMessage];
  if (res.statusCode === 200) return res;
  const failure = await failureIn(res);
  res.destroy();
  if (failure !== null) throw failure;
  throw new Error(`status ${res.statusCode}`);
}
