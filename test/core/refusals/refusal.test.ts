import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Api } from "../../../src/core/http/api.ts";
import { renderRefusal, type RefusalCode } from "../../../src/core/refusals/refusal.ts";

type Expected = [messages: string, responses: string, shouldRetry: "no" | "unsaid"];

/** Stops every tool at the first attempt, and shows the message (docs/wire.md section 4). */
const FINAL: Expected = ["402 billing_error", "400 invalid_request_error", "no"];

/** Status and error type of each refusal, and whether `x-should-retry: false` is sent. */
const EXPECTED: Record<RefusalCode, Expected> = {
  key_missing: FINAL,
  key_locked: FINAL,
  key_unavailable: FINAL,
  token_required: FINAL,
  peer_not_allowed: FINAL,
  upstream_misconfigured: FINAL,
  internal: FINAL,
  key_unresponsive: ["503 api_error", "503 server_error", "unsaid"],
  pipelined: ["503 api_error", "503 server_error", "unsaid"],
  upstream_unreachable: ["502 api_error", "502 server_error", "unsaid"],
  upstream_invalid: ["502 api_error", "502 server_error", "unsaid"],
  upstream_timeout: ["504 api_error", "504 server_error", "unsaid"],
  body_timeout: ["408 invalid_request_error", "408 invalid_request_error", "unsaid"],
  host_not_allowed: ["403 permission_error", "403 invalid_request_error", "no"],
  origin_not_allowed: ["403 permission_error", "403 invalid_request_error", "no"],
  browser_not_allowed: ["403 permission_error", "403 invalid_request_error", "no"],
  bad_request: ["400 billing_error", "400 invalid_request_error", "no"],
  model_not_found: ["404 not_found_error", "404 invalid_request_error", "no"],
  model_not_allowed: FINAL,
  storage_not_allowed: FINAL,
  paused: FINAL,
  braked: FINAL,
  limit_kept: ["429 rate_limit_error", "429 invalid_request_error", "unsaid"],
  plan_off: FINAL,
  plan_login: FINAL,
  client_key: FINAL,
  plan_throttled: ["429 rate_limit_error", "429 invalid_request_error", "unsaid"],
  budget_spent: FINAL,
  budget_unknown: FINAL,
  model_unreadable: ["400 billing_error", "400 invalid_request_error", "no"],
  buffer_full: ["503 api_error", "503 server_error", "unsaid"],
  not_found: ["404 not_found_error", "404 invalid_request_error", "no"],
  method_not_allowed: ["405 invalid_request_error", "405 invalid_request_error", "no"],
  body_too_large: ["413 request_too_large", "413 invalid_request_error", "no"],
  content_type: ["415 invalid_request_error", "415 invalid_request_error", "no"],
  head_too_large: ["431 invalid_request_error", "431 invalid_request_error", "no"],
  upgrade_not_supported: ["426 invalid_request_error", "426 invalid_request_error", "no"],
  loop_detected: ["508 api_error", "508 server_error", "no"],
  http_version: ["505 invalid_request_error", "505 server_error", "no"],
};

for (const [code, [messages, responses, shouldRetry]] of Object.entries(EXPECTED)) {
  test(`${code} is ${messages} in the Messages API and ${responses} elsewhere`, () => {
    const refusal = {
      code: code as RefusalCode,
      problem: "this is wrong",
      reason: "so",
      advice: "did you try",
      command: "fix it",
    };
    for (const [api, expected] of [
      ["messages", messages],
      ["responses", responses],
      ["chat", responses],
    ] satisfies [Api, string][]) {
      const { status, headers, body } = renderRefusal(refusal, api);
      const { error } = JSON.parse(body.toString()) as { error: { type: string; message: string } };
      assert.equal(`${status} ${error.type}`, expected);
      assert.equal(error.message, "tollkeeper: this is wrong: so. Did you try. Type: fix it");
      assert.equal(headers[headers.indexOf("x-tollkeeper-refusal") + 1], code);
      assert.equal(headers.includes("x-should-retry"), shouldRetry === "no");
    }
  });
}

const render = (code: RefusalCode) => {
  const { body } = renderRefusal({ code, problem: "this is wrong", command: "fix it" }, "gemini");
  return (JSON.parse(body.toString()) as { error: object }).error;
};

test("a client of Google's API gets its shape, with a status that its SDKs read", () => {
  const message = "tollkeeper: this is wrong. Type: fix it";
  assert.deepEqual(render("not_found"), { code: 404, message, status: "NOT_FOUND" });
  assert.deepEqual(render("budget_spent"), { code: 400, message, status: "INVALID_ARGUMENT" });
  assert.deepEqual(render("origin_not_allowed"), { code: 403, message, status: "PERMISSION_DENIED" });
  assert.deepEqual(render("upstream_timeout"), { code: 504, message, status: "DEADLINE_EXCEEDED" });
  assert.deepEqual(render("loop_detected"), { code: 508, message, status: "INTERNAL" });
});

test("docs/refusals.md lists each code with these statuses", () => {
  const page = readFileSync(new URL("../../../docs/refusals.md", import.meta.url), "utf8");
  const codes = page.slice(page.indexOf("## 2"), page.indexOf("## 3"));
  const rows = [...codes.matchAll(/^\| `([a-z_]+)` +\| (\d.*?) +\| (\d+) +\| (yes|no) /gm)];
  const expected = Object.entries(EXPECTED).map(([code, [messages, elsewhere, shouldRetry]]) => {
    const written = messages.replace(" billing_error", " `billing_error`").replace(/ [a-z_]+$/, "");
    return [code, written, elsewhere.replace(/ .*/, ""), shouldRetry === "no" ? "no" : "yes"].join(", ");
  });
  assert.deepEqual(new Set(rows.map((cells) => cells.slice(1).join(", "))), new Set(expected));
});
