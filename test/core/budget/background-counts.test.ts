// Which record of a background response counts, record by record: the same as where all of them are known.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { BackgroundCounts } from "../../../src/core/budget/background-counts.ts";
import { BackgroundResponses } from "../../../src/core/ledger/background.ts";
import type { SummableRecord, UsageRecord } from "../../../src/core/ledger/record.ts";
import { classify, isBackground } from "../../../src/core/ledger/spend.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const BATCH = { response_id: "batch_1", spend: "attach_by_response_id" } as const;
const creation = usageRecord({
  ...BATCH,
  route: "/batches",
  usage: "pending",
  outcome: "queued",
  tokens: null,
});

const fetched = (route: string, changes: Partial<UsageRecord> = {}) =>
  usageRecord({
    ...BATCH,
    method: "GET",
    route,
    flags: ["summed"],
    tokens: tokens({ input_uncached: 300 }),
    ...changes,
  });
const sum = fetched("/batches/{id}");
const sized = fetched("/files/{id}/content", { smallest_prompt: 100, largest_prompt: 200 });
const cut = fetched("/files/{id}/content", { usage: "partial", outcome: "cut", cut_by: "client" });

/** Returns the sources that count in the end. */
function countOf(records: readonly SummableRecord[], counts = new BackgroundCounts()): string[] {
  const counting = new Map<string, number>();
  for (const record of records)
    for (const { request, sign } of counts.add(record))
      counting.set(request.source.id, (counting.get(request.source.id) ?? 0) + Number(sign));
  return [...counting].filter(([, count]) => count !== 0).map(([id, count]) => `${id} x${count}`);
}

test("the output of a batch takes the place of its sum, and counts once", () => {
  assert.deepEqual(countOf([creation, sum, sum, sized, sized, sum]), [`${sized.id} x1`]);
});

test("a batch whose object has no usage counts by its output", () => {
  const silent = fetched("/batches/{id}", { usage: "absent", tokens: null, spend: "never" });
  assert.deepEqual(countOf([creation, silent, sized]), [`${sized.id} x1`]);
});

test("an output that was cut leaves the sum as it is", () => {
  assert.deepEqual(countOf([creation, sum, cut]), [`${sum.id} x1`]);
});

test("what waits for the output goes on waiting after a restart", () => {
  const before = new BackgroundCounts();
  assert.deepEqual(countOf([creation, sum], before), [`${sum.id} x1`]);
  const after = new BackgroundCounts();
  after.restore(before.waiting());
  assert.deepEqual(
    after.add(sized).map(({ request, sign }) => [request.source.id, sign]),
    [
      [sum.id, -1n],
      [sized.id, 1n],
    ],
  );
});

test("in any order, the same usage counts as where all records are known", () => {
  const records = fc.shuffledSubarray([creation, sum, sized, cut], { minLength: 1 });
  fc.assert(
    fc.property(records, (some) => {
      const all = new BackgroundResponses();
      for (const record of some) if (isBackground(record, classify(record))) all.add(record);
      assert.deepEqual(
        countOf(some),
        all.counted().map(({ source }) => `${source.id} x1`),
      );
    }),
  );
});
