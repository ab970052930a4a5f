import { EXIT, print, printFailure } from "../terminal/console.ts";
import type { Decision } from "./confirm-changes.ts";

/** A change of one tool's files. */
export interface ToolChange {
  title: string;
  make(): Promise<Decision>;
}

/** Makes changes one after another and prints the totals. Continues after a failure, and then sets exit code 1. */
export async function changeEach(changes: readonly ToolChange[]): Promise<void> {
  const counts = { done: 0, shown: 0, declined: 0, failed: 0 };
  for (const { title, make } of changes) {
    print(`== ${title}`);
    counts[await tryChange(make)] += 1;
  }
  const words = Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`]));
  print(words.length === 0 ? "there is nothing to do" : `== ${words.join(", ")}`);
  if (counts.failed > 0) process.exitCode = EXIT.failed;
}

async function tryChange(make: ToolChange["make"]): Promise<Decision | "failed"> {
  try {
    return await make();
  } catch (error) {
    printFailure(error);
    return "failed";
  }
}
