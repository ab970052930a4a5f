import type { ToolPackage } from "../helpers/tools/tool-packages.ts";

/** A library, and a program that asks with it once for each API that it knows. */
export interface Library extends ToolPackage {
  /** In programs/. */
  program: string;
  /** Who its requests come from where nothing marks them (facts/clients.md section 3), one for each that it makes. */
  unmarked: readonly string[];
}

/** They are led by variables alone. */
export const LIBRARIES: readonly Library[] = [
  {
    package: "@anthropic-ai/sdk",
    version: "1.11.0",
    program: "anthropic.mjs",
    unmarked: ["anthropic-sdk by library"],
  },
  {
    package: "@anthropic-ai/sdk",
    version: "0.137.0",
    program: "anthropic.mjs",
    unmarked: ["anthropic-sdk by library"],
  },
  { package: "openai", version: "7.55.0", program: "openai.mjs", unmarked: ["openai-sdk by library"] },
  {
    package: "ai",
    version: "7.0.173",
    additional: ["@ai-sdk/anthropic@4.0.105", "@ai-sdk/openai@4.0.118"],
    program: "ai-sdk.mjs",
    unmarked: ["ai-sdk by library", "ai-sdk by library"],
  },
  {
    package: "@langchain/anthropic",
    version: "1.5.11",
    additional: ["@langchain/openai@1.6.0", "@langchain/core@1.4.0"],
    program: "langchain.mjs",
    unmarked: ["langchain by library", "langchain by library"],
  },
  {
    package: "@openai/agents",
    version: "0.20.0",
    program: "openai-agents.mjs",
    unmarked: ["openai-agents by library"],
  },
  {
    package: "@anthropic-ai/claude-agent-sdk",
    version: "0.3.329",
    program: "claude-agent.mjs",
    unmarked: ["claude-code by signature"],
  },
];

/** Reads Codex's settings, and listens to no variable. */
export const CODEX_SDK: Library = {
  package: "@openai/codex-sdk",
  version: "0.163.0",
  program: "codex-sdk.mjs",
  unmarked: ["codex by signature"],
};
