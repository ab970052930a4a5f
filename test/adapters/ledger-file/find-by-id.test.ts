import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { findById } from "../../../src/adapters/ledger-file.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const linesOf = (records: readonly UsageRecord[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

function prepare(t: TestContext, days: Readonly<Record<string, string | Buffer>>) {
  const directory = scratchDirectory(t);
  for (const [name, content] of Object.entries(days))
    writeFileSync(join(directory, name), content, { mode: 0o600 });
  return (id: string) => findById(directory, id);
}

test("a record is found by its id and by the upstream's, on any day, also a compressed one", async (t) => {
  const old = usageRecord({ id: "old", ts: "2026-11-01T12:00:00.000Z", upstream_request_id: "req_old" });
  const torn = '{"v":2,"id":"torn"';
  const find = prepare(t, {
    "2026-11-01.ndjson.gz": gzipSync(linesOf([usageRecord(), old])),
    "2026-11-21.ndjson": linesOf([usageRecord(), usageRecord({ id: "new" })]) + torn,
  });
  assert.equal((await find("new"))?.id, "new");
  assert.deepEqual(await find("old"), old);
  assert.deepEqual(await find("req_old"), old);
  for (const id of ["torn", "", "default", '"', "ol"]) assert.equal(await find(id), null);
});

test("an id that another field has is not that of the record, and of a copy the first is found", async (t) => {
  const first = usageRecord({ id: "first", outcome: "cut" });
  const later = usageRecord({ id: "later", attempt_of: "first", session: "first" });
  const find = prepare(t, {
    "2026-11-21.ndjson": linesOf([later, first, { ...first, outcome: "completed" }]),
  });
  assert.equal((await find("first"))?.outcome, "cut");
  assert.equal(await find("session-1"), null);
});
