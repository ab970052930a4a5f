import { join } from "node:path";
import { applicationHome } from "../recipe/directories.ts";
import type { ConnectableTool } from "../tool.ts";
import { EDITOR_LIST, manualRecipe } from "./editor.ts";

/** Copilot's chat in VS Code with the user's own models. Their file is a list, and keeps the key apart. */
export const vscode: ConnectableTool = {
  name: "vscode",
  title: "VS Code Copilot BYOK",
  source: "https://code.visualstudio.com/docs/agent-customization/language-models",
  date: "2026-11-22",
  tried: null,
  programs: ["code", "code-insiders"],
  homePaths: [".config/Code", "Library/Application Support/Code"],
  isEditor: true,
  recorded: EDITOR_LIST,
  processSignatures: [
    { names: ["code", "code-insiders", "codium", "vscodium"] },
    // On macOS each part of an application has a name of its own.
    { path: /\/(?:Visual Studio Code[^/]*|VSCodium)\.app\// },
    // Its Node on a remote machine.
    {
      path: /\/\.vscode-server(?:-insiders)?\//,
      source: "https://github.com/microsoft/vscode-remote-release/issues/262",
    },
  ],
  configFiles: (host) => [join(applicationHome(host), "Code", "User", "settings.json")],
  ...manualRecipe(({ baseUrl, credential }) => [
    "tollkeeper cannot change these settings. In VS Code 1.122 or later, change them yourself:",
    '1. Run the command "Chat: Manage Language Models". Choose "Add Models", then "Custom Endpoint".',
    `2. Enter the key ${credential}. Choose the API: Messages for Claude's models, Responses for OpenAI's, else Chat Completions.`,
    "3. In the file that opens, add an entry for each model. For a model of the Messages API:",
    `   { "id": "claude-sonnet-5", "name": "claude-sonnet-5", "url": "${baseUrl}/v1/messages", "toolCalling": true, "vision": true, "maxInputTokens": 200000, "maxOutputTokens": 16000 }`,
    `   For a model of the Responses API the url is ${baseUrl}/v1/responses, for others ${baseUrl}/v1/chat/completions`,
    "Inline completions and Copilot's own models go through GitHub's servers and never reach tollkeeper.",
  ]),
};
