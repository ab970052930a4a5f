import assert from "node:assert/strict";
import { test } from "node:test";
import { DayVerifier, type Finding } from "../../../../src/core/ledger/verify/day-verifier.ts";
import { RECORD_VERSION } from "../../../../src/core/ledger/record.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";

/** Verifies these lines of one day; null is a torn one. Returns the findings as `line kind: what`, and the ids of the records. */
function verify(...texts: (string | object | null)[]) {
  const findings: Finding[] = [];
  const verifier = new DayVerifier("2026-11-21", (finding) => findings.push(finding));
  const records = texts.map((text, index) =>
    verifier.add(
      text === null
        ? { file: "2026-11-21.ndjson", line: index + 1, text, fault: "torn" }
        : {
            file: "2026-11-21.ndjson",
            line: index + 1,
            text: typeof text === "string" ? text : JSON.stringify(text),
          },
    ),
  );
  return {
    verifier,
    findings: findings.map(({ line, kind, what }) => `${line} ${kind}: ${what}`),
    ids: records.flatMap((record) => record?.id ?? []),
  };
}

test("says of each unreadable line why it is", () => {
  const { tool: _tool, ...toolless } = usageRecord();
  const { findings, ids } = verify(
    "nonsense",
    "[]",
    "\0\0",
    toolless,
    { ...usageRecord(), model: 5 },
    { ...usageRecord(), id: "" },
    { ...usageRecord(), extra: [{}] },
    { ...usageRecord(), process: { pid: 1 } },
    { ...usageRecord(), tokens: { output: 1 } },
    { ...usageRecord(), billed_usd: "much" },
    {},
    null,
  );
  assert.deepEqual(findings, [
    "1 unreadable: not JSON",
    "2 unreadable: not a JSON object",
    "3 torn: it has no end",
    "4 unreadable: not a record: its field tool is missing",
    "5 unreadable: not a record: its field model is wrong",
    "6 unreadable: not a record: its field id is wrong",
    "7 unreadable: not a record: its field extra is wrong",
    "8 unreadable: not a record: its field process is wrong",
    "9 unreadable: not a record: its field tokens is wrong",
    "10 unreadable: not a record: its field billed_usd is wrong",
    "11 unreadable: not a record: its field v is missing",
    "12 torn: it has no end",
  ]);
  assert.deepEqual(ids, []);
});

test("finds a record with the id of an earlier one, and one that contradicts itself, and still returns both", () => {
  const record = usageRecord({ id: "a" });
  const { findings, ids } = verify(record, { ...record, id: "b", bytes_in: -1 }, { ...record, bytes_in: -1 });
  assert.deepEqual(findings, ["2 impossible: bytes_in is -1", "3 duplicate: it has the id of line 1"]);
  assert.deepEqual(ids, ["a", "b", "a"]);
});

test("counts records of a later format, which are no problem", () => {
  const { verifier, findings, ids } = verify(
    { v: RECORD_VERSION + 1, all: "different" },
    usageRecord({ id: "a" }),
  );
  assert.deepEqual([findings, ids, verifier.laterFormat, verifier.lines], [[], ["a"], 1, 2]);
});
