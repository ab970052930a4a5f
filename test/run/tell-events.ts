// Loaded by Node into the process of each test file as its reporter: tells test/run/run-file.ts what begins and what ends.
import { readFileSync, writeSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

/** The descriptor that the process of a test file has for its events: one line of JSON for each. */
export const EVENTS_FD = 3;

/** What happens to a test. */
export type TestNews =
  | { what: "begins" | "passes"; name: string }
  | { what: "fails" | "is skipped"; name: string; reason: string }
  /** It has tests of its own, and each of them is told of by itself. */
  | { what: "ends"; name: string };

/** Writes at once, because a test that hangs must be known by name. Adds nothing to the output of the tests. */
export default async function* tellEvents(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    const news = newsOf(event);
    if (news !== null) writeSync(EVENTS_FD, `${JSON.stringify(news)}\n`);
  }
  yield "";
}

function newsOf(event: TestEvent): TestNews | null {
  if (event.type === "test:dequeue") return { what: "begins", name: event.data.name };
  if (event.type === "test:pass") {
    const { name, skip, details } = event.data;
    if (details.type === "suite") return { what: "ends", name };
    if (skip === undefined) return { what: "passes", name };
    const reason = typeof skip === "string" && skip !== "" ? skip : "no reason is given";
    return { what: "is skipped", name, reason };
  }
  if (event.type !== "test:fail") return null;
  const { name, details } = event.data;
  const { error } = details;
  // A test fails with its subtests, which have been told of.
  if ("failureType" in error && error.failureType === "subtestsFailed") return { what: "ends", name };
  // With the causes of the error, such as the assertion that a property failed with.
  return { what: "fails", name, reason: nameSources(inspect(error.cause ?? error)) };
}

/** Gives the places of the sources in a stack trace. With `--enable-source-maps`, Node would take 0.05 s for it in every file that passes. */
function nameSources(text: string): string {
  return text.replaceAll(
    /(?:file:\/\/)?([^\s()]+\.mjs):(\d+):(\d+)/g,
    (place, file: string, line: string, column: string) => {
      const map = readSourceMap(`${file}.map`);
      const found = map?.findEntry(Number(line) - 1, Number(column) - 1);
      if (found === undefined || !("originalSource" in found)) return place;
      const { originalSource, originalLine, originalColumn } = found;
      return `${resolve(dirname(file), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
    },
  );
}

function readSourceMap(path: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, "utf8")) as SourceMapPayload);
  } catch {
    // A module that is not compiled.
    return null;
  }
}
