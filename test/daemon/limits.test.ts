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
  const warned: string[] = [];
  // Only what is used, since times depend on the time zone.
  const warn = (notice: string) =>
    void warned.push(notice.replace(/; it resets .*$|(?<=wait until ).*$/, ""));
  const limits = new DaemonLimits({ path, clock, log: new MemoryLog(), warn });
  t.after(() => limits.close());
  const see = ({ upstream, status, headers }: Response) => {
    const from = {
      upstream: { name: upstream, recordedAs: upstream, key: upstream },
      key: { name: upstream },
    };
    limits.sawResponse(from as unknown as Choice, status, new HeaderIndex(Object.entries(headers).flat()));
    clock.advance(1_000);
  };
  return { path, clock, limits, warned, see };
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

/** Has each of these headers of a plan read at once; returns what was warned of. */
function warnedOf(t: TestContext, ...responses: Record<string, string>[]): string[] {
  const { limits, warned, see } = start(t);
  for (const headers of responses) {
    see({ upstream: "default", status: 200, headers: plan(headers) });
    limits.describe();
  }
  return warned;
}

/** Headers with these after the name that they have in common. */
function plan(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ "5h-reset": "2026-11-21T16:00:00Z", ...headers }).map(([name, value]) => [
      `anthropic-ratelimit-unified-${name}`,
      value,
    ]),
  );
}

const used = (...shares: string[]) => shares.map((share) => ({ "5h-utilization": share }));

test("a window warns once at 80 and once at 95%", (t) => {
  assert.deepEqual(warnedOf(t, ...used("0.7", "0.799", "0.8", "0.81", "0.949", "0.95", "0.96", "1.04")), [
    "default has used 80% of the 5-hour window",
    "default has used 95% of the 5-hour window",
  ]);
});

test("a window that jumps over both shares warns of the higher one only", (t) => {
  assert.deepEqual(warnedOf(t, ...used("0.7", "0.97", "0.93")), [
    "default has used 97% of the 5-hour window",
  ]);
});

test("a lower value lets a window warn again, but not one of a response that was overtaken", (t) => {
  assert.deepEqual(warnedOf(t, ...used("0.81", "0.79", "0.81", "0.1", "0.82")), [
    "default has used 81% of the 5-hour window",
    "default has used 82% of the 5-hour window",
  ]);
});

test("a window warns again after its reset, but not after a restart before that", (t) => {
  const first = start(t);
  const see = (at: ReturnType<typeof start>, reset: string, share = "0.85") => {
    at.see({
      upstream: "default",
      status: 200,
      headers: plan({ "5h-utilization": share, "5h-reset": reset }),
    });
    at.limits.describe();
  };
  // A new window is saved at once, so the warning is given in one that is not new.
  see(first, "2026-11-21T16:00:00Z", "0.7");
  see(first, "2026-11-21T16:00:00Z");
  // Not closed: as after a crash.
  const second = start(t, first.path);
  see(second, "2026-11-21T16:00:00Z");
  assert.deepEqual([first.warned.length, second.warned.length], [1, 0]);
  second.clock.advance(4 * 3_600_000);
  see(second, "2026-11-21T21:00:00Z");
  assert.equal(second.warned.length, 1);
});

test("a service that warns first is believed, of the window that it names", (t) => {
  const week = { "7d-utilization": "0.3", "7d-status": "allowed" };
  assert.deepEqual(
    warnedOf(
      t,
      { ...week, "5h-utilization": "0.72", "5h-status": "allowed_warning" },
      { ...week, "5h-utilization": "0.82", "5h-status": "allowed_warning" },
    ),
    ["the service warns: default has used 72% of the 5-hour window"],
  );
  assert.deepEqual(
    warnedOf(t, {
      ...week,
      "5h-utilization": "0.1",
      status: "rejected",
      "representative-claim": "seven_day",
    }),
    ["the service refuses requests: default has used 30% of the 7-day window"],
  );
});

test("an account without extra usage, for which that is always rejected, is not warned of", (t) => {
  const headers = { "5h-utilization": "0.1", "overage-utilization": "0", "overage-status": "rejected" };
  assert.deepEqual(warnedOf(t, { ...headers, status: "allowed", "representative-claim": "five_hour" }), []);
});

test("a refusal warns once an hour if tools do not just wait, and no window of the account says why", (t) => {
  const { clock, limits, warned, see } = start(t);
  const refuse = (upstream: string, wait: string, headers = {}) => {
    see({ upstream, status: 429, headers: { ...headers, "retry-after": wait } });
    limits.describe();
  };
  refuse("default", "30");
  assert.deepEqual(warned, []);
  for (let i = 0; i < 3; i += 1) refuse("default", "90");
  assert.deepEqual(warned, ["the service refused a request of default and asked to wait until "]);
  clock.advance(3_600_000);
  refuse("default", "90");
  assert.equal(warned.length, 2);
  refuse("work", "7200", plan({ "5h-utilization": "1" }));
  refuse("work", "7200");
  assert.deepEqual(warned.slice(2), ["work has used 100% of the 5-hour window"]);
});

test("a limit that refills all the time warns at most once an hour", (t) => {
  const { clock, limits, warned, see } = start(t);
  const leave = (remaining: string) => {
    const headers = {
      "x-ratelimit-limit-requests": "100",
      "x-ratelimit-remaining-requests": remaining,
      "x-ratelimit-reset-requests": "6s",
    };
    see({ upstream: "default", status: 200, headers });
    limits.describe();
  };
  for (let i = 0; i < 5; i += 1) for (const remaining of ["10", "90"]) leave(remaining);
  assert.deepEqual(warned, ["default has used 90% of the limit of requests (10 of 100 left)"]);
  clock.advance(3_600_000);
  leave("10");
  assert.equal(warned.length, 2);
});

test("a response that somebody should know of is read after ten seconds, and none is read for itself", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { warned, see } = start(t);
  for (const share of ["0.81", "0.82", "0.83"])
    see({ upstream: "default", status: 200, headers: plan({ "5h-utilization": share }) });
  t.mock.timers.tick(9_999);
  assert.deepEqual(warned, []);
  t.mock.timers.tick(1);
  assert.deepEqual(warned, ["default has used 83% of the 5-hour window"]);
  see({ upstream: "default", status: 200, headers: plan({ "5h-utilization": "0.96" }) });
  t.mock.timers.tick(10_000);
  assert.equal(warned.length, 2);
});
