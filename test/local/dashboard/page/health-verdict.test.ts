import assert from "node:assert/strict";
import { test } from "node:test";
import { verdictOf } from "../../../../src/local/dashboard/page/health/verdict.ts";
import { UNUSED_UPSTREAM as UNUSED } from "../../../helpers/client/unused-upstream.ts";

const WORKED = { ...UNUSED, worked_at: "2026-11-29T15:00:00Z" };
const FAILED = { ...UNUSED, last_exchange: { at: "2026-11-29T15:00:00Z", outcome: "error", status: 500 } };
const SANDBOX = { ...UNUSED, is_sandbox: true };

const REFUSED = { tone: "failure", text: "codex is refused until 6:00 PM" } as const;
const FAILS = { tone: "failure", text: "upstream openai fails" } as const;
const NEARLY = { tone: "warning", text: "zed per day is 84% spent" } as const;
const SANDBOXED = { tone: "warning", text: "the sandbox makes up responses" } as const;
const others = ["one", "two", "three"].map((text) => ({ tone: "failure", text }) as const);

for (const [findings, upstreams, expected] of [
  [[], [WORKED, FAILED, SANDBOX], "Everything works."],
  [[], [UNUSED], "No problem found. No upstream was contacted yet."],
  [[], [UNUSED, WORKED, UNUSED], "No problem found. 2 of 3 upstreams were not contacted yet."],
  [[], [UNUSED, WORKED], "No problem found. 1 of 2 upstreams was not contacted yet."],
  [[REFUSED, REFUSED], [FAILED], "codex is refused until 6:00 PM. The rest works."],
  [
    [NEARLY, FAILS, REFUSED],
    [UNUSED, UNUSED],
    "2 problems: upstream openai fails; codex is refused until 6:00 PM. 1 more needs attention. No upstream was contacted yet.",
  ],
  [[NEARLY], [WORKED], "zed per day is 84% spent. The rest works."],
  [
    [NEARLY, SANDBOXED],
    [WORKED],
    "2 need attention: zed per day is 84% spent; the sandbox makes up responses. The rest works.",
  ],
  [[...others, REFUSED, FAILS], [WORKED], "5 problems: one; two; three; 2 more. The rest works."],
] as const)
  test(`health says “${expected}”`, () => assert.equal(verdictOf(findings, upstreams), expected));
