import type { Tool } from "./tool.ts";

/** It uses only Google's API, so it cannot be connected; programs that it starts can. */
export const gemini: Tool = {
  name: "gemini",
  title: "Gemini CLI",
  source: "https://www.npmjs.com/package/@google/gemini-cli",
  date: "2026-11-22",
  recorded: { source: "npm package @google/gemini-cli 0.61.0", date: "2026-11-22" },
  processSignatures: [{ names: ["gemini"] }, { path: /\/@google\/gemini-cli\// }],
};
