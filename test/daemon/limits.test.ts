// What services say of limits is read when somebody asks: what is known must be the same as if each response had been read at once.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import * as fc from "fast-check";
import type { Choice } from "../../src/core/decide/choose-upstream.ts";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { DaemonLimits } from "../../src/daemon/limits.ts";
import { ManualClock, MemoryLog } from "../helpers/gate/memory.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

type Response = { upstream: string; status: number; headers: Record<string, string> };

function start(t: TestContext, path = join(scratchDirectory(t), "limits.json")) {
  const clock = new ManualClock();
  const limits = new DaemonLimits({ path, clock, log: new MemoryLog() });
  t.after(() => limits.close());
  const see = ({ upstream, status, headers }: Response) => {
    const from = { upstream: { name: upstream, key: upstream }, key: { name: upstream } };
    limits.sawResponse(from as unknown as Choice, status, new HeaderIndex(Object.entries(headers).flat()));
    clock.advance(1_000);
  };
  return { path, limits, see };
}

/** Each account's windows in an order of their own: which of two equally used ones is first does not matter. */
function known(limits: DaemonLimits) {
  return limits
    .describe()
    .map(({ account, windows }) => [account, windows.toSorted((a, b) => (a.window < b.window ? -1 : 1))])
    .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1));
}

const percent = fc.integer({ min: 0, max: 100 }).map(String);
const minutes = fc.constantFrom("300", "10080");
const anthropic = fc.record(
  {
    "anthropic-ratelimit-unified-5h-utilization": fc.constantFrom("0.2", "0.5", "1.02"),
    "anthropic-ratelimit-unified-7d-utilization": fc.constantFrom("0.1", "0.9"),
    "anthropic-ratelimit-unified-5h-reset": fc.constant("2099-01-01T00:00:00Z"),
  },
  { requiredKeys: [] },
);
const openai = fc.record({
  "x-ratelimit-limit-requests": fc.constant("100"),
  "x-ratelimit-remaining-requests": percent,
});
const codex = fc.record({
  "x-codex-primary-used-percent": percent,
  "x-codex-primary-window-minutes": minutes,
  "x-codex-secondary-used-percent": percent,
  "x-codex-secondary-window-minutes": minutes,
});
const response: fc.Arbitrary<Response> = fc.record({
  upstream: fc.constantFrom("default", "work"),
  status: fc.constantFrom(200, 200, 429),
  headers: fc.oneof(anthropic, openai, codex, fc.constant({ "retry-after": "30" }), fc.constant({})),
});

test("what is known after many responses is what was known when each had been read at once", (t) => {
  fc.assert(
    fc.property(fc.array(response, { maxLength: 12 }), (responses) => {
      const [late, early] = [start(t), start(t)];
      for (const one of responses) {
        late.see(one);
        early.see(one);
        early.limits.describe();
      }
      assert.deepEqual(known(late.limits), known(early.limits));
    }),
  );
});

const HALF = { status: 200, headers: { "anthropic-ratelimit-unified-5h-utilization": "0.5" } };

test("the last response is saved even if it has not been read by then", (t) => {
  const { path, limits, see } = start(t);
  see({ upstream: "default", ...HALF });
  limits.close();
  assert.deepEqual(known(start(t, path).limits), known(limits));
});

test("a response of an upstream that has another address now is forgotten, read or not", (t) => {
  const { limits, see } = start(t);
  for (const upstream of ["default", "work"]) see({ upstream, ...HALF });
  limits.forget("work");
  assert.deepEqual(
    known(limits).map(([account]) => account),
    ["default"],
  );
});
