import { join } from "node:path";
import { applicationHome } from "../recipe/directories.ts";
import { manualRecipe } from "../recipe/manual-recipe.ts";
import type { ConnectableTool } from "../tool.ts";
import { EDITOR_LIST } from "./editor-list.ts";

export const cursor: ConnectableTool = {
  name: "cursor",
  title: "Cursor",
  source: "https://ngrok.com/docs/gateway/examples/cursor-local-llm",
  date: "2026-11-22",
  tried: null,
  programs: ["cursor"],
  homePaths: [".cursor"],
  isEditor: true,
  processSignatures: [
    { names: ["cursor"], ...EDITOR_LIST },
    // On macOS the parts of an application have names of their own.
    { path: /\/Cursor\.app\//, ...EDITOR_LIST },
    {
      // The Node with which it works on another machine.
      path: /\/\.cursor-server\//,
      source: "https://github.com/cursor/cursor/issues/3201",
      date: "2026-11-22",
    },
  ],
  configFiles: (host) => [join(applicationHome(host), "Cursor", "User", "settings.json")],
  ...manualRecipe(() => [
    "Cursor cannot be led here: its own servers build every prompt and ask the model, and they cannot reach this machine.",
    "Its setting Override OpenAI Base URL refuses local addresses for that reason. A tunnel would open tollkeeper to the internet: do not build one.",
    "Claude Code and Codex in Cursor's terminal can be connected, each with its own recipe.",
  ]),
};
