import { copyFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { ToolHome } from "../helpers/process/run-bounded.ts";
import { createToolHome, skipUnavailable } from "../helpers/tools/real-tool.ts";
import { findNode22, installPackages, type ToolPackage } from "../helpers/tools/tool-packages.ts";

/** A library, and a program that sends one request with it to each API that it supports. */
export interface Library extends ToolPackage {
  /** File in programs/. */
  program: string;
  /** The tool and evidence of each of its requests without a mark (docs/wire.md section 2). */
  unmarked: readonly string[];
}

/** Libraries that are configured only by variables. */
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
  {
    package: "openai",
    version: "7.55.0",
    program: "openai.mjs",
    unmarked: ["openai-sdk by library", "openai-sdk by library"],
  },
  {
    package: "ai",
    version: "7.0.173",
    additional: ["@ai-sdk/anthropic@4.0.105", "@ai-sdk/openai@4.0.118"],
    program: "ai-sdk.mjs",
    unmarked: ["ai-sdk by library", "ai-sdk by library"],
  },
  {
    package: "@ai-sdk/openai-compatible",
    version: "3.0.92",
    additional: ["ai@7.0.173"],
    program: "ai-sdk-compatible.mjs",
    unmarked: ["ai-sdk by library"],
  },
  {
    package: "@langchain/anthropic",
    version: "1.5.11",
    additional: ["@langchain/openai@1.6.0", "@langchain/core@1.4.0"],
    program: "langchain.mjs",
    unmarked: ["langchain by library", "langchain by library", "langchain by library"],
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

/** Uses Codex's settings and no variables. */
export const CODEX_SDK: Library = {
  package: "@openai/codex-sdk",
  version: "0.163.0",
  program: "codex-sdk.mjs",
  unmarked: ["codex by signature"],
};

/** A program that uses a library, ready to run. */
export interface InstalledLibrary {
  toolHome: ToolHome;
  /** The command that runs the program. */
  command: string[];
}

const PROGRAMS = fileURLToPath(new URL("programs/", import.meta.url));

/** Installs a library. Returns null, with the test skipped, where it cannot be installed. */
export async function installLibrary(t: TestContext, library: Library): Promise<InstalledLibrary | null> {
  const toolHome = createToolHome(t);
  try {
    symlinkSync(await installPackages(library), join(toolHome.work, "node_modules"));
    copyFileSync(join(PROGRAMS, library.program), join(toolHome.work, library.program));
    return { toolHome, command: [await findNode22(), library.program] };
  } catch (error) {
    skipUnavailable(t, library, error);
    return null;
  }
}
