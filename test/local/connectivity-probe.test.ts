import assert from "node:assert/strict";
import { test } from "node:test";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";

// That a probe needs no token is in security/a12-local-tokens.test.ts.

for (const path of ["/", "/api/hello", "/t/claude-code/api/hello"]) {
  test(`HEAD ${path} gets an empty 200 from tollkeeper itself and leaves no record`, async (t) => {
    const { upstream, gate } = await startGateWithUpstream(t, respondWithMessage);
    const response = await fetch(gate.url + path, { method: "HEAD" });
    assert.deepEqual([response.status, response.headers.get("content-length")], [200, "0"]);
    assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
  });
}
