import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { continueHistory, describeFailure, type UpstreamHistory } from "../../src/daemon/upstream-history.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";

function historyOf(...changes: Partial<UsageRecord>[]): UpstreamHistory | null {
  return changes.reduce<UpstreamHistory | null>(
    (history, change) => continueHistory(history, usageRecord(change)),
    null,
  );
}

const FAILURES: [reason: string, record: Partial<UsageRecord>][] = [
  [
    "the upstream responded with 529 (overloaded_error)",
    { outcome: "error", status: 529, error_type: "overloaded_error" },
  ],
  ["the upstream responded with 500", { outcome: "error", status: 500, error_type: null }],
  [
    "the upstream closed the connection before it responded",
    { outcome: "cut", status: null, cut_by: "upstream", error_type: "upstream_broke" },
  ],
  ["the upstream's response was truncated", { outcome: "cut", cut_by: "upstream", error_type: null }],
];

for (const [reason, record] of FAILURES) {
  test(`"${reason}" is a failure of the upstream until an exchange works`, () => {
    const failing = historyOf({}, record);
    assert.equal(failing?.failed && describeFailure(failing.failed, null), reason);
    assert.notEqual(failing?.worked, null);
    assert.equal(historyOf({}, record, {})?.failed, null);
    assert.equal(
      historyOf({}, record, { outcome: "cut", cut_by: "client" })?.failed?.error_type,
      failing?.failed?.error_type,
    );
  });
}

test("our own refusal of a broken upstream is a failure in our words; that of a request or a key is none", () => {
  const failed = historyOf({ outcome: "rejected", status: 502, error_type: "upstream_unreachable" })?.failed;
  assert.equal(failed && describeFailure(failed, "nothing listens there"), "nothing listens there");
  for (const code of ["key_missing", "body_too_large", "token_required"])
    assert.equal(historyOf({ outcome: "rejected", error_type: code })?.failed, null);
});
