// Loaded by Node into the process of each test file as its reporter: tells test/run/run-file.ts what begins and what ends.
import { writeSync } from "node:fs";
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
  return { what: "fails", name, reason: inspect(error.cause ?? error) };
}
