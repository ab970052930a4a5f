import assert from "node:assert/strict";
import { test } from "node:test";
import { probeUpstreams } from "../../../../src/cli/doctor/evidence/probe-upstreams.ts";
import type { KeyReading } from "../../../../src/cli/doctor/evidence/read-keys.ts";
import { defaultConfig, createUpstream } from "../../../../src/core/config/config.ts";
import { resolveKeyRef } from "../../../../src/core/policy/configured-keys.ts";
import { Secret } from "../../../../src/core/secrets/secret.ts";
import { sendJson, startUpstream } from "../../../helpers/upstream/scripted-upstream.ts";

function keyAt(name: string, baseUrl: string, secret: Secret | null): KeyReading {
  const upstream = createUpstream(name, baseUrl);
  return {
    upstream,
    ref: resolveKeyRef(upstream, null),
    usedBy: [],
    isOwn: true,
    secret,
    failure: null,
    skipReason: null,
  };
}

test("upstreams are probed once each, four at a time, with the results in the order of the keys", async (t) => {
  let [open, most] = [0, 0];
  const held: (() => void)[] = [];
  const upstream = await startUpstream(t, (seen, res) => {
    open += 1;
    most = Math.max(most, open);
    held.push(() => {
      open -= 1;
      sendJson(res, { data: Array.from({ length: Number(seen.url.split("/")[1]) }) });
    });
    // Held until the limit is reached and released in reverse, so that they end in another order than they began.
    if (held.length === 4 || upstream.seen.length > 4)
      for (const release of held.splice(0).toReversed()) release();
  });
  const keys = Array.from({ length: 6 }, (_, i) => {
    return keyAt(`u${i}`, `${upstream.origin}/${i}/v1`, i === 2 ? null : new Secret("some-key"));
  });
  const { probes, trust } = await probeUpstreams(keys, defaultConfig, "/no/daemon/uses/this.jsonc");
  assert.equal(trust, null);
  assert.deepEqual(
    probes.map(({ key, response }) => [key.upstream.name, response?.models]),
    [
      ["u0", 0],
      ["u1", 1],
      ["u3", 3],
      ["u4", 4],
      ["u5", 5],
    ],
  );
  assert.equal(most, 4);
  assert.equal(upstream.seen.length, 5);
});
