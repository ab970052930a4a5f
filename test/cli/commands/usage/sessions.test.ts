// `usage --by session` on a terminal.
import * as fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { listSessions, SESSION_GROUPINGS } from "../../../../src/cli/commands/usage/sessions.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { renderedReport } from "../../../helpers/ledger/rendered-report.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const spent = (session: string | null, changes: Partial<UsageRecord> = {}) =>
  usageRecord({ session, tokens: tokens({ input_uncached: 100_000 }), ...changes });

const listed = (records: readonly UsageRecord[], areAllListed = false, width = 140) =>
  renderedReport(records, {
    by: SESSION_GROUPINGS,
    width,
    arrange: (report) => listSessions(report, areAllListed),
  })
    .split("\n")
    .slice(2);

test("a session has the beginning of its id, its tools, its project and the hour in which it was last used", () => {
  const [head, ...rows] = listed([
    spent("10ee229e-9b2d", { tool: "codex", project: "/code/shop", ts: "2026-11-20T09:10:00.000Z" }),
    spent("10ee229e-9b2d", { tool: "codex", project: "/code/shop", ts: "2026-11-21T11:10:00.000Z" }),
    spent("20ee229e-9b2d", { tool: "zed", project: "/code/shop", ts: "2026-11-21T12:10:00.000Z" }),
    spent("20ee229e-9b2d", {
      tool: "zed",
      project: "/code/docs",
      ts: "2026-11-21T10:10:00.000Z",
      tokens: tokens({ input_uncached: 9 }),
    }),
    spent(null, { tool: "zed", tokens: tokens({ input_uncached: 10 }) }),
  ]);
  assert.match(head ?? "", /^session +tool +project +last used +cost +share +requests /);
  assert.match(rows[0] ?? "", /^10ee229e +codex +\/code\/shop +Nov 21 11:00 +\$0\.2\d+ .* 2 /);
  assert.match(rows[1] ?? "", /^20ee229e +zed +2 projects +Nov 21 12:00 /);
  assert.match(rows[2] ?? "", /^\(no session\) +zed +\(no project\) /);
});

test("beyond twenty sessions the others are one row, unless all are asked for", () => {
  const records = Array.from({ length: 25 }, (_, index) =>
    spent(`session-${String(index).padStart(3, "0")}`),
  );
  const rows = listed(records).slice(1);
  assert.equal(
    rows.findIndex((row) => row.startsWith("total ")),
    21,
  );
  assert.match(rows[20] ?? "", /^5 others +--all +\$/);
  assert.match(rows[0] ?? "", /^session-0\d\d /, "as long as it takes to tell them apart");
  assert.equal(
    listed(records, true).findIndex((row) => row.startsWith("total ")),
    26,
  );
});

test("no two sessions have the same beginning, and at each width rows are whole", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.oneof(fc.uuid(), fc.stringMatching(/^[a-c]{1,12}$/)), { minLength: 1, maxLength: 8 }),
      fc.constantFrom(60, 80, 120, 200),
      (ids, width) => {
        const rows = listed(
          ids.map((id) => spent(id)),
          true,
          width,
        ).slice(1, ids.length + 1);
        const names = rows.map((row) => row.split(/ {2,}/)[0] ?? "");
        assert.equal(new Set(names).size, ids.length);
        for (const name of names)
          assert.ok(
            ids.some((id) => id.startsWith(name)),
            name,
          );
      },
    ),
    { numRuns: 30 },
  );
});
