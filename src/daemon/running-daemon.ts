import { askDaemon, type ControlAction } from "../adapters/control-socket.ts";
import { Failure } from "../core/failure.ts";
import { ANSWER_SHAPES, type Answers } from "./control/answer-shapes.ts";
import { findControlPath } from "./control/find-path.ts";
import type { DaemonStatus } from "./status.ts";

/** Sends a command to the running daemon. Returns false when none is running. */
export async function notifyDaemon(action: ControlAction): Promise<boolean> {
  return (await askDaemon(await findControlPath(), action)) !== null;
}

/**
 * Asks the running daemon; null when none is running. Of what it answers, every text is one line without control characters.
 * @throws Failure for an answer that this program does not understand, and as `askDaemon` does
 */
export async function askRunning<Question extends keyof Answers>(
  question: Question,
  query: Record<string, string> = {},
  limitMs?: number,
): Promise<Answers[Question] | null> {
  const answer = await askDaemon(await findControlPath(), question, query, limitMs);
  if (answer === null) return null;
  const fault = ANSWER_SHAPES[question].findFault(answer, "");
  if (fault === null) return answer as Answers[Question];
  const what = fault === "" ? "it is no object" : `"${fault}" is missing, or not as expected`;
  throw new Failure(
    `the daemon's answer to "${question}" is not understood: ${what}`,
    "it may be of another version; restart it with: tollkeeper service restart",
  );
}

/** Returns the status of the running daemon; null when none is running. Throws as {@link askRunning} does. */
export async function daemonStatus(): Promise<DaemonStatus | null> {
  return askRunning("status");
}

/** Throws a Failure when a daemon of this user is already running. `configPath` is that of the one which starts. */
export async function refuseSecondDaemon(configPath: string): Promise<void> {
  const running = await daemonStatus();
  if (running === null) return;
  if (running.state === "stopping") {
    throw new Failure(
      `tollkeeper is still stopping: pid ${running.pid}, open requests: ${running.openExchanges}`,
      "wait until it has stopped, then start again",
    );
  }
  const other = running.config.path === configPath ? "" : `, with the configuration ${running.config.path}`;
  const where = running.listening.join(" and ") + other;
  throw new Failure(
    `tollkeeper is already running: pid ${running.pid}, listening on ${where}`,
    `see it with: tollkeeper status; stop it with: tollkeeper service stop`,
  );
}

/** Returns the port of a running daemon, which is the same on each of its addresses. */
export function listeningPort({ listening }: DaemonStatus): number {
  return Number(/:(\d+)$/.exec(listening[0] ?? "")?.[1]);
}
