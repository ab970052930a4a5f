import assert from "node:assert/strict";
import { test } from "node:test";
import { askUpstreams } from "../../../src/cli/doctor/ask-upstreams.ts";
import type { KeyReading } from "../../../src/cli/doctor/read-keys.ts";
import { defaultConfig, keyRefOf, plainUpstream } from "../../../src/core/config/config.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { answerJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

function keyAt(name: string, baseUrl: string, secret: Secret | null): KeyReading {
  const upstream = plainUpstream(name, baseUrl);
  return { upstream, ref: keyRefOf(upstream, null), usedBy: [], secret, failure: null, passedOver: null };
}

test("four upstreams are asked at a time, each once, and the answers stand in the order of the keys", async (t) => {
  let [open, most] = [0, 0];
  const held: (() => void)[] = [];
  const upstream = await startUpstream(t, (seen, res) => {
    open += 1;
    most = Math.max(most, open);
    held.push(() => {
      open -= 1;
      answerJson(res, { data: Array.from({ length: Number(seen.url.split("/")[1]) }) });
    });
    // Held until no more can come: the last first, so that they end in another order than they began.
    if (held.length === 4 || upstream.seen.length > 4)
      for (const answer of held.splice(0).toReversed()) answer();
  });
  const keys = Array.from({ length: 6 }, (_, i) => {
    return keyAt(`u${i}`, `${upstream.origin}/${i}/v1`, i === 2 ? null : new Secret("some-key"));
  });
  const answers = await askUpstreams(keys, defaultConfig.outbound);
  assert.deepEqual(
    answers.map(({ key, answer }) => [key.upstream.name, answer?.models]),
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
