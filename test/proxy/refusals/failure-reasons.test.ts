import assert from "node:assert/strict";
import { test } from "node:test";
import { createUpstream } from "../../../src/core/config/config.ts";
import { FailureReasons } from "../../../src/proxy/refusals/failure-reasons.ts";
import { tooLarge, tooSilent } from "../../../src/core/refusals/limits.ts";
import { noUpstream } from "../../../src/core/refusals/upstreams.ts";

const UPSTREAM = createUpstream("default", "http://127.0.0.1:9104/v1");

test("why an upstream failed is still known after a request to it has failed for a reason of its own", () => {
  const reasons = new FailureReasons();
  reasons.keep("default", tooSilent(UPSTREAM, 5));
  reasons.keep("default", tooLarge(1));
  assert.equal(
    reasons.find("default", "upstream_timeout"),
    'it sent nothing for 5 ms ("limits.firstByteMs")',
  );
});

test("keeps the newest reason with each code, for each upstream, and none for other failures", () => {
  const reasons = new FailureReasons();
  for (const code of ["ECONNREFUSED", "ENETUNREACH"])
    reasons.keep("default", noUpstream(Object.assign(new Error(), { code }), UPSTREAM, "linux"));
  assert.match(reasons.find("default", "upstream_unreachable") ?? "", /the network is not reachable$/);
  assert.equal(reasons.find("other", "upstream_unreachable"), null);
  assert.equal(reasons.find("default", "upstream_broke"), null);
  assert.equal(reasons.find("default", null), null);
});
