/**
 * How a request ended, in the words of reports for people: by the outcome in records (docs/ledger.md). Most requests are `completed`, and
 * others `failed`, were `refused` by tollkeeper or `cut short`.
 */
const WORDS: Readonly<Record<string, string>> = {
  cut: "cut short",
  error: "failed",
  failed: "failed midway",
  in_progress: "in progress",
  refused: "declined by the model",
  rejected: "refused",
};

/** Returns how a request ended, in words. An outcome that is a word of its own is returned as it is. */
export function describeOutcomeWord(outcome: string): string {
  return WORDS[outcome] ?? outcome;
}
