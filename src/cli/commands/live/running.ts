import { askRunning } from "../../../daemon/running-daemon.ts";
import type { Answers } from "../../../daemon/control/answer-shapes.ts";
import { Failure } from "../../../core/failure.ts";
import type { AccountStatus } from "../../../core/limits/account-limits.ts";
import { attempt } from "../../attempt.ts";

type Running = Answers["running"];

const NONE: Running = { total: 0, requests: [] };

/** Returns the running requests; none where no daemon answers. */
export async function readRunning(): Promise<Running> {
  return (await attempt(Failure, () => askRunning("running"))).value ?? NONE;
}

/** Returns what is known of the services' limits; nothing where no daemon answers, or one of an earlier version. */
export async function readLimits(): Promise<readonly AccountStatus[]> {
  return (await attempt(Failure, () => askRunning("limits"))).value?.accounts ?? [];
}
