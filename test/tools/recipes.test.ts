import assert from "node:assert/strict";
import { isAbsolute } from "node:path";
import { test } from "node:test";
import { applySettings } from "../../src/connect/edit/apply.ts";
import type { Recipe } from "../../src/tools/recipe.ts";
import { RECIPES, SDK_RECIPE } from "../../src/tools/all.ts";
import { undoSettings } from "../../src/connect/edit/undo.ts";
import { toolName } from "../../src/core/identity/tool-identity.ts";
import { destination, filesOf, ON, plansOf, TOKEN } from "./recipe-support.ts";

test("each tool has one recipe, under a name that can stand in a path", () => {
  const names = RECIPES.map(({ tool }) => tool);
  assert.deepEqual([...new Set(names)], names);
  assert.deepEqual(names.map(toolName), names);
  const titles = RECIPES.map(({ title }) => title.toLowerCase());
  assert.equal(new Set(titles).size, titles.length);
  const programs = RECIPES.flatMap(({ signs }) => signs.programs);
  assert.deepEqual([...new Set(programs)], programs);
  assert.ok(RECIPES.includes(SDK_RECIPE));
});

test("each recipe says where and when it is known from, and which version was run", () => {
  for (const { tool, source, date, tried } of RECIPES) {
    assert.match(source, /^(?:facts\/clients\.md section 4|https:\/\/\S+)$/, tool);
    assert.match(date, /^2026-\d\d-\d\d$/, tool);
    assert.equal(tried !== null, source.startsWith("facts/"), tool);
  }
});

test("each setting says what it is for, in a file whose place is certain, and goes again without a trace", () => {
  for (const recipe of RECIPES) {
    for (const model of [null, "claude-sonnet-5", "gpt-5.5"]) {
      for (const { files, remarks } of plansOf(recipe, { model })) {
        for (const file of files) {
          assert.ok(isAbsolute(file.path), file.path);
          for (const { why } of file.settings) assert.match(why, /^[a-z].*[^.]$/, recipe.tool);
          const { text, undo } = applySettings(null, file, recipe.tool);
          assert.equal(undoSettings(text, undo).text, null, `${recipe.tool}: ${text}`);
        }
        for (const remark of remarks) assert.match(remark, /[.:}]$/, recipe.tool);
      }
    }
  }
});

test("a tool that nothing can be written for says what a person can do", () => {
  const byHand = RECIPES.filter(({ scopes }) => scopes.length === 0);
  assert.deepEqual(
    byHand.map(({ tool }) => tool),
    ["vscode", "cursor", "jetbrains"],
  );
  for (const recipe of byHand) {
    const { files, remarks } = recipe.plan(ON, destination(recipe.tool), "user");
    assert.deepEqual(files, []);
    assert.ok(remarks.length > 0);
  }
});

