import assert from "node:assert/strict";
import { test } from "node:test";
import { findNearest } from "../../../src/core/text/did-you-mean.ts";
import { problemsOf, withUpstream } from "../../helpers/config/config-problems.ts";

// Limits on what a file full of faults costs: each issue costs a search for its line and perhaps a guess (SECURITY.md B7).

const ADDRESS = { baseUrl: "https://a.example/v1" };

/** An object with this many members. */
function members(count: number, name: (index: number) => string, value: unknown): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), value]));
}

test("reports the first sixty unknown keys of an object", () => {
  const problems = problemsOf(members(1000, (i) => `key${i}`, 1));
  assert.equal(problems.length, 60);
  assert.match(problems[59] ?? "", /^key59: unknown key "key59"/);
});

test("reports the first fifty tools whose upstream does not exist", () => {
  const tools = members(1000, (i) => `t${i}`, { upstreams: ["nowhere"] });
  const problems = problemsOf({ ...withUpstream({}), tools });
  assert.equal(problems.length, 50);
  assert.match(problems[49] ?? "", /^tools\.t49\.upstreams\[0\]: no upstream is called "nowhere"/);
});

test("compares a misspelled upstream with the first twenty", () => {
  const upstreams = { default: ADDRESS, ...members(20, (i) => `upstream-${i}`, ADDRESS) };
  const guess = (upstream: string) => problemsOf({ upstreams, tools: { codex: { upstreams: [upstream] } } });
  assert.match(guess("upstraem-18")[0] ?? "", /did you mean "upstream-18"\?$/);
  assert.doesNotMatch(guess("upstraem-19")[0] ?? "", /upstream-19/);
});

test("makes no guess at a word that is longer than any name", () => {
  assert.equal(findNearest("x".repeat(64), ["x".repeat(63)]), "x".repeat(63));
  assert.equal(findNearest("x".repeat(65), ["x".repeat(64)]), null);
});

test("refuses more than a thousand entries of a section and items of a list, and looks at none of them", () => {
  const upstreams = { default: ADDRESS, ...members(1000, (i) => `u${i}`, {}) };
  const more = "has 1001 entries; at most 1000 are allowed";
  assert.ok(problemsOf({ upstreams }).includes(`upstreams: ${more}`));
  const routes = Array.from({ length: 1001 }, () => ({}));
  assert.deepEqual(problemsOf(withUpstream({ routes })), [`upstreams.default.routes: ${more}`]);
  assert.deepEqual(problemsOf({ listen: { allowedHosts: Array(1001).fill(1) } }), [
    `listen.allowedHosts: ${more}`,
  ]);
});
