import { join } from "node:path";
import type { Destination, Recipe } from "./recipe.ts";
import type { Setting } from "./setting.ts";
import { directoryOf } from "./directories.ts";
import { ADDRESS, credentialReason, MODEL } from "./reasons.ts";
import { valuesOf, type Variable } from "./variables.ts";

/** They count in its settings, where they win over the shell's, and in its environment alike. */
function variablesFor(to: Destination): Variable[] {
  return [
    { name: "ANTHROPIC_BASE_URL", value: to.baseUrl, why: ADDRESS },
    // Unlike ANTHROPIC_API_KEY it asks nothing, and it wins over a saved login, which is not sent then.
    { name: "ANTHROPIC_AUTH_TOKEN", value: to.credential, why: credentialReason(to) },
    // https://code.claude.com/docs/en/env-vars; 2.1.329 has it on here without being told.
    {
      name: "ENABLE_TOOL_SEARCH",
      value: "true",
      why: "versions which turn tool search off behind a proxy keep it",
    },
  ];
}

/** Claude Code, and what is built on its Agent SDK and reads its settings. */
export const claudeCode: Recipe = {
  tool: "claude-code",
  title: "Claude Code",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "2.1.329",
  signs: { programs: ["claude"], files: [".claude.json", ".claude/projects"] },
  scopes: ["user", "project"],
  modelOf: null,
  plan(on, to, scope) {
    const path =
      scope === "user"
        ? join(directoryOf(on, "CLAUDE_CONFIG_DIR", ".claude"), "settings.json")
        : join(on.directory, ".claude", "settings.local.json");
    const settings: Setting[] = variablesFor(to).map(({ name, value, why }) => ({
      at: ["env", name],
      value,
      why,
    }));
    if (to.model !== null) settings.push({ at: ["model"], value: to.model, why: MODEL });
    return { files: [{ path, format: "jsonc", settings }], remarks: [] };
  },
  environment(_on, to) {
    const variables = valuesOf(variablesFor(to));
    return {
      variables: to.model === null ? variables : { ...variables, ANTHROPIC_MODEL: to.model },
      flags: [],
    };
  },
};
