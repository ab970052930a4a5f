import { constants } from "node:os";
import { EXIT } from "./console.ts";

const ESC = "\u001b[";
/** The alternate screen, without a cursor, on which long lines are cut off (xterm control sequences). */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l`;
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`;
/** What is between these is shown at once (synchronised output). */
const [BEGIN_FRAME, END_FRAME] = [`${ESC}?2026h`, `${ESC}?2026l`];
const CTRL_C = "\u0003";

/** The signals that end the program: the screen is restored before. */
const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Shells report this plus the signal's number. */
const ENDED_BY_SIGNAL = 128;

interface ScreenEvents {
  /** A key was pressed: a character, or what the terminal sends for another key. */
  onKey(key: string): void;
  /** The terminal has another size. */
  onResize(): void;
}

/** The whole terminal. However the program ends, what was there before is there again. */
export class Screen {
  readonly #input = process.stdin;
  readonly #output = process.stdout;

  /** Takes the terminal over. Needs one. Ctrl-C ends the program. */
  constructor({ onKey, onResize }: ScreenEvents) {
    this.#output.write(ENTER);
    process.once("exit", () => this.#output.write(LEAVE));
    for (const signal of ENDINGS)
      process.once(signal, () => process.exit(ENDED_BY_SIGNAL + constants.signals[signal]));
    this.#output.on("resize", onResize);
    if (!this.#input.isTTY) return;
    this.#input.setRawMode(true).setEncoding("utf8");
    process.once("exit", () => this.#input.setRawMode(false));
    this.#input.on("data", (keys: string) => {
      for (const key of splitKeys(keys))
        if (key === CTRL_C) process.exit(EXIT.interrupted);
        else onKey(key);
    });
  }

  /** A terminal that does not tell its size has none, and gets the usual one; here and below. */
  get columns(): number {
    return this.#output.columns || 80;
  }

  get rows(): number {
    return this.#output.rows || 24;
  }

  /** Shows the lines, as many as there is room for. They may be coloured, and are otherwise printable. */
  draw(lines: readonly string[]): void {
    // Erased before it is written: behind a line that fills the terminal, its last character would be erased.
    const shown = lines.slice(0, this.rows).map((line) => `${ESC}J${line}${ESC}0m`);
    this.#output.write(`${BEGIN_FRAME}${ESC}H${shown.join("\r\n")}${END_FRAME}`);
  }

  /** Gives the terminal back, and ends the program. */
  close(): never {
    process.exit(EXIT.done);
  }
}

/** What is typed or pasted may arrive together. Keys that are no characters begin with an escape. */
function splitKeys(typed: string): string[] {
  return typed.startsWith("\u001b") ? [typed] : typed.split("");
}
