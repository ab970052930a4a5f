import assert from "node:assert/strict";
import { test } from "node:test";
import { CommitReportBuilder, type Commit } from "../../../src/core/ledger/commits.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const at = (time: string) => `2026-11-21T${time}:00.000Z`;
const commit = (hash: string, time: string): Commit => ({ hash, at: Date.parse(at(time)), subject: hash });
const record = (time: string, changes: Partial<UsageRecord> = {}) =>
  usageRecord({ ts: at(time), project: "/repo", branch: "main", ...changes });

/** Returns the requests of each row that has any, by commit or kind. */
function divide(
  records: readonly UsageRecord[],
  commits: readonly Commit[],
  branch: string | null = "main",
): Record<string, number> {
  const builder = new CommitReportBuilder({
    commits,
    branch,
    isInRepository: (project) => project === "/repo",
    prices: priceBook({}),
    filter: {},
  });
  const day = builder.createDay();
  for (const one of records) day.add(one);
  builder.add(day);
  const { rows, total } = builder.finish();
  assert.equal(
    total.sums.requests,
    rows.reduce((sum, { sums }) => sum + sums.requests, 0),
  );
  const named = rows.map((row) => [row.commit?.hash ?? row.kind, row.sums.requests] as const);
  return Object.fromEntries(named.filter(([, requests]) => requests > 0));
}

const COMMITS = [commit("second", "12:00"), commit("first", "10:00")];

test("a request belongs to the first commit at its time or later, and after the last one to none yet", () => {
  const records = ["09:00", "10:00", "10:01", "12:00", "12:01", "13:00"].map((time) => record(time));
  assert.deepEqual(divide(records, COMMITS), { first: 2, second: 2, uncommitted: 2 });
});

test("rows are what is not committed yet, then the commits, the newest first, with those that cost nothing", () => {
  const options = { commits: COMMITS.toReversed(), branch: "main", prices: priceBook({}), filter: {} };
  const { rows } = new CommitReportBuilder({ ...options, isInRepository: () => true }).finish();
  assert.deepEqual(
    rows.map(({ kind, commit: one }) => one?.hash ?? kind),
    ["uncommitted", "second", "first"],
  );
});

test("commits that a rebase has reordered are taken by the time of the work", () => {
  const records = [record("09:00"), record("11:00")];
  assert.deepEqual(divide(records, COMMITS.toReversed()), divide(records, COMMITS));
});

test("what another branch spent is in a row of its own; a request whose branch is not known counts for this one", () => {
  const records = [record("09:00", { branch: "feature" }), record("09:00", { branch: null })];
  assert.deepEqual(divide(records, COMMITS), { first: 1, other_branches: 1 });
});

test("on a detached HEAD, requests count that were made on one", () => {
  const records = [record("09:00", { branch: "detached:0123456789ab" }), record("09:00")];
  assert.deepEqual(divide(records, COMMITS, null), { first: 1, other_branches: 1 });
});

test("other projects are in no row, and neither is the sandbox", () => {
  const changes = [{ project: "/other" }, { project: null }, { upstream: "sandbox" }];
  assert.deepEqual(
    divide(
      changes.map((one) => record("09:00", one)),
      COMMITS,
    ),
    {},
  );
});

test("a background response belongs to the commit after the request that created it, and counts once", () => {
  const created = record("09:00", {
    response_id: "resp_b",
    spend: "attach_by_response_id",
    usage: "none",
    tokens: null,
  });
  const fetched = record("11:00", {
    response_id: "resp_b",
    spend: "attach_by_response_id",
    method: "GET",
    route: "/responses/{id}",
  });
  assert.deepEqual(divide([created, fetched], COMMITS), { first: 1 });
});
