import { provokesRetry } from "../http/retry-triggers.ts";
import { renderMessage, type Refusal, type RefusalCode } from "../http/refusal.ts";

/** A refusal by what the configuration says that a tool may do. */
interface Denial {
  code: RefusalCode;
  /** The same in ever fewer characters: names are of any length. */
  problems: readonly [string, ...string[]];
  /** What to type to change it. */
  command: string;
  details: string;
}

/** Some screens show no more of a message (docs/wire.md section 4). */
const SCREEN_CHARACTERS = 80;

/**
 * Words a refusal so that the command is seen, and no tool tries again because of a name in it: with the first of its problems that
 * serves both, or else with the last.
 */
export function refuseByPolicy({ code, problems, command, details }: Denial): Refusal {
  const fits = (problem: string) =>
    renderMessage({ problem, command }).length <= SCREEN_CHARACTERS && !provokesRetry(problem);
  const problem = problems.find(fits) ?? problems.at(-1) ?? problems[0];
  return { code, problem, command, details };
}
