import type { FileOutcome, Left, Prepared } from "../../connect/connection.ts";
import { renderDiff } from "../../connect/edit/diff.ts";
import type { Scope } from "../../tools/recipe.ts";
import { Failure } from "../../core/failure.ts";
import { redactTokens } from "../../core/identity/local-token.ts";
import { askWhether, isAnybodyThere } from "../terminal/confirm.ts";
import { note, print } from "../terminal/console.ts";
import { shorten } from "../hints.ts";
import { here } from "../../adapters/paths.ts";

/** For the command line. */
export const SCOPES = ["user", "project"] as const satisfies readonly Scope[];

/** What the person says about the change of a tool's files. */
export interface ChangeOptions {
  /** Only show it. */
  isDry: boolean;
  /** Without asking. */
  isAgreed: boolean;
}

/** What the person wants: it is to be `done`, or was only to be `shown`, or not. */
export type Decision = "done" | "shown" | "declined";

/** Shows what is to happen to each file: the lines that change, keys and tokens blotted, and what each setting is for. */
export function showChanges({ changes, left }: Prepared): void {
  const { home } = here();
  for (const change of changes) {
    print(`${shorten(change.path, home)}: ${FATES[change.fate]}`);
    for (const line of renderDiff(change)) print(redactTokens(line));
    for (const { setting, why } of change.whys) print(`  ${setting}: ${why}`);
  }
  for (const { path, setting, reason } of left)
    print(`${setting} in ${shorten(path, home)} ${REASONS[reason]}`);
}

const REASONS: Record<Left["reason"], string> = {
  changed: "was changed since, and stays as it is",
  "was-key": "held a real key, which stays where it was moved to; the setting is left out",
};

const FATES: Record<FileOutcome, string> = {
  created: "a new file",
  changed: "changed",
  same: "is as it shall be",
  restored: "as it was before",
  cleared: "without what connecting wrote; what was changed since stays",
  removed: "removed, as it was not there before",
  gone: "is not there any more, and stays away",
};

/** Asks, unless that was decided before. @throws Failure where nobody can be asked */
export async function decide(question: string, { isDry, isAgreed }: ChangeOptions): Promise<Decision> {
  if (isDry) return "shown";
  if (isAgreed) return "done";
  if (!isAnybodyThere()) {
    throw new Failure("nobody can be asked here, and nothing was changed", "if it shall be done: --yes");
  }
  if (await askWhether(question)) return "done";
  note("nothing was changed");
  return "declined";
}
