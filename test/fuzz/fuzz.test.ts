import assert from "node:assert/strict";
import { test } from "node:test";
import { PROPERTIES } from "./all.ts";
import { newSeed } from "./property.ts";

// One batch of each property from a random seed. `npm run fuzz` runs for longer.
for (const property of PROPERTIES) {
  test(property.name, async (t) => {
    if (property.missing !== null) {
      t.diagnostic(property.missing);
      t.skip(property.missing);
      return;
    }
    const { finding } = await property.runBatch(newSeed());
    assert.equal(finding, null, finding ?? "");
  });
}
