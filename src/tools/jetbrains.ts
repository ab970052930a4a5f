import { byHand } from "./by-hand.ts";

/** The assistant in JetBrains' editors; Junie has a recipe of its own, and Claude Code and Codex in there have theirs. */
export const jetbrains = byHand({
  tool: "jetbrains",
  title: "JetBrains AI Assistant",
  source: "https://www.jetbrains.com/help/ai-assistant/use-custom-models.html",
  date: "2026-11-22",
  signs: {
    programs: ["idea", "pycharm", "webstorm", "goland", "clion", "rider", "phpstorm"],
    files: [".config/JetBrains", "Library/Application Support/JetBrains"],
  },
  remarks: ({ baseUrl, credential }) => [
    "It keeps the address and the key in its own dialogue and keychain: Settings, Tools, AI Assistant, Models & API keys.",
    `Choose OpenAI-compatible there, with the URL ${baseUrl}/v1 and the key ${credential}.`,
    "It speaks chat completions only, which tollkeeper does not serve by itself: add the route first, with tollkeeper config edit.",
    "What comes with a JetBrains AI subscription goes through JetBrains' own servers, and never comes here.",
  ],
});
