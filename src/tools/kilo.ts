import { configHome, dataHome, filesIn } from "./recipe/directories.ts";
import { opencodeMcpServers, opencodeRecipe } from "./opencode.ts";
import { UPDATE_SERVICE } from "./recipe/settings.ts";
import type { ConnectableTool } from "./tool.ts";

/** A fork of opencode. With the Responses API it sends opencode's User-Agent and originator. */
export const kilo: ConnectableTool = {
  name: "kilo",
  title: "Kilo",
  source: "https://www.npmjs.com/package/@kilocode/cli",
  date: "2026-11-22",
  tried: "7.7.7",
  programs: ["kilo", "kilocode"],
  homePaths: [".config/kilo", ".local/share/kilo"],
  recorded: { source: "npm package @kilocode/cli 7.7.7", date: "2026-11-21" },
  requestSignatures: [
    { when: { "x-title": /^Kilo Code/ } },
    { when: { "http-referer": /^https:\/\/kilocode\.ai/ } },
    // A User-Agent alone proves less than the headers of other tools.
    { when: { "user-agent": /^kilo\// }, isWeak: true },
  ],
  processSignatures: [{ names: ["kilo", "kilocode"] }],
  usageRemedy: UPDATE_SERVICE,
  configFiles: (host) => [
    ...filesIn(configHome(host), "kilo/kilo.json", "kilo/kilo.jsonc"),
    ...filesIn(dataHome(host), "kilo/auth.json"),
  ],
  ...opencodeRecipe({
    name: "kilo",
    files: ["kilo", "opencode"],
    projectDirectories: [".kilocode", ".kilo"],
  }),
  // https://kilo.ai/docs/automate/mcp/using-in-kilo-code
  mcpServers: opencodeMcpServers("kilo"),
};
