import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { killLeftovers } from "../helpers/process/run-bounded.ts";
import { testEnvironment } from "../run/environment.ts";
import { locateMutant } from "./locate-mutant.ts";
import type { Mutant } from "./mutant.ts";
import { removeDirectory, unmountLeftovers } from "../helpers/process/scratch-directory.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const COPIED = [
  "src",
  "test",
  "docs",
  "package.json",
  "tsconfig.json",
  ".github",
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
  "systemd",
  "launchd",
];

/** Removing a rule may leave a name unused. Any other compiler error is a mistake in the mutant. */
const TYPES =
  "node_modules/.bin/tsc -p tsconfig.json --noUnusedLocals false --noUnusedParameters false --incremental --tsBuildInfoFile";

/** The steps of the build that a source can change, and the one that it cannot: it is made once. */
const PROGRAM_STEPS = ["bundle", "bundle:statusline"];
const PRICES_STEP = "prices";

/** A test that takes this long, and three times as long as with every rule in place, hangs. */
const HANGS_MS = 30_000;

/** What a test file says: the first test that fails, or what else is wrong with it; null when it passes. */
export interface TestRun {
  failure: string | null;
  /** How many of its tests cannot run on this machine. */
  skipped: number;
  ms: number;
}

/** What became of a mutant. */
export interface Verdict {
  /** Of a mutant that is itself wrong, nothing can be said. */
  kind: "noticed" | "survives" | "wrong";
  /** The test that failed, or what is wrong. */
  detail: string;
}