/** Every text in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** What follows our base URL wherever a tool's files get it, one of each. */
function endingsOf(recipe: Recipe, model: string): string[] {
  const to = destination(recipe.tool, { model });
  const values = recipe
    .plan(ON, to, "user")
    .files.flatMap(({ settings }) => settings.map(({ value }) => value));
  const urls = textsIn(values).flatMap((text) => text.match(/http:\/\/127[^"\\]*/g) ?? []);
  for (const url of urls) assert.ok(url.startsWith(to.baseUrl), `${recipe.tool}: ${url}`);
  return [...new Set(urls.map((url) => url.slice(to.baseUrl.length)))].sort();
}

test("each tool gets the base URL as it wants it, with its name and with or without /v1", () => {
  const recipes = RECIPES.filter(({ scopes }) => scopes.length > 0);
  const both = Object.fromEntries(
    recipes.map((recipe) => [
      recipe.tool,
      ["claude-sonnet-5", "gpt-5.5"].map((model) => endingsOf(recipe, model)),
    ]),
  );
  assert.deepEqual(both, {
    "claude-code": [[""], [""]],
    codex: [["/v1"], ["/v1"]],
    opencode: [["/v1"], ["/v1"]],
    kilo: [["/v1"], ["/v1"]],
    "qwen-code": [[""], [""]],
    cline: [["/v1"], ["/v1"]],
    continue: [["/v1"], ["/v1"]],
    copilot: [[""], ["/v1"]],
    pi: [
      ["", "/v1"],
      ["", "/v1"],
    ],
    droid: [[""], ["/v1"]],
    aider: [[""], [""]],
    goose: [[""], [""]],
    junie: [["/v1/messages"], ["/v1/responses"]],
    zed: [[""], [""]],
    sdk: [
      ["", "/v1"],
      ["", "/v1"],
    ],
  });
});

test("a local token reaches the daemon from every tool that is connected, or the person is told to enter it", () => {
  for (const recipe of RECIPES.filter(({ scopes }) => scopes.length > 0)) {
    for (const model of ["claude-sonnet-5", "gpt-5.5"]) {
      for (const plan of plansOf(recipe, { credential: TOKEN, isToken: true, model })) {
        const isWritten = textsIn(plan.files).includes(TOKEN);
        const isTold = plan.remarks.some((remark) => remark.includes(`tollkeeper token add ${recipe.tool}`));
        assert.ok(isWritten !== isTold, recipe.tool);
        // It may be about to be made, and this would print it.
        assert.ok(!plan.remarks.join().includes(TOKEN), recipe.tool);
      }
    }
  }
});

test("a local token is in the environment of what is run, and never among its arguments, which all users can read", () => {
  for (const recipe of RECIPES) {
    const to = destination(recipe.tool, { credential: TOKEN, isToken: true });
    const environment = recipe.environment(ON, to);
    if (environment === null) continue;
    assert.ok(
      textsIn(environment.variables).some((text) => text.includes(TOKEN)),
      recipe.tool,
    );
    assert.doesNotMatch(environment.flags.join(" "), new RegExp(TOKEN), recipe.tool);
  }
});

test("a model is written only where there is one", () => {
  for (const recipe of RECIPES) {
    const settings = (model: string | null) =>
      JSON.stringify(plansOf(recipe, { model }).map(({ files }) => files.map((file) => file.settings)));
    assert.doesNotMatch(settings(null), /claude-sonnet|gpt-/, recipe.tool);
    if (recipe.modelOf !== null) assert.match(settings("claude-sonnet-5"), /claude-sonnet-5"/, recipe.tool);
  }
});

/** Where a tool's first file is in such an environment. */
function pathFor(tool: string, env: NodeJS.ProcessEnv): string | undefined {
  return Object.keys(filesOf(tool, {}, { ...ON, env }))[0];
}

test("variables stand in what the person's own shell reads", () => {
  assert.equal(pathFor("sdk", { SHELL: "/usr/bin/bash" }), "~/.bashrc");
  assert.equal(pathFor("sdk", { SHELL: "/bin/zsh" }), "~/.zshrc");
  assert.equal(pathFor("sdk", { SHELL: "/bin/zsh", ZDOTDIR: "/home/ann/.zsh" }), "~/.zsh/.zshrc");
  assert.equal(pathFor("sdk", { SHELL: "/usr/bin/fish" }), "~/.config/fish/conf.d/tollkeeper.fish");
  assert.equal(pathFor("sdk", { SHELL: "/bin/dash" }), "~/.profile");
  assert.equal(pathFor("sdk", {}), "~/.profile");
});

test("a tool's settings are where its own variable says, unless that depends on where it is started", () => {
  assert.equal(pathFor("claude-code", { CLAUDE_CONFIG_DIR: "/etc/c" }), "/etc/c/settings.json");
  assert.equal(pathFor("claude-code", { CLAUDE_CONFIG_DIR: "c" }), "~/.claude/settings.json");
  assert.equal(pathFor("codex", { CODEX_HOME: "/etc/c" }), "/etc/c/config.toml");
  assert.equal(pathFor("opencode", { XDG_CONFIG_HOME: "/etc/c" }), "/etc/c/opencode/opencode.json");
  assert.equal(pathFor("qwen-code", { QWEN_HOME: "/etc/c" }), "/etc/c/settings.json");
  assert.equal(pathFor("pi", { PI_CODING_AGENT_DIR: "/etc/c" }), "/etc/c/models.json");
  assert.equal(pathFor("continue", { CONTINUE_GLOBAL_DIR: "/etc/c" }), "/etc/c/config.yaml");
  assert.equal(pathFor("cline", { CLINE_DATA_DIR: "/etc/c" }), "/etc/c/settings/providers.json");
});
