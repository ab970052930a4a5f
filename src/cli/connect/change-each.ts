import type { Decision } from "./change-of-files.ts";
import { EXIT, print, printFailure } from "../terminal/console.ts";

/** A change of one tool's files, which may fail. */
export interface ToolChange {
  title: string;
  make(): Promise<Decision>;
}

/** Makes changes one after another; one that fails keeps none back, and makes the program exit with 1. Counts at the end. */
export async function changeEach(changes: readonly ToolChange[]): Promise<void> {
  const counts = { done: 0, shown: 0, declined: 0, failed: 0 };
  for (const { title, make } of changes) {
    print(`== ${title}`);
    counts[await outcomeOf(make)] += 1;
  }
  const words = Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`]));
  print(words.length === 0 ? "there is nothing to do" : `== ${words.join(", ")}`);
  if (counts.failed > 0) process.exitCode = EXIT.failed;
}

async function outcomeOf(make: ToolChange["make"]): Promise<Decision | "failed"> {
  try {
    return await make();
  } catch (error) {
    printFailure(error);
    return "failed";
  }
}
