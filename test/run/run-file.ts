import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { TestNews } from "./tell-events.ts";

/** No test takes as long on a machine with twenty times its work. One that waits for what never comes must fail, not hang. */
const SILENCE_LIMIT_MS = 600_000;

/** Leftover processes may hold the pipes of a file that has ended. */
const PIPE_LIMIT_MS = 2_000;

/** A test that failed, or a file that failed as a whole. */
export interface Failure {
  name: string;
  reason: string;
}

/** What has become of the tests of a file. */
export interface FileResult {
  passed: number;
  failures: Failure[];
  /** The reason of each skipped test. */
  skipped: string[];
  /** What its process has printed. */
  output: string;
  seconds: number;
}

/** A test file that runs. */
export interface RunningFile {
  /** Below `test`. */
  name: string;
  startedAt: number;
  ended: Promise<FileResult>;
  /** Kills its process and those that it has started. */
  kill(): void;
}

/** A test file as Node can load it. */
export interface TestProgram {
  /** Below `test`. */
  name: string;
  program: string;
  /** tell-events.ts, compiled. */
  reporter: string;
}

/** Runs a test file in a process of its own, without a terminal, so that no test can ask a person. */
export function runFile(
  { name, program, reporter }: TestProgram,
  env: Record<string, string>,
  silenceLimitMs = SILENCE_LIMIT_MS,
): RunningFile {
  const args = [`--test-reporter=${reporter}`, "--test-reporter-destination=stdout"];
  const child = spawn(process.execPath, [...args, program], {
    env,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    detached: true,
  });
  const kill = () => {
    try {
      process.kill(-Number(child.pid), "SIGKILL");
    } catch {
      // The process and all that it has started have ended.
    }
  };
  const startedAt = performance.now();
  const tests = new TestsOfFile();
  let isSilent = false;
  const silence = setTimeout(() => {
    isSilent = true;
    kill();
  }, silenceLimitMs);
  createInterface(child.stdio[3] as Readable).on("line", (line) => {
    silence.refresh();
    tests.hear(JSON.parse(line) as TestNews);
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
  const closed = once(child, "close");
  const end = async (): Promise<FileResult> => {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    clearTimeout(silence);
    kill();
    await Promise.race([closed, delay(PIPE_LIMIT_MS)]);
    if (isSilent) tests.hang(silenceLimitMs);
    else if (code !== 0) tests.end(signal ?? `exit code ${code}`);
    else tests.end(null);
    const { passed, failures, skipped } = tests;
    return { passed, failures, skipped, output, seconds: (performance.now() - startedAt) / 1000 };
  };
  return { name, startedAt, ended: end(), kill };
}

class TestsOfFile {
  passed = 0;
  readonly failures: Failure[] = [];
  readonly skipped: string[] = [];
  /** The names of the tests that run, outermost first. */
  readonly #running: string[] = [];

  hear(news: TestNews): void {
    if (news.what === "begins") {
      this.#running.push(news.name);
      return;
    }
    const index = this.#running.lastIndexOf(news.name);
    if (index !== -1) this.#running.splice(index, 1);
    if (news.what === "passes") this.passed += 1;
    if (news.what === "is skipped") this.skipped.push(news.reason);
    if (news.what === "fails") this.failures.push({ name: news.name, reason: news.reason });
  }

  /** The process was killed because it told of nothing for so long. */
  hang(limitMs: number): void {
    const name = this.#running.length > 0 ? this.#running.join(" > ") : "after the last test";
    this.failures.push({ name, reason: `hangs: no test began or ended for ${limitMs / 1000} s` });
  }

  /** The process ended by itself. A run without tests proves nothing. */
  end(problem: string | null): void {
    if (problem !== null && this.failures.length === 0) {
      const name = this.#running.length > 0 ? this.#running.join(" > ") : "outside of a test";
      this.failures.push({ name, reason: `the file ended with ${problem}` });
    }
    if (this.passed + this.failures.length + this.skipped.length === 0)
      this.failures.push({ name: "the file", reason: "has no test" });
  }
}
