import type { ConnectionId } from "../../../connect/connection.ts";
import type { LocatedConflict } from "../../../connect/conflicts.ts";
import { describeConflict, variableOf } from "../describe-conflict.ts";
import { detectShell, unsetCommand } from "../environment.ts";

/** Something that a tool sends in place of the plan's login, with which tollkeeper refuses its requests. */
export interface LoginObstacle {
  /** What there is and what it does: two sentences, without the last full stop. */
  what: string;
  /** What removes it: a command, or a sentence. */
  remedy: string;
}

/** Returns those of a tool's conflicts that take the place of the plan's login. Never contains a credential. */
export function findObstacles(conflicts: readonly LocatedConflict[], id: ConnectionId): LoginObstacle[] {
  return conflicts
    .filter(({ effect }) => effect === "login")
    .map((conflict) =>
      conflict.source.kind === "environment"
        ? inEnvironment(conflict, variableOf(conflict))
        : inFile(conflict, id),
    );
}

function inEnvironment({ reason }: LocatedConflict, variable: string): LoginObstacle {
  const command = unsetCommand(detectShell(process.env) ?? "sh", variable);
  return {
    what: `${variable} is set in this shell. While it is set, ${reason}`,
    remedy: `Type: ${command}\n  If a start-up file of your shell sets it, remove it there, too.`,
  };
}

function inFile(conflict: LocatedConflict, id: ConnectionId): LoginObstacle {
  const { where, fix } = describeConflict(conflict, id);
  return { what: `${where} is set. While it is set, ${conflict.reason}`, remedy: `To have it work: ${fix}` };
}
