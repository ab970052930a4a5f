import { configHome, dataHome, filesIn } from "./recipe/directories.ts";
import { opencodeRecipe } from "./recipe/opencode-recipe.ts";
import type { ConnectableTool } from "./tool.ts";

const PACKAGE = { source: "npm package opencode-ai 1.18.33", date: "2026-11-21" };

export const opencode: ConnectableTool = {
  name: "opencode",
  title: "opencode",
  source: "https://opencode.ai/docs/config",
  date: "2026-11-22",
  tried: "1.18.33",
  programs: ["opencode"],
  homePaths: [".local/share/opencode"],
  requestSignatures: [{ when: { "user-agent": /^opencode\// }, ...PACKAGE }],
  processSignatures: [{ names: ["opencode"], ...PACKAGE, date: "2026-11-22" }],
  configFiles: (host) => [
    ...filesIn(configHome(host), "opencode/opencode.json", "opencode/opencode.jsonc", "opencode/config.json"),
    ...filesIn(dataHome(host), "opencode/auth.json"),
  ],
  ...opencodeRecipe("opencode", "OPENCODE_CONFIG_CONTENT"),
};
