import { setTimeout as delay } from "node:timers/promises";
import { leaseToken, type TokenLease } from "../../adapters/control-socket.ts";
import type { Config } from "../../core/config/config.ts";
import { hashToken, mintToken } from "../../proxy/token-secret.ts";
import { controlPath, notRunning } from "../../daemon/client.ts";
import type { Token } from "../connect/destination.ts";

/** Between two tries to reach a daemon that is being started again: soon enough for a tool's own second try. */
const RETRY_MS = 100;

/**
 * Does something with a local token of a tool's where one is needed, with null elsewhere. It counts until this is done, or
 * this process has ended, however that is; a daemon that ends meanwhile takes it along, and the next one gets it again.
 * @throws Failure when there is no daemon, or it lends no more
 */
export async function withLease<Result>(
  { access }: Config,
  tool: string,
  act: (token: Token) => Promise<Result>,
): Promise<Result> {
  if (access.mode !== "token") return act(null);
  const token = mintToken(tool);
  const hash = hashToken(token).toString("hex");
  const borrow = () => leaseToken(controlPath(), tool, hash);
  const first = await borrow();
  if (first === null) throw notRunning();
  const done = new AbortController();
  void keepLoan(first, borrow, done.signal);
  try {
    return await act(token);
  } finally {
    done.abort();
  }
}

/** Until the signal it borrows again whenever the loan has ended; then it gives it back. */
async function keepLoan(
  first: TokenLease,
  borrow: () => Promise<TokenLease | null>,
  signal: AbortSignal,
): Promise<void> {
  let loan: TokenLease | null = first;
  signal.addEventListener("abort", () => loan?.giveBack());
  for (;;) {
    await loan?.ended;
    if (signal.aborted) return;
    // A daemon that refuses now may lend later.
    loan = await borrow().catch(() => null);
    if (signal.aborted) loan?.giveBack();
    else if (loan === null) await delay(RETRY_MS, undefined, { signal }).catch(() => {});
  }
}
