import { join } from "node:path";
import { applicationHome } from "../recipe/directories.ts";
import type { ConnectableTool } from "../tool.ts";
import { EDITOR_LIST, manualRecipe } from "./editor.ts";

export const cursor: ConnectableTool = {
  name: "cursor",
  title: "Cursor",
  source: "https://ngrok.com/docs/gateway/examples/cursor-local-llm",
  date: "2026-11-22",
  tried: null,
  programs: ["cursor"],
  homePaths: [".cursor"],
  isEditor: true,
  recorded: EDITOR_LIST,
  processSignatures: [
    { names: ["cursor"] },
    // On macOS each part of an application has a name of its own.
    { path: /\/Cursor\.app\// },
    // Its Node on a remote machine.
    { path: /\/\.cursor-server\//, source: "https://github.com/cursor/cursor/issues/3201" },
  ],
  configFiles: (host) => [join(applicationHome(host), "Cursor", "User", "settings.json")],
  ...manualRecipe(() => [
    "Cursor cannot be connected: its own servers build each prompt and call the model, and they cannot reach this machine.",
    'For that reason its setting "Override OpenAI Base URL" rejects local addresses.',
    "Do not open a tunnel for it: that would expose tollkeeper to the internet.",
    "Claude Code and Codex in Cursor's terminal can be connected: tollkeeper connect claude-code; tollkeeper connect codex",
  ]),
};
