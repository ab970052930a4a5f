import type { ConnectableTool } from "../tool.ts";
import { manualRecipe } from "./editor.ts";

const IDES = "idea pycharm webstorm phpstorm goland clion rider rubymine rustrover datagrip dataspell";

/** The assistant in JetBrains' editors. Junie, Claude Code and Codex in them have recipes of their own. */
export const jetbrains: ConnectableTool = {
  name: "jetbrains",
  title: "JetBrains AI Assistant",
  source: "https://www.jetbrains.com/help/ai-assistant/use-custom-models.html",
  date: "2026-11-22",
  tried: null,
  programs: ["idea", "pycharm", "webstorm", "goland", "clion", "rider", "phpstorm"],
  homePaths: [".config/JetBrains", "Library/Application Support/JetBrains"],
  isEditor: true,
  processSignatures: [
    // The native launchers, since 2024.2.
    { names: IDES.split(" "), source: "https://github.com/JonasGroeger/jetbrains-ppa/issues/72" },
    // The script launchers run the bundled Java.
    {
      path: /\/jbr\/(?:Contents\/Home\/)?bin\/java$/,
      source: "https://github.com/flathub/com.jetbrains.IntelliJ-IDEA-Community/issues/177",
    },
  ],
  ...manualRecipe(({ baseUrl, credential }) => [
    "tollkeeper cannot change these settings. Change them yourself:",
    "1. In the JetBrains IDE, open Settings, Tools, AI Assistant, Models & API keys, and choose OpenAI-compatible.",
    `2. Enter the URL ${baseUrl}/v1 and the key ${credential}.`,
    "Whether the assistant asks for the usage of streams is not documented: if usage is unknown, tollkeeper usage says so.",
    "Models of a JetBrains AI subscription go through JetBrains' own servers and never reach tollkeeper.",
  ]),
};
