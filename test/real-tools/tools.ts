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
  OPENCODE_SEEDS,
  PI_SEEDS,
  QWEN_CODE_SEEDS,
  type Seeds,
} from "./seeds.ts";

/** A model that the sandbox has, and what tells the tool that asks for it without its mark (facts/clients.md section 3). */
interface Asked {
  model: string;
  by: ToolEvidence;
}

/** A tool with settings of its own, and what is expected of it. */
export interface ConnectedTool extends RealTool {
  /** Its name in the ledger. */
  tool: string;
  seeds: Seeds;
  /** Arguments of a prompt without a terminal. */
  prompt: readonly string[];
  /** Does it know of its settings by a shell's start-up file only? */
  readsShell?: true;
  /** A model of each API that it speaks. */
  asks: readonly Asked[];
  /** Is the model that it takes by itself one that the sandbox does not have? */
  needsModel?: true;
  /** Can one command be led here by `tollkeeper run`? */
  runs: boolean;
}

const CLAUDE: Asked = { model: "claude-sonnet-4-6", by: "signature" };
const GPT: Asked = { model: "gpt-5.5", by: "signature" };

export const CONNECTED_TOOLS: readonly ConnectedTool[] = [
  {
    ...CLAUDE_CODE,
    tool: "claude-code",
    seeds: CLAUDE_CODE_SEEDS,
    prompt: ["-p", "hello"],
    asks: [CLAUDE],
    runs: true,
  },
  {
    ...CODEX,
    tool: "codex",
    seeds: CODEX_SEEDS,
    prompt: ["exec", "--skip-git-repo-check", "hello"],
    asks: [GPT],
    runs: true,
  },
  {
    package: "opencode-ai",
    version: "1.18.33",
    program: "opencode",
    // The package's own program is one that its install script would have replaced.
    entry: `opencode-${PLATFORM}/bin/opencode`,
    runner: "itself",
    tool: "opencode",
    seeds: OPENCODE_SEEDS,
    prompt: ["run", "hello"],
    asks: [CLAUDE, GPT],
    runs: true,
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
    asks: [CLAUDE, GPT],
    runs: true,
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
    asks: [CLAUDE],
    runs: true,
  },
  {
    package: "cline",
    version: "3.0.65",
    program: "cline",
    entry: `@cline/cli-${PLATFORM}/bin/cline`,
    runner: "itself",
    tool: "cline",
    seeds: CLINE_SEEDS,
    // A single word would be a command of its own.
    prompt: ["say hello"],
    asks: [CLAUDE, GPT],
    runs: false,
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
    asks: [CLAUDE, GPT],
    runs: false,
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
    asks: [CLAUDE, GPT],
    runs: true,
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
    // Of its requests for newer models only its process tells that it is not LangChain.
    asks: [{ ...CLAUDE, by: "process" }, GPT],
    needsModel: true,
    runs: false,
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
    asks: [CLAUDE, GPT],
    runs: false,
  },
];
