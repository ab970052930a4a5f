import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeResponse, waitAfter } from "../../../src/core/export/judge-response.ts";
import { placeSpan, readTraceparent } from "../../../src/core/export/trace-context.ts";

const NOW = Date.parse("2026-11-25T12:00:00Z");

/** How long a receiver that is not ready has us wait with this header. */
function waitFor(retryAfter: string | undefined): number | null {
  const verdict = judgeResponse({ status: 429, contentType: "", retryAfter }, NOW);
  assert.ok(verdict.kind === "later");
  return verdict.afterMs;
}

test("Retry-After is read as seconds or as a date, and no receiver has us wait for more than an hour", () => {
  assert.equal(waitFor("7"), 7_000);
  assert.equal(waitFor(" 0 "), 0);
  assert.equal(waitFor("Wed, 25 Nov 2026 12:00:30 GMT"), 30_000);
  assert.equal(waitFor("Wed, 25 Nov 2026 11:00:00 GMT"), 0);
  assert.equal(waitFor("9999999999"), 3_600_000);
  assert.equal(waitFor("Wed, 25 Nov 2099 12:00:30 GMT"), 3_600_000);
  for (const text of [undefined, "", "soon", "-5 apples", "1e9"]) assert.equal(waitFor(text), null, text);
});

/** What a response with a status alone means. */
function kindOf(status: number): string {
  return judgeResponse({ status, contentType: "", retryAfter: undefined }, NOW).kind;
}

test("each status means accepted, later or never", () => {
  for (const status of [200, 202, 204]) assert.equal(kindOf(status), "accepted");
  for (const status of [301, 307, 401, 403, 404, 405, 407, 408, 429, 502, 503, 504])
    assert.equal(kindOf(status), "later");
  for (const status of [400, 413, 415, 422, 500, 501]) assert.equal(kindOf(status), "never");
});

test("waits double from half a second on, and end at a minute", () => {
  assert.deepEqual(
    [1, 2, 3, 7, 100, 5_000].map((failures) => waitAfter(failures, 1)),
    [1_000, 2_000, 4_000, 60_000, 60_000, 60_000],
  );
  assert.equal(waitAfter(1, 0), 500);
});

test("only a traceparent that names a span is kept", () => {
  const span = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
  assert.equal(readTraceparent(`00-${span}-01`), `00-${span}-01`);
  assert.equal(readTraceparent(`01-${span}-00-more`), `00-${span}-00`);
  for (const text of [
    undefined,
    "",
    `ff-${span}-01`,
    `00-${span.toUpperCase()}-01`,
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    `00-${span}`,
    "x".repeat(10_000),
  ])
    assert.equal(readTraceparent(text), null);
});

test("a record that is sent twice is the same span, also with an id of another form", () => {
  for (const id of ["5b5d68a6-5b4f-4173-9ba9-92120399b858", "record-1", "ü", ""]) {
    const place = placeSpan(id, null);
    assert.deepEqual(place, placeSpan(id, null));
    assert.match(place.traceId, /^(?!0+$)[0-9a-f]{32}$/);
    assert.match(place.spanId, /^(?!0+$)[0-9a-f]{16}$/);
  }
});
