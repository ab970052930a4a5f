import assert from "node:assert/strict";
import { applySettings } from "../../src/connect/edit/apply.ts";
import type { Destination, Recipe, HostInfo } from "../../src/tools/recipe.ts";
import { RECIPES } from "../../src/tools/all.ts";

/** A person with a home, a shell and a project. */
export const ON: HostInfo = {
  home: "/home/ann",
  env: { SHELL: "/bin/bash" },
  platform: "linux",
  directory: "/home/ada/project",
  isThere: () => false,
};

export const TOKEN = "tk-of-this-test";

/** Where each tool is led in these tests. */
export function destination(tool: string, more: Partial<Destination> = {}): Destination {
  const baseUrl = `http://127.0.0.1:8655/t/${tool}`;
  return { baseUrl, credential: `tk-${tool}`, isToken: false, model: "claude-sonnet-5", ...more };
}

export function recipeOf(tool: string): Recipe {
  return RECIPES.find((recipe) => recipe.tool === tool) ?? assert.fail(`no recipe for ${tool}`);
}

/** All that a recipe wants written, in every scope that it has. */
export function plansOf(recipe: Recipe, more: Partial<Destination> = {}, on = ON) {
  return recipe.scopes.map((scope) => recipe.plan(on, destination(recipe.tool, more), scope));
}

/** Its files in the user's home, as they become where there was none: path below it, and text. */
export function filesOf(tool: string, more: Partial<Destination> = {}, on = ON): Record<string, string> {
  const { files } = recipeOf(tool).plan(on, destination(tool, more), "user");
  return Object.fromEntries(
    files.map((file) => [file.path.replace(`${on.home}/`, "~/"), applySettings(null, file, tool).text]),
  );
}

export function objectIn(tool: string, path: string, more: Partial<Destination> = {}): unknown {
  return JSON.parse(filesOf(tool, more)[path] ?? assert.fail(`${tool} does not write ${path}`));
}