/** A copy of the project, in which one rule at a time is removed. Rejects with an `AbortError` once the signal is aborted. */
export class ProjectCopy {
  readonly #parent = mkdtempSync(join(tmpdir(), "tollkeeper-mutants-"));
  readonly #root = join(this.#parent, "project");
  readonly #signal: AbortSignal;
  /** What `dist` was built from: a mutant may have been the last. */
  #built: "nothing" | "sources" | "mutant" = "nothing";
  /** How long checking the types and building took the last time. */
  preparingMs = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    // Some tests run the daemon as another user, and skip where that user cannot read the program.
    chmodSync(this.#parent, 0o755);
    for (const name of COPIED) cpSync(join(ROOT, name), join(this.#root, name), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(this.#root, "node_modules"));
    // Some tests read recorded bodies that are beside the project.
    symlinkSync(join(ROOT, "../shared"), join(this.#parent, "shared"));
  }

  /** Checks the types with every rule in place; from then on only those of what changes. Throws the compiler's errors. */
  async checkTypes(): Promise<void> {
    const errors = await this.#prepare(false);
    if (errors !== "") throw new Error(errors);
  }

  /** Runs a test file with every rule in place. `usesProgram`: it runs the built program. */
  async runTest(test: string, usesProgram: boolean): Promise<TestRun> {
    const errors = usesProgram && this.#built !== "sources" ? await this.#build() : "";
    if (errors !== "") throw new Error(errors);
    if (usesProgram) this.#built = "sources";
    return this.#runTest(test, 10 * HANGS_MS);
  }

  /**
   * Removes one rule, runs its test and restores the rule. The types are checked, too: with a mistake in it, a mutant proves nothing.
   * @param usesProgram whether the test runs the built program
   * @param usualMs how long the test takes with every rule in place
   */
  async try(mutant: Mutant, usesProgram: boolean, usualMs: number): Promise<Verdict> {
    const restore = this.#remove([mutant]);
    try {
      const errors = await this.#prepare(usesProgram);
      if (errors !== "") return { kind: "wrong", detail: errors };
      const { failure } = await this.#runTest(mutant.test, Math.max(HANGS_MS, 3 * usualMs));
      return failure === null ? { kind: "survives", detail: "" } : { kind: "noticed", detail: failure };
    } finally {
      restore();
    }
  }

  /**
   * Removes rules of different files together, checks the types and restores them. Returns the compiler's errors.
   * @param mutants at most one of each file
   */
  async typeErrorsOf(mutants: readonly Mutant[]): Promise<string> {
    const restore = this.#remove(mutants);
    try {
      return await this.#prepare(false);
    } finally {
      restore();
    }
  }

  remove(): void {
    killLeftovers(this.#parent);
    unmountLeftovers(this.#parent);
    removeDirectory(this.#parent);
  }

  /** Removes rules of different files. Returns what puts them back. */
  #remove(mutants: readonly Mutant[]): () => void {
    const sources = new Map<string, string>();
    for (const mutant of mutants) {
      const path = join(this.#root, mutant.file);
      const { source, start, end, replacement } = locateMutant(mutant, this.#root);
      sources.set(path, source);
      writeFileSync(path, source.slice(0, start) + replacement + source.slice(end));
    }
    return () => {
      for (const [path, source] of sources) writeFileSync(path, source);
    };
  }

  /** Checks the types of a mutant, and builds it if that is needed. Returns the errors. */
  async #prepare(usesProgram: boolean): Promise<string> {
    const startedAt = performance.now();
    const { output, code } = await this.#run([...TYPES.split(" "), join(this.#parent, "types")]);
    const errors = code === 0 ? "" : output;
    const all = errors === "" && usesProgram ? await this.#build() : errors;
    this.preparingMs = performance.now() - startedAt;
    return all;
  }

  /** Builds what is there now: it may be a mutant. Returns the errors. */
  async #build(): Promise<string> {
    const steps = this.#built === "nothing" ? [...PROGRAM_STEPS, PRICES_STEP] : PROGRAM_STEPS;
    const { scripts } = JSON.parse(readFileSync(join(this.#root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const programs = [join(this.#root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
    const env = { ...process.env, PATH: programs };
    this.#built = "mutant";
    const { output, code } = await this.#run(
      ["sh", "-c", steps.map((step) => scripts[step] ?? "false").join(" && ")],
      { env },
    );
    return code === 0 ? "" : output;
  }

  /** A first failure is enough: the rest of the file is not awaited. */
  async #runTest(test: string, limitMs: number): Promise<TestRun> {
    const startedAt = performance.now();
    const limit = AbortSignal.timeout(Math.ceil(limitMs));
    const failed = /^not ok \d+ - (.*)$/m;
    const { output, code } = await this.#run(
      [process.execPath, "--import", "tsx", "--test", "--test-reporter=tap", test],
      { until: failed, limit, env: testEnvironment(this.#parent) },
    );
    const first = failed.exec(output)?.[1] ?? null;
    const other = limit.aborted ? "hangs" : code === 0 ? null : "the file fails as a whole";
    const skipped = output.match(/^ *ok \d+ .*# SKIP\b/gm)?.length ?? 0;
    return { failure: first ?? other, skipped, ms: performance.now() - startedAt };
  }

  /** Runs a program to its end, or until it prints this; then kills it with all that it has started. */
  async #run(
    [file = "", ...args]: readonly string[],
    options: { until?: RegExp; limit?: AbortSignal; env?: NodeJS.ProcessEnv } = {},
  ): Promise<{ output: string; code: number | null }> {
    this.#signal.throwIfAborted();
    const { until, limit, env } = options;
    const child = spawn(file, args, {
      cwd: this.#root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const kill = () => {
      try {
        process.kill(-Number(child.pid), "SIGKILL");
      } catch {
        // All have ended.
      }
    };
    this.#signal.addEventListener("abort", kill);
    limit?.addEventListener("abort", kill);
    let output = "";
    const closed = once(child, "close");
    child.stderr
      .setEncoding("utf8")
      .on("data", (text: string) => (output += until === undefined ? text : ""));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (until?.test(output)) kill();
    });
    const [code] = (await once(child, "exit")) as [number | null];
    this.#signal.removeEventListener("abort", kill);
    kill();
    // They would hold its output open.
    killLeftovers(this.#parent);
    await closed;
    this.#signal.throwIfAborted();
    return { output, code };
  }
}
