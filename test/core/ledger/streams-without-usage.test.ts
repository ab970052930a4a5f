import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { StreamsWithoutUsage } from "../../../src/core/ledger/streams-without-usage.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const ABSENT = { usage: "absent", tokens: null, spend: "never" } as const;

/** A stream of Chat Completions whose usage is unknown. */
const silent = (changes: Partial<UsageRecord> = {}) =>
  usageRecord({ route: "/chat/completions", ...ABSENT, ...changes });

const reporting = (changes: Partial<UsageRecord> = {}) =>
  usageRecord({ route: "/chat/completions", ...changes });

/** Returns the tools that are named, with the number of their streams. */
function toolsIn(...records: UsageRecord[]): Record<string, number> {
  const found = new StreamsWithoutUsage();
  for (const record of records) found.add(record);
  return Object.fromEntries(found.tools().map(({ tool, streams }) => [tool, streams]));
}

test("names each tool whose newest stream reported no usage, with how many did not, in alphabetical order", () => {
  const found = new StreamsWithoutUsage();
  found.add(silent({ tool: "nightly", user_agent: "OpenAI/Python 2.1.0" }));
  found.add(reporting({ tool: "opencode" }));
  found.add(silent({ tool: "nightly", user_agent: "OpenAI/Python 2.2.0" }));
  found.add(silent({ tool: "aider", user_agent: null, route: "/completions", outcome: "incomplete" }));
  assert.deepEqual(found.tools(), [
    { tool: "aider", userAgent: null, streams: 1 },
    { tool: "nightly", userAgent: "OpenAI/Python 2.2.0", streams: 2 },
  ]);
});

test("does not name a tool any more once a stream of it reports usage, and names it again when one does not", () => {
  assert.deepEqual(toolsIn(silent(), reporting()), {});
  assert.deepEqual(toolsIn(silent(), reporting(), silent()), { codex: 2 });
});

test("names a tool although another upstream reports its usage, because some do without being asked", () => {
  assert.deepEqual(toolsIn(silent(), reporting({ upstream: "groq" })), { codex: 1 });
});

for (const [what, changes] of [
  ["a response that is not a stream", { stream: false }],
  ["a response of which it is not known", { stream: null }],
  ["a stream that was cut", { outcome: "cut" }],
  ["an error", { outcome: "error" }],
  ["a refusal", { outcome: "rejected" }],
  ["another API", { route: "/responses" }],
  ["a response that could not be decoded", { flags: ["decode_failed"] }],
  ["a response of which a part could not be parsed", { flags: ["bad_json"] }],
  ["a stored response that was fetched", { method: "GET", route: "/chat/completions" }],
] as const) {
  test(`names no tool for ${what}, which says nothing about what was asked for`, () =>
    assert.deepEqual(
      toolsIn(silent({ ...changes, flags: [...("flags" in changes ? changes.flags : [])] })),
      {},
    ));
}
