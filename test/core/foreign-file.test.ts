import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fixForeignFile } from "../../src/core/foreign-file.ts";

test("what root has left may be taken over, and what another user wrote is looked at and moved away", () => {
  assert.equal(fixForeignFile("/h/a b", 0, 1000), "make it yours: sudo chown 1000 '/h/a b'");
  for (const self of [0, 1000]) {
    assert.equal(
      fixForeignFile("/h/a b", 1001, self),
      "look at what its owner wrote, then move it away with: mv '/h/a b' '/h/a b.away'",
    );
  }
});

test("no other place advises to take a file over", () => {
  const src = new URL("../../src/", import.meta.url);
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const found = files.filter((name) => /sudo chown|"chown"/.test(readFileSync(new URL(name, src), "utf8")));
  // What root owns; and the managed file, with a word of warning.
  assert.deepEqual(found.sort(), [
    "adapters/open-up.ts",
    "adapters/trust/exposure.ts",
    "core/foreign-file.ts",
  ]);
});
