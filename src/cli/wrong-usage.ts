import { Failure } from "../core/failure.ts";

/** A command line that makes no sense. Exits with a code of its own. */
export class WrongUsage extends Failure {}

/** Returns the error for arguments of which only one may be given, such as a tool and `--all`. */
export function onlyOneOf(given: readonly string[]): WrongUsage {
  const [one, other] = given;
  const hint =
    given.length === 2 && other === "--all"
      ? `for ${one} alone, leave out --all; for everything, leave out ${one}`
      : "leave all but one of them out";
  return new WrongUsage(`${given.join(" and ")} cannot be used together`, hint);
}
