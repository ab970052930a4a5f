import { askDaemon } from "../../../adapters/control-socket.ts";
import { findControlPath } from "../../../daemon/control/find-path.ts";
import type { RunningRequest } from "../../../core/ledger/running-request.ts";
import { Failure } from "../../../core/failure.ts";

/** The requests that a daemon is serving. */
interface Running {
  /** How many there are; the newest of them are in `requests`. */
  total: number;
  requests: readonly RunningRequest[];
}

const NONE: Running = { total: 0, requests: [] };

/** Returns the running requests; none where no daemon answers. */
export async function readRunning(): Promise<Running> {
  try {
    return ((await askDaemon(await findControlPath(), "running")) as Running | null) ?? NONE;
  } catch (error) {
    if (error instanceof Failure) return NONE;
    throw error;
  }
}
