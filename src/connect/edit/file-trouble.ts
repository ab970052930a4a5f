import { dirname } from "node:path";
import { Failure } from "../../core/failure.ts";
import { hasCode, messageOf } from "../../core/thrown.ts";

/** Why a file could not be written, for people: `path` as they know it, `place` where links lead from there. */
export function writeTrouble(path: string, place: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const directory = dirname(place);
  const [why, hint] = hasCode(error, "ENOSPC")
    ? ["the disk is full", `make room: df -h '${directory}'`]
    : [messageOf(error), `look at its directory with: ls -ld '${directory}'`];
  return new Failure(`cannot change ${path}: ${why}`, hint, { cause: error });
}
