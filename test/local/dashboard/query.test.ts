import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCostQuery, parseRecordsQuery, parseUsageQuery } from "../../../src/local/dashboard/query.ts";

const of = (query: string) => new URLSearchParams(query);

test("parameters become options of our own command, each in one word", () => {
  assert.deepEqual(parseUsageQuery(of("by=tool,day&fields=requests&since=7d&tool=c*")), [
    "usage",
    "--json",
    "--by=tool,day",
    "--fields=requests",
    "--since=7d",
    "--tool=c*",
  ]);
  assert.deepEqual(parseRecordsQuery(of("lines=5&since=2026-11-01&until=2026-11-02")), [
    "tail",
    "--no-follow",
    "--json",
    "--cost",
    "--lines=5",
    "--since=2026-11-01",
    "--until=2026-11-02",
  ]);
  assert.deepEqual(parseRecordsQuery(of("dearest=true&outcome=failed")).slice(-2), [
    "--dearest=true",
    "--outcome=failed",
  ]);
  assert.deepEqual(parseCostQuery(of("record=some-id")), ["prices", "--json", "--record=some-id"]);
});

test("no value can become another option", () => {
  assert.deepEqual(parseUsageQuery(of("tool=--config%3D/etc/passwd&model=-- x")), [
    "usage",
    "--json",
    "--tool=--config=/etc/passwd",
    "--model=-- x",
  ]);
});

for (const [what, query, problem] of [
  ["an option that is no parameter", "config=/etc/passwd", /there is no parameter "config"/],
  ["an option that would change the answer", "csv=true", /there is no parameter "csv"/],
  ["a parameter twice", "by=tool&by=day", /more than one "by"/],
  ["a value that no program can be given", "tool=a%00b", /"tool" contains a null character/],
  ["a value that is no name", `tool=${"x".repeat(2_000)}`, /"tool" is too long/],
] as const) {
  test(`${what} is refused`, () => {
    assert.match(String(parseUsageQuery(of(query))), problem);
  });
}

test("a question for a cost names a record", () => {
  assert.match(String(parseCostQuery(of(""))), /the parameter "record" is missing/);
});
