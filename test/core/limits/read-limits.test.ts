import assert from "node:assert/strict";
import { test } from "node:test";
import {
  array,
  assert as assertProperty,
  constantFrom,
  double,
  integer,
  oneof,
  property,
  record,
  string,
  tuple,
} from "fast-check";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { isWindowName } from "../../../src/core/limits/limit-names.ts";
import { hasLimits, readLimitEvent, readLimits } from "../../../src/core/limits/read-limits.ts";

const NOW = Date.parse("2026-11-29T15:00:00Z");
const MINUTE = 60_000;
const epoch = (ms: number) => String((NOW + ms) / 1000);

const index = (headers: Record<string, string>) => new HeaderIndex(Object.entries(headers).flat());

/** Reads headers as `window used limit remaining reset`, with the reset in milliseconds from now. */
function read(headers: Record<string, string>, status = 200): string[] {
  return readLimits(status, index(headers), NOW).map(({ window, usedPercent, limit, remaining, resetsAt }) =>
    [window, usedPercent, limit, remaining, resetsAt === null ? null : resetsAt - NOW].join(" "),
  );
}

for (const [what, headers, expected] of [
  [
    "the windows of an Anthropic plan: fractions, and seconds since 1970",
    {
      "anthropic-ratelimit-unified-status": "allowed",
      "anthropic-ratelimit-unified-5h-utilization": "0.62",
      "anthropic-ratelimit-unified-5h-reset": epoch(100 * MINUTE),
      "Anthropic-Ratelimit-Unified-7d-Utilization": "1.04",
      "anthropic-ratelimit-unified-7d-reset": "2026-11-29T16:00:00Z",
      "anthropic-ratelimit-unified-7d_oi-utilization": "0.1",
      "anthropic-ratelimit-unified-new-utilization": "0.5",
    },
    ["5h 62   6000000", "7d 104   3600000", "7d overage-included 10   "],
  ],
  [
    "the limits of an Anthropic key",
    {
      "anthropic-ratelimit-requests-limit": "1000",
      "anthropic-ratelimit-requests-remaining": "970",
      "anthropic-ratelimit-requests-reset": "2026-11-29T15:00:30Z",
      "anthropic-priority-input-tokens-limit": "3000",
      "anthropic-priority-input-tokens-remaining": "2000",
    },
    ["requests 3 1000 970 30000", "priority-input-tokens 33.33 3000 2000 "],
  ],
  [
    "Codex's windows by their lengths, and not by their places",
    {
      "x-codex-primary-used-percent": "12.5",
      "x-codex-primary-window-minutes": "10080",
      "x-codex-primary-reset-at": "",
      "x-codex-primary-reset-after-seconds": "60",
      "x-codex-secondary-used-percent": "0",
      "x-codex-secondary-window-minutes": "0",
      "x-codex-secondary-reset-at": "",
      "x-codex-bengalfox-primary-used-percent": "40",
      "x-codex-bengalfox-primary-window-minutes": "300",
    },
    ["7d 12.5   60000", "5h codex-bengalfox 40   "],
  ],
  [
    "OpenAI's: durations of Go",
    {
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-remaining-requests": "59",
      "x-ratelimit-reset-requests": "1h2m",
      "x-ratelimit-limit-tokens": "150000",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "6m0s",
      "x-ratelimit-limit-tokens_usage_based": "5",
      "x-ratelimit-remaining-tokens_usage_based": "5",
    },
    ["requests 1.67 60 59 3720000", "tokens 100 150000 0 360000"],
  ],
  [
    "Azure's: seconds, and -1 for unknown",
    {
      "x-ratelimit-limit-requests": "-1",
      "x-ratelimit-remaining-requests": "-1",
      "x-ratelimit-reset-requests": "0",
      "x-ratelimit-limit-tokens": "100",
      "x-ratelimit-remaining-tokens": "25",
      "x-ratelimit-reset-tokens": "42",
    },
    ["tokens 75 100 25 42000"],
  ],
  [
    "Groq's: fractions of seconds",
    {
      "x-ratelimit-limit-tokens": "6000",
      "x-ratelimit-remaining-tokens": "3000",
      "x-ratelimit-reset-tokens": "2m59.56s",
    },
    ["tokens 50 6000 3000 179560"],
  ],
  [
    "OpenRouter's: milliseconds since 1970",
    { "X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(NOW + MINUTE) },
    ["requests 100 20 0 60000"],
  ],
  [
    "no reset that is past, far away or no time",
    {
      "anthropic-ratelimit-unified-5h-utilization": "0.1",
      "anthropic-ratelimit-unified-5h-reset": epoch(-MINUTE),
      "anthropic-ratelimit-unified-7d-utilization": "0.1",
      "anthropic-ratelimit-unified-7d-reset": "99999999999999",
      "anthropic-ratelimit-unified-overage-utilization": "0.1",
      "anthropic-ratelimit-unified-overage-reset": "soon",
    },
    ["5h 10   ", "7d 10   ", "overage 10   "],
  ],
  [
    "no share that is no number, or in another unit",
    {
      "anthropic-ratelimit-unified-5h-utilization": "",
      "anthropic-ratelimit-unified-7d-utilization": "62",
      "x-codex-primary-used-percent": "many",
      "x-codex-primary-window-minutes": "300",
      "retry-after": "60",
    },
    [],
  ],
] as const)
  test(`reads ${what}`, () => assert.deepEqual(read(headers), expected));

for (const [headers, wait] of [
  [{ "retry-after": "60" }, 60_000],
  [{ "retry-after": "60", "retry-after-ms": "1500" }, 1500],
  [{ "retry-after": "Sun, 29 Nov 2026 15:00:10 GMT" }, 10_000],
] as const)
  test(`a 429 says to wait for ${wait} ms: ${JSON.stringify(headers)}`, () =>
    assert.deepEqual(read(headers, 429), [`retry    ${wait}`]));

test("a 429 that does not say how long says nothing of limits", () => assert.deepEqual(read({}, 429), []));

test("a response without such headers is not looked at further", () => {
  const plain = index({ "content-type": "text/plain", "retry-after": "5", "x-codex-turn-state": "a" });
  assert.equal(hasLimits(503, plain), false);
  assert.equal(hasLimits(429, plain), true);
  assert.equal(hasLimits(200, index({ "X-Codex-Primary-Used-Percent": "1" })), true);
});

test("reads Codex's event on a WebSocket", () => {
  const event = {
    type: "codex.rate_limits",
    rate_limits: {
      primary: { used_percent: 62, window_minutes: 300, reset_at: NOW / 1000 + 60 },
      secondary: { used_percent: 3.5, window_minutes: 10080, reset_after_seconds: 90, reset_at: null },
    },
  };
  const named = (more: object) =>
    readLimitEvent({ ...event, ...more }, NOW).map(({ window, usedPercent, resetsAt }) => [
      window,
      usedPercent,
      (resetsAt ?? 0) - NOW,
    ]);
  assert.deepEqual(named({}), [
    ["5h", 62, 60_000],
    ["7d", 3.5, 90_000],
  ]);
  assert.deepEqual(named({ metered_limit_name: "codex_bengalfox" })[0]?.[0], "5h codex_bengalfox");
  assert.deepEqual(named({ metered_limit_name: "a sentence" }), []);
  assert.deepEqual(named({ rate_limits: null }), []);
});

const value = oneof(
  string(),
  integer().map(String),
  double().map(String),
  constantFrom("", "-1", "0", "0.5", "6m0s", "1e400", "9".repeat(400), "2026-11-29T15:00:00Z", "NaN", "300"),
);
const name = oneof(
  constantFrom(
    "anthropic-ratelimit-unified-5h-utilization",
    "anthropic-ratelimit-unified-5h-reset",
    "anthropic-ratelimit-tokens-limit",
    "anthropic-ratelimit-tokens-remaining",
    "x-codex-primary-used-percent",
    "x-codex-primary-window-minutes",
    "x-codex-primary-reset-at",
    "x-codex-a-b-secondary-used-percent",
    "x-codex-a-b-secondary-window-minutes",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
    "retry-after",
    "retry-after-ms",
  ),
  string().map((text) => `x-codex-${text}-primary-used-percent`),
);

test("whatever headers say, only known names and finite numbers come of it, with a reset in the future", () => {
  const headers = array(tuple(name, value), { maxLength: 12 });
  assertProperty(
    property(headers, constantFrom(200, 429), (pairs, status) => {
      for (const reading of readLimits(status, new HeaderIndex(pairs.flat()), NOW)) checkReading(reading);
    }),
  );
});

test("whatever an event says, the same holds", () => {
  const anything = oneof(value, integer(), double(), constantFrom(null, undefined));
  const window = record({ used_percent: anything, window_minutes: anything, reset_at: anything });
  assertProperty(
    property(window, anything, (primary, limitName) => {
      for (const reading of readLimitEvent({ rate_limits: { primary }, limit_name: limitName }, NOW))
        checkReading(reading);
    }),
  );
});

function checkReading({ window, resetsAt, ...numbers }: ReturnType<typeof readLimits>[number]): void {
  assert.ok(isWindowName(window), window);
  assert.ok(resetsAt === null || (Number.isSafeInteger(resetsAt) && resetsAt > NOW));
  for (const number of Object.values(numbers))
    assert.ok(number === null || (Number.isFinite(number) && number >= 0));
}
