import { borrowToken } from "../adapters/control-socket.ts";
import type { Config } from "../core/config.ts";
import { controlPath, notRunning } from "./daemon.ts";
import type { Token } from "./connect/destination.ts";

/**
 * Does something with a local token of a tool's where one is needed, with null elsewhere. The daemon lends it until this
 * is done, or this process has ended, however that is. @throws Failure when the daemon does not
 */
export async function withLoan<Result>(
  { access }: Config,
  tool: string,
  act: (token: Token) => Promise<Result>,
): Promise<Result> {
  if (access.mode !== "token") return act(null);
  const loan = await borrowToken(controlPath(), tool);
  if (loan === null) throw notRunning();
  try {
    return await act(loan.token);
  } finally {
    loan.giveBack();
  }
}
