import { currentHost } from "../../adapters/paths.ts";
import type { FileOutcome, PreparedChange, UnrestoredSetting } from "../../connect/connection.ts";
import { renderDiff } from "../../connect/edit/diff.ts";
import { Failure } from "../../core/failure.ts";
import { redactLocalTokens } from "../../core/secrets/local-token.ts";
import type { Scope } from "../../tools/tool.ts";
import { confirm, isInteractive } from "../terminal/confirm.ts";
import { EXIT, note, print, printFailure } from "../terminal/console.ts";
import { displayPath, pluralize } from "../terminal/format.ts";

/** The values of `--scope`. */
export const SCOPES = ["user", "project"] as const satisfies readonly Scope[];

export interface ChangeOptions {
  /** `--dry-run`: only show the change. */
  isDryRun: boolean;
  /** `--yes`: make the change without asking. */
  isConfirmed: boolean;
}

/** `done`: make the change. `shown`: a dry run. `declined`: the user said no. */
export type Decision = "done" | "shown" | "declined";

/** Prints what happens to each file: the diff, with keys and tokens redacted, and what each setting is for. */
export function showChanges(
  { changes, unrestored }: PreparedChange,
  { isDryRun }: Pick<ChangeOptions, "isDryRun">,
): void {
  const { home } = currentHost();
  for (const change of changes) {
    print(
      `${displayPath(change.path, home)}: ${describeOutcome(change.outcome, isDryRun ? "would" : "will")}`,
    );
    for (const line of renderDiff(change)) print(redactLocalTokens(line));
    for (const { setting, purpose } of change.purposes) print(`  ${setting}: ${purpose}`);
  }
  for (const { path, setting, reason } of unrestored)
    print(`${setting} in ${displayPath(path, home)} ${REASONS[reason]}`);
}

const REASONS: Record<UnrestoredSetting["reason"], string> = {
  changed: "was changed since, so it is kept",
  "was-key": "held a real key, which stays in the keychain; the setting is removed",
};

/** Nothing has happened yet, so none of them may sound as if it had. */
function describeOutcome(outcome: FileOutcome, tense: "would" | "will"): string {
  const outcomes: Record<FileOutcome, string> = {
    created: `${tense} be created`,
    changed: `${tense} change`,
    unchanged: "already correct",
    restored: `${tense} be restored`,
    cleared: `what connect wrote ${tense} be removed; later changes ${tense} be kept`,
    removed: `${tense} be removed, because connect created it`,
    missing: "no longer exists, not restored",
  };
  return outcomes[outcome];
}

/** Asks the user, unless the options decide. @throws Failure when there is no terminal to ask on */
export async function confirmChange(
  question: string,
  { isDryRun, isConfirmed }: ChangeOptions,
): Promise<Decision> {
  if (isDryRun) {
    printDryRun();
    return "shown";
  }
  if (isConfirmed) return "done";
  if (!isInteractive()) {
    throw new Failure(
      "there is no terminal to ask on, so nothing was changed",
      "to do it without asking, add --yes",
    );
  }
  if (await confirm(question)) return "done";
  note("nothing was changed");
  return "declined";
}

/** The last line of a dry run. */
export function printDryRun(): void {
  print("Dry run: nothing was changed.");
}

/** A change of one tool's files. */
export interface ToolChange {
  title: string;
  make(): Promise<Decision>;
}

/** What became of each change, by its title. */
type ChangeOutcomes = [title: string, outcome: Decision | "failed"][];

/** Makes changes one after another and prints the totals. Continues after a failure, and then sets exit code 1. */
export async function changeEach(changes: readonly ToolChange[]): Promise<ChangeOutcomes> {
  const counts = { done: 0, shown: 0, declined: 0, failed: 0 };
  const outcomes: ChangeOutcomes = [];
  for (const { title, make } of changes) {
    print(`${title}:`);
    const outcome = await make().catch((error: unknown) => {
      printFailure(error);
      return "failed" as const;
    });
    counts[outcome] += 1;
    outcomes.push([title, outcome]);
  }
  print(describeCounts(counts));
  if (counts.failed > 0) process.exitCode = EXIT.failed;
  return outcomes;
}

/** Says what became of the tools: `2 tools are done. 1 tool was left as it is.` */
function describeCounts({ done, shown, declined, failed }: Record<Decision | "failed", number>): string {
  const sentences = [
    [done, "is done", "are done"],
    [shown, "was only shown", "were only shown"],
    [declined, "was left as it is", "were left as they are"],
    [failed, "failed", "failed"],
  ] as const;
  const said = sentences.flatMap(([count, one, more]) =>
    count === 0 ? [] : [`${pluralize(count, "tool")} ${count === 1 ? one : more}.`],
  );
  return said.length === 0 ? "There is nothing to do." : said.join(" ");
}
