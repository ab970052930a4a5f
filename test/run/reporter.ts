// Reports a test run in few lines: one per folder, every failure in full, the reasons for skipped tests, and the totals.
import { relative, sep } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

const TEST_ROOT = fileURLToPath(new URL("../", import.meta.url));

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

type Passed = Extract<TestEvent, { type: "test:pass" }>["data"];
type Failed = Extract<TestEvent, { type: "test:fail" }>["data"];

/** Turns the events of `node --test` into text. */
export async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const run = new RunReport();
  for await (const event of events) yield run.on(event);
  yield run.end();
}

class RunReport {
  readonly #total: Counts = { passed: 0, failed: 0, skipped: 0 };
  readonly #skipped = new Map<string, number>();
  /** What the processes of files have printed, shown when the file fails. */
  readonly #output = new Map<string, string>();
  readonly #startedAt = performance.now();
  #folder = "";
  #counts: Counts = { passed: 0, failed: 0, skipped: 0 };

  /** Returns the text that an event adds to the report. */
  on(event: TestEvent): string {
    switch (event.type) {
      case "test:stdout":
      case "test:stderr":
        this.#keepOutput(event.data.file, event.data.message);
        return "";
      case "test:pass":
        return this.#enter(event.data.file) + this.#onPass(event.data);
      case "test:fail":
        return this.#enter(event.data.file) + this.#onFail(event.data);
      default:
        return "";
    }
  }

  /** Returns the last lines. */
  end(): string {
    const { passed, failed, skipped } = this.#total;
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    const reasons = [...this.#skipped].map(
      ([reason, count]) => `SKIPPED: ${plural(count, "test")}: ${reason}\n`,
    );
    const totals = `\n${passed} passed, ${failed} failed, ${skipped} skipped, in ${seconds} s\n`;
    return this.#enter(undefined) + reasons.join("") + totals;
  }

  /** Files run in order, so a folder is finished when the first test of another one is. */
  #enter(file: string | undefined): string {
    const folder = file === undefined ? "" : folderOf(file);
    if (folder === this.#folder) return "";
    const line = this.#folder === "" ? "" : renderCounts(this.#folder, this.#counts);
    this.#folder = folder;
    this.#counts = { passed: 0, failed: 0, skipped: 0 };
    return line;
  }

  #onPass(data: Passed): string {
    if (isGroup(data)) return "";
    if (data.skip === undefined) {
      this.#count("passed");
      return "";
    }
    const reason = typeof data.skip === "string" && data.skip !== "" ? data.skip : "no reason is given";
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
    this.#count("skipped");
    return "";
  }

  #onFail(data: Failed): string {
    const { error } = data.details;
    // A test fails with its subtests, which have been reported.
    if ("failureType" in error && error.failureType === "subtestsFailed") return "";
    this.#count("failed");
    const cause = error.cause ?? error;
    // With the causes of the error, such as the assertion that a property failed with.
    const reason = inspect(cause);
    const output = this.#output.get(data.file ?? "") ?? "";
    return `\nFAILED: ${placeOf(data)}\n  ${data.name}\n${indent(reason)}\n${output === "" ? "" : `${indent(output)}\n`}`;
  }

  #keepOutput(file: string | undefined, message: string): void {
    if (file === undefined) return;
    this.#output.set(file, (this.#output.get(file) ?? "") + message);
  }

  #count(kind: keyof Counts): void {
    this.#counts[kind] += 1;
    this.#total[kind] += 1;
  }
}

function isGroup({ details }: Passed): boolean {
  return details.type === "suite";
}

function folderOf(file: string): string {
  const [folder = ""] = relative(TEST_ROOT, file).split(sep);
  return `test/${folder}`;
}

function placeOf({ file, line }: Failed): string {
  return file === undefined ? "" : `test/${relative(TEST_ROOT, file)}:${line ?? 1}`;
}

function renderCounts(folder: string, { passed, failed, skipped }: Counts): string {
  const others = [failed > 0 ? `${failed} FAILED` : "", skipped > 0 ? `${skipped} skipped` : ""].filter(
    Boolean,
  );
  return `${folder.padEnd(28)} ${[`${passed} passed`, ...others].join(", ")}\n`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function indent(text: string): string {
  return text.trimEnd().replace(/^/gm, "    ");
}
