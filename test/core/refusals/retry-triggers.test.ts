import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { hostNotAllowed, loopDetected } from "../../../src/core/refusals/admission.ts";
import { renderRefusal } from "../../../src/core/refusals/refusal.ts";
import { provokesRetry, quietest, withoutTriggers } from "../../../src/core/refusals/retry-triggers.ts";

const SOURCE = fileURLToPath(new URL("../../../src/", import.meta.url));

for (const text of [
  "gpt-0502 is not allowed",
  "it is $500.00 per day",
  "1,500,000 tokens spent",
  "codex sends Too Many Requests",
  "internal error",
  "the request timed out",
  "try again later",
]) {
  test(`"${text}" makes a tool try again`, () => assert.equal(provokesRetry(text), true));
}

for (const text of [
  "it is $20.00 per day",
  "since 2026-11-23T16:50Z",
  "1 request per minute",
  "internal",
  "",
]) {
  test(`"${text}" does not`, () => assert.equal(provokesRetry(text), false));
}

test("of texts that say the same, the first is taken at which no tool tries again", () => {
  assert.equal(quietest("at port 5002", "at a port", "there"), "at a port");
  assert.equal(quietest("a", "b"), "a");
  assert.equal(quietest("502", "503"), "503");
});

test("of the details those parts are left out at which a tool would try again", () => {
  assert.equal(
    withoutTriggers("it is $500.00 per day; it opens again at 13:30; $500.03 spent"),
    "it opens again at 13:30",
  );
  assert.equal(withoutTriggers("it is $20.00 per day; $20.14 spent"), "it is $20.00 per day; $20.14 spent");
  assert.equal(withoutTriggers("$500 spent"), undefined);
  assert.equal(withoutTriggers(undefined), undefined);
});

function bodyOf(code: "budget_spent" | "upstream_unreachable"): string {
  const refusal = { code, problem: "p", reason: "port 5002; it is off", advice: "wait 500 s", command: "c" };
  return renderRefusal(refusal, "messages").body.toString();
}

test("a refusal that a retry cannot help has no such part, and one that it can help keeps it", () => {
  assert.match(bodyOf("budget_spent"), /"tollkeeper: p: it is off\. Type: c"/);
  assert.match(
    bodyOf("upstream_unreachable"),
    /"tollkeeper: p: port 5002; it is off\. Wait 500 s\. Type: c"/,
  );
});

test("no refusal has such words in what is wrong, unless a retry can help", () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const refusals = files.flatMap((name) => [
    ...readFileSync(join(SOURCE, name), "utf8").matchAll(
      /code: "(\w+)",\s*problem: (?:quietest\(\s*)?("[^"]*"|`[^`]*`)/g,
    ),
  ]);
  assert.ok(refusals.length >= 15, String(refusals.length));
  const provoking = refusals.filter(([, , problem = ""]) => provokesRetry(problem));
  assert.deepEqual(
    provoking.map(([, code]) => code),
    [],
  );
});

test("where a port looks like a status, what is advised besides it stays", () => {
  for (const port of [8655, 42_999, 50_200]) {
    const { body } = renderRefusal(hostNotAllowed(port), "messages");
    assert.match(body.toString(), /ist the name in .*listen\.allowedHosts/);
    assert.equal(body.toString().includes(`localhost:${port}`), port === 8655);
    assert.match(renderRefusal(loopDetected(port), "messages").body.toString(), /itself listens/);
  }
});
