const SKIPPED = /^\s*ok \d+ - .* # SKIP ?(.*)$/gm;

/** Returns a line for each reason in TAP output why tests were skipped, with the number of tests. */
export function listSkipped(tap: string): string[] {
  const counts = new Map<string, number>();
  for (const [, why = ""] of tap.matchAll(SKIPPED)) {
    const reason = why === "" ? "for no reason given" : why;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => `SKIPPED: ${count} test${count === 1 ? "" : "s"}: ${reason}`);
}
