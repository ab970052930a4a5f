import { askRunning } from "../../../daemon/running-daemon.ts";
import type { Answers } from "../../../daemon/control/answer-shapes.ts";
import { Failure } from "../../../core/failure.ts";

type Running = Answers["running"];

const NONE: Running = { total: 0, requests: [] };

/** Returns the running requests; none where no daemon answers. */
export async function readRunning(): Promise<Running> {
  try {
    return (await askRunning("running")) ?? NONE;
  } catch (error) {
    if (error instanceof Failure) return NONE;
    throw error;
  }
}
