import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import {
  continueHistory,
  describeFailure,
  findFailing,
  type FaultKind,
  type UpstreamHistory,
} from "../../src/core/upstream-health.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";

function historyOf(...changes: Partial<UsageRecord>[]): UpstreamHistory | null {
  return changes.reduce<UpstreamHistory | null>(
    (history, change) => continueHistory(history, usageRecord(change)),
    null,
  );
}

function error(status: number, type: string | null = null): Partial<UsageRecord> {
  return { outcome: "error", status, error_type: type };
}

const DOWN: Partial<UsageRecord> = { outcome: "rejected", status: 502, error_type: "upstream_unreachable" };
const PAGE: Partial<UsageRecord> = { outcome: "error", error_type: "web_page", flags: ["web_page"] };

/** A fault, in words, and how many in a row show that the upstream fails. */
const FAULTS: [kind: FaultKind, needed: number, reason: string, record: Partial<UsageRecord>][] = [
  ["errors", 3, "it responded with 529 (overloaded_error)", error(529, "overloaded_error")],
  ["errors", 3, "it responded with 500", error(500)],
  ["errors", 3, "it responded with 502", { ...PAGE, status: 502 }],
  ["errors", 3, "it responded with 200 (api_error)", { outcome: "failed", error_type: "api_error" }],
  [
    "errors",
    3,
    "it closed the connection before it responded",
    { outcome: "cut", status: null, cut_by: "upstream", error_type: "upstream_broke" },
  ],
  ["errors", 3, "its response was truncated", { outcome: "cut", cut_by: "upstream" }],
  ["key_refused", 2, "it refused the key: 401 (authentication_error)", error(401, "authentication_error")],
  ["key_refused", 2, "it refused the key: 403", error(403)],
  [
    "web_page",
    1,
    "it responded with a web page (200); the base URL is wrong, or a proxy or a network login is in between",
    PAGE,
  ],
  [
    "redirect",
    1,
    "it responded with a redirect (301), which tollkeeper never follows; the base URL is wrong",
    { ...PAGE, status: 301 },
  ],
  [
    "redirect",
    1,
    "it responded with a redirect (308), which tollkeeper never follows; the base URL is wrong",
    error(308),
  ],
];

for (const [kind, needed, reason, record] of FAULTS) {
  test(`"${reason}" shows a failing upstream when ${needed} in a row end so, until it responds`, () => {
    const some = Array<Partial<UsageRecord>>(needed).fill(record);
    assert.deepEqual(findFailing(historyOf({}, ...some), null), {
      kind,
      failed: needed,
      of: needed + 1,
      summary: `${needed} of the last ${needed + 1} requests failed: ${reason}`,
    });
    if (needed > 1) assert.equal(findFailing(historyOf({}, ...some.slice(1)), null), null);
    const failed = historyOf(record)?.failed ?? null;
    assert.equal(failed && describeFailure(failed, null), reason);
    const aborted = historyOf(...some, { outcome: "cut", cut_by: "client" });
    assert.equal(findFailing(aborted, null)?.failed, needed);
    for (const response of [{}, error(404, "not_found_error")]) {
      const history = historyOf(...some, response);
      assert.deepEqual([history?.failed, findFailing(history, null)], [null, null]);
    }
  });
}

for (const status of [400, 404, 405, 413, 422, 429]) {
  test(`a response with ${status} is about its request, however often it comes`, () => {
    const history = historyOf(...Array<Partial<UsageRecord>>(30).fill(error(status, "not_found_error")));
    assert.deepEqual([history?.failed, history?.worked, findFailing(history, null)], [null, null, null]);
    assert.equal(findFailing(historyOf(error(500), error(500), error(status), error(500)), null), null);
  });
}

test("one connection that fails shows it, in the words of the refusal; a request or key that is refused shows nothing", () => {
  assert.deepEqual(findFailing(historyOf(DOWN), "connection refused"), {
    kind: "unreachable",
    failed: 1,
    of: 1,
    summary: "1 of 1 request failed: connection refused",
  });
  for (const code of ["key_missing", "body_too_large", "token_required"])
    assert.equal(historyOf({ outcome: "rejected", error_type: code })?.failed, null);
});

test("another kind of fault begins anew, and the share is that of the last twenty requests", () => {
  assert.equal(findFailing(historyOf(error(500), error(500), error(401)), null), null);
  const history = historyOf(DOWN, ...Array.from({ length: 19 }, () => ({})), DOWN, DOWN);
  assert.deepEqual([findFailing(history, "")?.failed, findFailing(history, "")?.of], [2, 20]);
});
