import type { ToolEvidence } from "../../src/core/ledger/record.ts";
import { CLAUDE_CODE, CODEX, type RealTool } from "../helpers/tools/real-tool.ts";
import { PLATFORM } from "../helpers/tools/tool-packages.ts";
import {
  BASHRC_SEEDS,
  CLAUDE_CODE_SEEDS,
  CLINE_SEEDS,
  CODEX_SEEDS,
  CONTINUE_SEEDS,
  DROID_SEEDS,
  KILO_SEEDS,
  KIMI_CODE_SEEDS,
  OPENCODE_SEEDS,
  PI_SEEDS,
  QWEN_CODE_SEEDS,
  type Seeds,
} from "./seeds.ts";

/** A model of the sandbox, and the evidence for the tool in its requests without a mark (docs/wire.md section 2). */
interface ModelChoice {
  model: string;
  by: ToolEvidence;
}

/** A tool that can be connected, and what is expected of it. */
export interface ConnectedTool extends RealTool {
  /** Its name in the ledger. */
  tool: string;
  seeds: Seeds;
  /** Arguments for a prompt without a terminal. */
  prompt: readonly string[];
  /** True when it reads its settings only through a shell's start-up file. */
  readsShell?: true;
  /** One model for each API that it uses. */
  models: readonly ModelChoice[];
  /** Those for which it offers different things; by default `models`. */
  featureModels?: readonly Pick<ModelChoice, "model">[];
  /** The evidence for it in requests for Chat Completions without a mark; missing where it does not use them. */
  chatBy?: ToolEvidence;
  /** True when the sandbox does not have the tool's default model. */
  needsModel?: true;
  /** True when `tollkeeper run` supports it. */
  hasRunSupport: boolean;
  /** How many requests one prompt takes that is refused; by default one. */
  refusedRequests?: number;
  /** True when it shows no error message of a service. */
  hidesErrors?: true;
}

const CLAUDE: ModelChoice = { model: "claude-sonnet-4-6", by: "signature" };
const GPT: ModelChoice = { model: "gpt-5.5", by: "signature" };

/** Its only API is Google's, so it is tried with Google's libraries (google.tools.ts). */
export const GEMINI_CLI: RealTool & Pick<ConnectedTool, "tool"> = {
  tool: "gemini-cli",
  package: "@google/gemini-cli",
  version: "0.61.0",
  program: "gemini",
  entry: "@google/gemini-cli/bundle/gemini.js",
  runner: "node 22",
};

export const CONNECTED_TOOLS: readonly ConnectedTool[] = [
  {
    ...CLAUDE_CODE,
    tool: "claude-code",
    seeds: CLAUDE_CODE_SEEDS,
    prompt: ["-p", "hello"],
    models: [CLAUDE],
    featureModels: [CLAUDE, { model: "claude-opus-5-5" }],
    hasRunSupport: true,
  },
  {
    ...CODEX,
    tool: "codex",
    seeds: CODEX_SEEDS,
    prompt: ["exec", "--skip-git-repo-check", "hello"],
    models: [GPT],
    featureModels: [GPT, { model: "gpt-6.2-sol" }],
    needsModel: true,
    hasRunSupport: true,
  },
  {
    package: "opencode-ai",
    version: "1.18.33",
    program: "opencode",
    // The package's own program is a placeholder that its install script replaces.
    entry: `opencode-${PLATFORM}/bin/opencode`,
    runner: "itself",
    tool: "opencode",
    seeds: OPENCODE_SEEDS,
    prompt: ["run", "hello"],
    models: [CLAUDE, GPT],
    chatBy: "signature",
    hasRunSupport: true,
    // Beside the prompt, a title for the session.
    refusedRequests: 2,
  },
  {
    package: "@kilocode/cli",
    version: "7.7.7",
    program: "kilo",
    entry: `@kilocode/cli-${PLATFORM}/bin/kilo`,
    runner: "itself",
    tool: "kilo",
    seeds: KILO_SEEDS,
    prompt: ["run", "--auto", "hello"],
    models: [CLAUDE, GPT],
    chatBy: "signature",
    hasRunSupport: true,
  },
  {
    package: "@qwen-code/qwen-code",
    version: "0.24.4",
    program: "qwen",
    entry: "@qwen-code/qwen-code/cli-entry.js",
    runner: "node 22",
    tool: "qwen-code",
    seeds: QWEN_CODE_SEEDS,
    prompt: ["-p", "hello"],
    models: [CLAUDE],
    chatBy: "signature",
    hasRunSupport: true,
  },
  {
    package: "@moonshot-ai/kimi-code",
    version: "2.1.0",
    program: "kimi",
    entry: "@moonshot-ai/kimi-code/dist/main.mjs",
    runner: "node 22",
    tool: "kimi-code",
    seeds: KIMI_CODE_SEEDS,
    prompt: ["-p", "hello"],
    models: [CLAUDE, GPT],
    chatBy: "signature",
    hasRunSupport: true,
  },
  {
    package: "cline",
    version: "3.0.65",
    program: "cline",
    entry: `@cline/cli-${PLATFORM}/bin/cline`,
    runner: "itself",
    tool: "cline",
    seeds: CLINE_SEEDS,
    // A single word would be taken for a command.
    prompt: ["say hello"],
    models: [CLAUDE, GPT],
    chatBy: "signature",
    hasRunSupport: false,
  },
  {
    package: "@continuedev/cli",
    version: "1.5.47",
    program: "cn",
    entry: "@continuedev/cli/dist/cn.js",
    runner: "node",
    tool: "continue",
    seeds: CONTINUE_SEEDS,
    prompt: ["--auto", "-p", "hello"],
    models: [CLAUDE, GPT],
    chatBy: "signature",
    hasRunSupport: false,
  },
  {
    package: "@github/copilot",
    version: "1.0.102",
    program: "copilot",
    entry: `@github/copilot-${PLATFORM}/copilot`,
    runner: "itself",
    tool: "copilot",
    seeds: BASHRC_SEEDS,
    prompt: ["-p", "hello", "--allow-all-tools"],
    readsShell: true,
    models: [CLAUDE, GPT],
    chatBy: "signature",
    hasRunSupport: true,
  },
  {
    package: "@earendil-works/pi-coding-agent",
    version: "0.74.2",
    program: "pi",
    entry: "@earendil-works/pi-coding-agent/dist/cli.js",
    runner: "node",
    tool: "pi",
    seeds: PI_SEEDS,
    prompt: ["-p", "hello"],
    // Only its process distinguishes its requests for newer models from LangChain's.
    models: [{ ...CLAUDE, by: "process" }, GPT],
    needsModel: true,
    chatBy: "process",
    hasRunSupport: false,
  },
  {
    package: `@factory/cli-${PLATFORM}`,
    version: "0.225.2",
    program: "droid",
    entry: `@factory/cli-${PLATFORM}/bin/droid`,
    runner: "itself",
    tool: "droid",
    seeds: DROID_SEEDS,
    prompt: ["exec", "hello"],
    models: [CLAUDE, GPT],
    chatBy: "signature",
    hasRunSupport: false,
    hidesErrors: true,
  },
];
