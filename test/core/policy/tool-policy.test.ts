import assert from "node:assert/strict";
import { test } from "node:test";
import type { Route } from "../../../src/core/http/routes.ts";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { listToolsOf } from "../../../src/core/policy/tool-access.ts";
import { judgeModel, mustNameModel, preparePolicies } from "../../../src/core/policy/tool-policy.ts";
import { keyNameOfTool } from "../../../src/core/policy/tool-access.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";

const FILE = {
  tools: {
    codex: { group: "small" },
    zed: { group: "free", key: "zed" },
    pi: { key: "pi" },
    aider: { group: "small", key: "aider" },
    "*": { group: "others" },
  },
  groups: {
    small: { models: ["gpt-5-mini", "claude-haiku-*"], key: "small" },
    others: { models: ["qwen*"] },
    free: {},
    unused: { models: ["x"] },
  },
};

const configOf = (file: object) => ({ ...defaultConfig, ...rulesForTools(file) });
const CONFIG = configOf(FILE);

for (const [tool, group] of [
  ["codex", "small"],
  ["aider", "small"],
  ["zed", null],
  ["pi", "others"],
  ["never-heard-of", "others"],
  ["unknown", "others"],
  ["*", "others"],
  ["__proto__", "others"],
  ["constructor", "others"],
  ["", "others"],
] as const) {
  test(`${JSON.stringify(tool)} may do ${group === null ? "everything" : `what group ${group} may`}`, () => {
    assert.equal(preparePolicies(CONFIG)?.(tool)?.models?.group ?? null, group);
  });
}

test("a tool that names no group is free where there is none for all others", () => {
  const { "*": _, ...named } = FILE.tools;
  const policies = preparePolicies(configOf({ ...FILE, tools: named }));
  assert.deepEqual(
    ["codex", "pi", "unknown"].map((tool) => policies?.(tool)?.models?.group ?? null),
    ["small", null, null],
  );
});

test("tools of one group share one policy", () => {
  const policies = preparePolicies(CONFIG);
  assert.equal(policies?.("codex"), policies?.("aider"));
  assert.equal(policies?.("pi"), policies?.("unknown"));
});

test("requests are not asked about where no tool is in a group that limits it", () => {
  const cases = [
    {},
    { groups: FILE.groups },
    { groups: FILE.groups, tools: { codex: { group: "free" } } },
    { groups: { only: { key: "k" } }, tools: { "*": { group: "only" } } },
  ];
  assert.deepEqual(
    cases.map((file) => preparePolicies(configOf(file))),
    [null, null, null, null],
  );
});

test("a tool has its own key, or else its group's, or else the upstream's", () => {
  const names = ["aider", "codex", "zed", "pi", "unknown"].map((tool) => keyNameOfTool(CONFIG, tool));
  assert.deepEqual(names, ["aider", "small", "zed", "pi", null]);
  const others = configOf({ ...FILE, groups: { ...FILE.groups, others: { key: "rest" } } });
  assert.deepEqual(
    ["pi", "unknown"].map((tool) => keyNameOfTool(others, tool)),
    ["pi", "rest"],
  );
});

test("the tools of a group are those that name it, and all others by its star", () => {
  const tools = Object.keys(FILE.groups).map((group) => listToolsOf(CONFIG, group));
  assert.deepEqual(tools, [["codex", "aider"], ["pi", "*"], ["zed"], []]);
});

const ALLOWED = { group: "small", patterns: ["gpt-5-mini", "claude-haiku-*"] };

for (const [asked, model, isAllowed] of [
  ["gpt-5-mini", "gpt-5-mini", true],
  ["claude-haiku-4-5", "claude-haiku-4-5", true],
  ["claude-haiku-", "claude-haiku-", true],
  ["gpt-5", "gpt-5", false],
  ["gpt-5-mini-2", "gpt-5-mini-2", false],
  ["GPT-5-mini", "GPT-5-mini", false],
  [" gpt-5-mini", " gpt-5-mini", false],
  ["openai/gpt-5-mini", "openai/gpt-5-mini", false],
  ["fast", "gpt-5-mini", true],
  ["gpt-5-mini", "gpt-5", false],
  [null, null, true],
] as const) {
  test(`asked for ${asked}, which the upstream reads as ${model}: ${isAllowed ? "may go" : "is refused"}`, () => {
    assert.equal(judgeModel(ALLOWED, { tool: "codex", asked, model }) === null, isAllowed);
  });
}

test("the refusal says the group, what it allows, where that is set, and who asked for what", () => {
  const refusal = judgeModel(ALLOWED, { tool: "codex", asked: "best", model: "gpt-5" });
  assert.deepEqual(refusal, {
    code: "model_not_allowed",
    problem: "group small does not allow the model",
    reason: "groups.small.models allows gpt-5-mini, claude-haiku-*; codex asked for best, an alias of gpt-5",
    command: "tollkeeper config edit",
  });
});

test("a long list of models is cut, and so is the name of a model", () => {
  const patterns = Array.from({ length: 1000 }, (_, index) => `model-${index}`);
  const model = "m".repeat(1024);
  const refusal = judgeModel({ group: "big", patterns }, { tool: "codex", asked: model, model });
  assert.match(refusal?.reason ?? "", /model-11 and 988 more; codex asked for m{100}$/);
});

for (const [method, dialect, spend, isAsked] of [
  ["POST", "messages", "count", true],
  ["POST", "messages", "never", true],
  ["POST", "chat", "count", true],
  ["POST", "none", "count", true],
  ["POST", "none", "never", false],
  ["GET", "responses", "attach_by_response_id", false],
  ["GET", "none", "never", false],
] as const) {
  test(`a ${method} with dialect ${dialect} and spend ${spend} must${isAsked ? "" : " not"} name a model`, () => {
    const route: Route = {
      method,
      dialect,
      spend,
      path: "/x",
      auth: "bearer",
      api: "responses",
      accepts: ["json"],
    };
    assert.equal(mustNameModel(route), isAsked);
  });
}
