import { setTimeout as delay } from "node:timers/promises";
import { leaseToken, type TokenLease } from "../../adapters/control-socket.ts";
import type { Config } from "../../core/config/config.ts";
import { findControlPath } from "../../daemon/control/find-path.ts";
import { explainAbsence } from "../service/explain-absence.ts";
import { hashToken, mintToken } from "../../proxy/client/token-hash.ts";

/** Pause between attempts to reach a restarting daemon; shorter than a tool's first retry. */
const RETRY_MS = 100;

/**
 * Calls `act` with a leased local token for a tool, or with null where the configuration requires none. The token is valid
 * until `act` settles or this process ends, however it ends. When the daemon restarts, the new one gets the same token.
 * @throws Failure when no daemon runs, or it grants no more leases
 */
export async function withLease<Result>(
  { access }: Config,
  tool: string,
  act: (token: string | null) => Promise<Result>,
): Promise<Result> {
  if (access.mode !== "token") return act(null);
  const token = mintToken(tool);
  const hash = hashToken(token).toString("hex");
  const requestLease = async () => leaseToken(await findControlPath(), tool, hash);
  const first = await requestLease();
  if (first === null) throw await explainAbsence();
  const done = new AbortController();
  void keepLeased(first, requestLease, done.signal);
  try {
    return await act(token);
  } finally {
    done.abort();
  }
}

/** Requests a new lease whenever the current one ends, until the signal; then releases it. */
async function keepLeased(
  first: TokenLease,
  requestLease: () => Promise<TokenLease | null>,
  signal: AbortSignal,
): Promise<void> {
  let lease: TokenLease | null = first;
  signal.addEventListener("abort", () => lease?.release());
  for (;;) {
    await lease?.ended;
    if (signal.aborted) return;
    // A daemon that refuses now may grant a lease later.
    lease = await requestLease().catch(() => null);
    if (signal.aborted) lease?.release();
    else if (lease === null) await delay(RETRY_MS, undefined, { signal }).catch(() => {});
  }
}
