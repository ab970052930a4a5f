const ESC = "\u001b[";

/** Lines that stay below what is printed, on a terminal. */
export class Footer {
  readonly #output: NodeJS.WriteStream;
  #lines: readonly string[] = [];

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  /** Prints a line above the footer. */
  print(line: string): void {
    this.#output.write(`${this.#erased()}${line}\n${this.#drawn()}`);
  }

  /** Replaces the footer. Each line must fit into the terminal. */
  show(lines: readonly string[]): void {
    const before = this.#erased();
    this.#lines = lines;
    this.#output.write(before + this.#drawn());
  }

  /** Removes the lines from the screen; the cursor is behind its last line. */
  #erased(): string {
    return this.#lines.length === 0 ? "" : `${ESC}${this.#lines.length}A\r${ESC}J`;
  }

  #drawn(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }
}
