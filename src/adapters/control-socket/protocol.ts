import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Failure } from "../../core/failure.ts";
import { isObject } from "../../core/json.ts";
import { toOneLine } from "../../core/text/printable.ts";

/** Commands that make the daemon do something; they return no data. */
export type ControlAction = "reload" | "keys-changed" | "tokens-changed" | "drain" | "end-dashboard-sessions";

/** Commands that get a JSON response. They may have a query. */
export type ControlQuestion =
  | "status"
  | "running"
  | "approve-dashboard"
  | "check-pass"
  | "decide"
  | "statusline"
  | "test-keys"
  | "budgets"
  | "limits"
  | "metrics"
  | "lift-budgets"
  | "reset-budget"
  | "pause"
  | "resume"
  | "captures"
  | "start-capture"
  | "stop-capture"
  | "delete-capture"
  | "captured";

/** The command was valid, but the daemon cannot carry it out in its present state (RFC 9110 section 15.5.10). */
const CONFLICT = 409;

/** Sends a handler's Failure as the response, for {@link readFailure} at the other end. */
export function sendFailure(res: ServerResponse, { message, hint }: Failure): void {
  res.writeHead(CONFLICT, { "content-type": "application/json" }).end(JSON.stringify({ message, hint }));
}

/** Returns the Failure that a response carries, each of its texts in one line; null for any other response. Rejects for a 409 without one. */
export async function readFailure(res: IncomingMessage): Promise<Failure | null> {
  if (res.statusCode !== CONFLICT) return null;
  const answer: unknown = JSON.parse(await text(res));
  if (!isObject(answer) || typeof answer["message"] !== "string")
    throw new Error("its refusal has no message");
  const { message, hint } = answer;
  return new Failure(toOneLine(message), typeof hint === "string" ? toOneLine(hint) : undefined);
}
