import assert from "node:assert/strict";
import { test } from "node:test";
import { verdictOf } from "../../../../src/local/dashboard/page/health/verdict.ts";
import { UNUSED_UPSTREAM as UNUSED } from "../../../helpers/client/unused-upstream.ts";

const WORKED = { ...UNUSED, worked_at: "2026-11-29T15:00:00Z" };
const FAILED = { ...UNUSED, last_exchange: { at: "2026-11-29T15:00:00Z", outcome: "error", status: 500 } };
const SANDBOX = { ...UNUSED, is_sandbox: true };

for (const [tones, upstreams, expected] of [
  [["", ""], [WORKED, FAILED, SANDBOX], "Everything works."],
  [[""], [UNUSED], "No problem found. No upstream was contacted yet."],
  [[""], [UNUSED, WORKED, UNUSED], "No problem found. 2 of 3 upstreams were not contacted yet."],
  [[""], [UNUSED, WORKED], "No problem found. 1 of 2 upstreams was not contacted yet."],
  [["failure", ""], [FAILED], "1 problem. The rest works."],
  [
    ["failure", "failure", "warning"],
    [UNUSED, UNUSED],
    "2 problems, 1 needs attention. No upstream was contacted yet.",
  ],
  [["warning", "warning"], [WORKED], "2 need attention. The rest works."],
] as const)
  test(`health says “${expected}”`, () => assert.equal(verdictOf(tones, upstreams), expected));
