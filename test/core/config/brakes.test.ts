import assert from "node:assert/strict";
import { test } from "node:test";
import { preparePolicies } from "../../../src/core/policy/tool-policy.ts";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { problemsOf } from "../../helpers/config/config-problems.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";

test("a brake is gentle, or has limits", () => {
  const { tools, groups } = rulesForTools({
    tools: { codex: { brake: "gentle" }, zed: {} },
    groups: { small: { brake: { requestsPerMinute: 5 } } },
  });
  assert.deepEqual(
    [tools["codex"]?.brake, tools["zed"]?.brake, groups["small"]?.brake],
    [
      { requestsPerMinute: 120, concurrent: 16, same: { times: 12, minutes: 10 }, keep: null },
      null,
      { requestsPerMinute: 5, concurrent: null, same: null, keep: null },
    ],
  );
});

function problemsOfBrake(brake: unknown): string[] {
  return problemsOf({ tools: { codex: { brake } } });
}

test("what is no brake is a problem that says what one is", () => {
  assert.deepEqual(problemsOfBrake("hard"), ['tools.codex.brake: must be "gentle", or an object: { ... }']);
  assert.deepEqual(problemsOfBrake({}), [
    'tools.codex.brake: must have at least one of "requestsPerMinute", "concurrent", "same" and "keep"',
  ]);
  assert.deepEqual(problemsOfBrake({ requestsPerMinute: 0 }), [
    "tools.codex.brake.requestsPerMinute: must be at least 1",
  ]);
  assert.deepEqual(problemsOfBrake({ same: { times: 3 } }), ["tools.codex.brake.same.minutes: is missing"]);
});

test("a request passes the brake of its tool, and that of its group", () => {
  const brake = { concurrent: 1 };
  const config = {
    ...defaultConfig,
    ...rulesForTools({
      tools: { codex: { brake, group: "small" }, zed: { group: "small" }, pi: {} },
      groups: { small: { brake } },
    }),
  };
  const scopes = (tool: string) =>
    preparePolicies(config)?.(tool)?.brakes.map(({ scope }) => `${scope.kind} ${scope.name}`);
  assert.deepEqual(scopes("codex"), ["tool codex", "group small"]);
  assert.deepEqual(scopes("zed"), ["group small"]);
  assert.equal(scopes("pi"), undefined);
  assert.equal(scopes("constructor"), undefined);
});
