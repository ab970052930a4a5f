import { byHand } from "./by-hand.ts";

/** Copilot's chat in VS Code with a model of one's own. Its file is a list, and keeps the key apart. */
export const vscode = byHand({
  tool: "vscode",
  title: "VS Code Copilot BYOK",
  source: "https://code.visualstudio.com/docs/agent-customization/language-models",
  date: "2026-11-22",
  signs: { programs: ["code", "code-insiders"], files: [".config/Code", "Library/Application Support/Code"] },
  remarks: ({ baseUrl, credential }) => [
    "From VS Code 1.122 on, by hand: run the command Chat: Manage Language Models, then Add Models, Custom Endpoint.",
    `As the key enter ${credential}, as the API Messages or Responses; then, in the file that opens, one entry for each model:`,
    `{ "id": "claude-sonnet-5", "name": "claude-sonnet-5", "url": "${baseUrl}/v1/messages", "toolCalling": true, "vision": true, "maxInputTokens": 200000, "maxOutputTokens": 16000 }`,
    `Models of the Responses API have the url ${baseUrl}/v1/responses.`,
    "Inline completions and Copilot's own models go through GitHub's servers, and never come here.",
  ],
});
