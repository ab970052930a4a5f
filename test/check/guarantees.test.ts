import assert from "node:assert/strict";
import { test } from "node:test";
import { GUARANTEES } from "../../src/check/guarantees.ts";
import { RESPONSE_DEFECTS } from "./defects/responses.ts";
import { findViolations } from "./defective-path.ts";
import { RECORD_DEFECTS } from "./defects/records.ts";
import { REFUSAL_DEFECTS } from "./defects/refusals.ts";
import { REQUEST_DEFECTS } from "./defects/requests.ts";

const DEFECTS = [...REQUEST_DEFECTS, ...RESPONSE_DEFECTS, ...REFUSAL_DEFECTS, ...RECORD_DEFECTS];

test("a correct tollkeeper between two relays violates no guarantee", async (t) => {
  assert.deepEqual(await findViolations(t, {}, []), []);
});

for (const { title, violates, timesOut, fault, ...defect } of DEFECTS) {
  test(`a tollkeeper that ${title} violates "${violates}" and nothing else`, async (t) => {
    const violations = await findViolations(t, defect, timesOut === true ? [violates] : []);
    assert.deepEqual(
      violations.map(({ name }) => name),
      [violates],
      violations.map((violation) => violation.fault).join("\n"),
    );
    assert.match(violations[0]?.fault ?? "", fault);
    assert.match(violations[0]?.remedy ?? "", /tollkeeper (?:check --json|config check)$/);
  });
}

test("every guarantee has a defect that violates it", () => {
  const violated = new Set(DEFECTS.map(({ violates }) => violates));
  assert.deepEqual(
    GUARANTEES.map(({ name }) => name).filter((name) => !violated.has(name)),
    [],
  );
});
