import assert from "node:assert/strict";
import { test } from "node:test";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { identifyTool } from "../../src/core/identity/tool-identity.ts";
import { REQUEST_SIGNATURES } from "../../src/tools/all.ts";
import { RECORDED_REQUESTS } from "../helpers/tools/recorded-requests.ts";

test("59 requests of real programs were recorded, one of them a connectivity probe, which is never attributed", () => {
  assert.equal(RECORDED_REQUESTS.length, 59);
  // It says only `Bun/1.4.4`, and is answered locally without a record.
  const probes = RECORDED_REQUESTS.filter(({ method }) => method === "HEAD");
  assert.deepEqual(
    probes.map(({ mode }) => mode),
    ["connectivity probe at start"],
  );
});

for (const { id, tool, mode, method, headers } of RECORDED_REQUESTS) {
  if (method === "HEAD") continue;
  test(`the recorded request ${id} (${mode}) is attributed to ${tool} by its headers alone`, () => {
    // One was recorded with x-tollkeeper-tool; it must be recognized without that as well.
    const unmarked = headers.filter(([name]) => name !== "x-tollkeeper-tool");
    const found = identifyTool(null, new HeaderIndex(unmarked.flat()), REQUEST_SIGNATURES);
    assert.equal(found.tool, tool);
    assert.ok(found.by === "signature" || found.by === "library", found.by);
  });
}
