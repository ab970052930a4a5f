import { print } from "../terminal/console.ts";
import { labelledLine } from "../terminal/format.ts";

/** What setup has done so far: its summary, and what an interrupted one has left. */
export class Progress {
  readonly #lines: string[] = [];

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  add(label: string, text: string): void {
    this.#lines.push(lineOf(label, text));
  }

  addFirst(label: string, text: string): void {
    this.#lines.unshift(lineOf(label, text));
  }

  /** Prints it below a heading. */
  show(heading: string): void {
    print([heading, ...this.#lines].join("\n"));
  }
}

function lineOf(label: string, text: string): string {
  return `  ${labelledLine(label, text)}`;
}
