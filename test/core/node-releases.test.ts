import assert from "node:assert/strict";
import { test } from "node:test";
import { explainUnmaintainedNode } from "../../src/core/node-releases.ts";

const IN_NOVEMBER_2026 = Date.parse("2026-11-25T12:00:00Z");

test("a Node past its end of life is named with its last day and the lines that are maintained", () => {
  assert.equal(
    explainUnmaintainedNode("20.20.2", IN_NOVEMBER_2026),
    "Node 20.20.2 has had no security fixes since 2026-04-30; use Node 22, 24 or 26",
  );
  assert.match(
    explainUnmaintainedNode("25.1.0", IN_NOVEMBER_2026) ?? "",
    /since 2026-06-01; use Node 22, 24 or 26$/,
  );
});

test("nothing is said of a maintained Node, nor of one that is newer than the table", () => {
  for (const version of ["22.15.0", "24.0.0", "26.10.0", "28.0.0"])
    assert.equal(explainUnmaintainedNode(version, IN_NOVEMBER_2026), null);
});

test("the last day counts as maintained", () => {
  assert.equal(explainUnmaintainedNode("22.0.0", Date.parse("2027-04-30T23:59:59Z")), null);
  assert.match(
    explainUnmaintainedNode("22.0.0", Date.parse("2027-05-01T00:00:00Z")) ?? "",
    /use Node 24 or 26$/,
  );
});

test("where the table has no maintained line left, a later one is advised", () => {
  assert.match(explainUnmaintainedNode("26.0.0", Date.parse("2031-01-01")) ?? "", /use a later one$/);
});
