import type { ProjectCopy, TestRun } from "./copy.ts";
import { groupByTest } from "./choose.ts";
import type { Mutant } from "./mutant.ts";

/** What tries mutants: one at a time. */
export type Copy = Pick<ProjectCopy, "checkTypes" | "preparingMs" | "remove" | "runTest" | "try">;

/** What a run of mutants works with. */
export interface JudgeParts {
  /** How many copies work at once. */
  copies: number;
  openCopy(): Copy;
  /** Whether a test file runs the built program. */
  usesProgram(test: string): boolean;
  /** How long the run may still go on, in milliseconds. */
  msLeft(): number;
  /** Aborted when the run has to end. */
  signal: AbortSignal;
  print(line: string): void;
}

/** How a run ended. */
export interface Judged {
  /** Noticed by their tests. */
  noticed: Mutant[];
  /** Lived, or could not be tried, twice in a row. */
  unnoticed: Mutant[];
  /** There was no time for them, or their tests cannot run on this machine. */
  waiting: Mutant[];
  /** Among those: what was being tried at the end. */
  stopped: Mutant[];
}

export const nameOf = ({ row, without, test }: Mutant) => `${row}  without ${without}  (${test})`;

const WORDS = { noticed: "red  ", survives: "GREEN", wrong: "ERROR" } as const;

/**
 * Tries mutants, those of one test file after another. What seems unnoticed is tried once more before it counts: a test of a whole machine
 * may pass or fail by chance, and such a chance must not fail a change. Nothing begins for which the time that it usually takes is not left.
 */
export class Judge {
  readonly #parts: JudgeParts;
  readonly #waiting: Set<Mutant>;
  readonly #groups: Mutant[][];
  readonly #stopped = new Set<Mutant>();
  readonly #noticed: Mutant[] = [];
  readonly #unnoticed: Mutant[] = [];

  constructor(mutants: readonly Mutant[], parts: JudgeParts) {
    this.#parts = parts;
    this.#waiting = new Set(mutants);
    this.#groups = groupByTest(mutants);
  }

  /** Resolves when all are judged, or the time is over. */
  async run(): Promise<Judged> {
    const count = Math.min(this.#groups.length, this.#parts.copies);
    await Promise.all(Array.from({ length: count }, () => this.#work()));
    return {
      noticed: this.#noticed,
      unnoticed: this.#unnoticed,
      waiting: [...this.#waiting],
      stopped: [...this.#stopped],
    };
  }

  /** In one copy. */
  async #work(): Promise<void> {
    if (this.#parts.signal.aborted) return;
    const copy = this.#parts.openCopy();
    try {
      await copy.checkTypes();
      for (let group = this.#groups.shift(); group !== undefined; group = this.#groups.shift())
        await this.#tryGroup(group, copy);
    } catch (error) {
      if (!this.#parts.signal.aborted) throw error;
    } finally {
      copy.remove();
    }
  }

  /** Tries the mutants of a test file, unless it already fails with every rule in place. */
  async #tryGroup(group: readonly Mutant[], copy: Copy): Promise<void> {
    const { print, usesProgram } = this.#parts;
    const test = group[0]?.test ?? "";
    const runUsual = () => copy.runTest(test, usesProgram(test));
    const first = await runUsual();
    const usual = first.failure === null ? first : await runUsual();
    if (usual.failure !== null) {
      print(
        `FAILS twice with every rule in place, so that it proves nothing: ${test}${indent(usual.failure)}`,
      );
      for (const mutant of group) this.#judged(mutant, this.#unnoticed);
      return;
    }
    if (first.failure !== null)
      print(`FAILS at times with every rule in place: ${test}${indent(first.failure)}`);
    for (const mutant of group) await this.#tryTwice(mutant, copy, usual);
  }

  async #tryTwice(mutant: Mutant, copy: Copy, { ms: usualMs, skipped }: TestRun): Promise<void> {
    const { print, usesProgram, msLeft } = this.#parts;
    for (const attempt of ["first", "last"]) {
      if (msLeft() < copy.preparingMs + usualMs) return;
      this.#stopped.add(mutant);
      const { kind, detail } = await copy.try(mutant, usesProgram(mutant.test), usualMs);
      this.#stopped.delete(mutant);
      print(`${WORDS[kind]} ${nameOf(mutant)}${indent(detail)}`);
      if (kind === "noticed") return this.#judged(mutant, this.#noticed);
      if (kind === "survives" && skipped > 0)
        return print(`         proves nothing: ${skipped} tests of this file are skipped on this machine`);
      if (attempt === "last") this.#judged(mutant, this.#unnoticed);
    }
  }

  #judged(mutant: Mutant, list: Mutant[]): void {
    this.#waiting.delete(mutant);
    list.push(mutant);
  }
}

function indent(detail: string): string {
  return detail.trim() === "" ? "" : `\n${detail.trimEnd()}`.replaceAll("\n", "\n         ");
}
