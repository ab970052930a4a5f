import assert from "node:assert/strict";
import { test } from "node:test";
import { PROPERTIES } from "./all.ts";
import { newSeed } from "./property.ts";

// A batch of each, from a new seed every time; `npm run fuzz` goes on for longer.
for (const property of PROPERTIES) {
  test(property.name, async (t) => {
    if (property.missing !== null) {
      t.diagnostic(property.missing);
      t.skip(property.missing);
      return;
    }
    const { finding } = await property.tryBatch(newSeed());
    assert.equal(finding, null, finding ?? "");
  });
}
