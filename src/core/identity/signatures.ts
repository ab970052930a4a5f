/** One row of evidence: all patterns of `when` match, and none of the headers in `without` is there. */
export interface Signature {
  tool: string;
  when: readonly (readonly [header: string, pattern: RegExp])[];
  without?: readonly string[];
  /** Where the row is known from. */
  source: string;
  /** When that was recorded or looked up, `YYYY-MM-DD`. */
  date: string;
}

const PRESENT = /^/;
const ua = (pattern: RegExp) => ["user-agent", pattern] as const;

/** From requests of the real program, kept in facts/recorded-headers.json. */
const recorded = (program: string) => ({
  source: `facts/clients.md section 3, recorded with ${program}`,
  date: "2026-11-21",
});

/** From the program's own source, not recorded here. */
const inSource = (file: string) => ({ source: `github.com/${file}`, date: "2026-11-22" });

const CLAUDE_CODE = recorded("@anthropic-ai/claude-code 2.1.329");
const QWEN_CODE = recorded("@qwen-code/qwen-code 0.24.4");
const KILO = recorded("@kilocode/cli 7.7.7");
const CODEX = recorded("@openai/codex 0.169.0");
const PI = recorded("@earendil-works/pi-coding-agent 0.74.2");

/**
 * What tools betray of themselves, strongest first, in the order of facts/clients.md section 3. A User-Agent alone is no
 * identity: Kilo calls itself opencode, Qwen Code calls itself claude-cli.
 */
export const SIGNATURES: readonly Signature[] = [
  { tool: "kilo", when: [["x-title", /^Kilo Code/]], ...KILO },
  { tool: "kilo", when: [["http-referer", /^https:\/\/kilocode\.ai/]], ...KILO },
  { tool: "claude-code", when: [["x-claude-code-session-id", PRESENT]], ...CLAUDE_CODE },
  { tool: "claude-code", when: [ua(/^claude-code\//)], ...CLAUDE_CODE },
  {
    tool: "qwen-code",
    when: [ua(/^claude-cli\//)],
    without: ["x-claude-code-session-id"],
    ...QWEN_CODE,
  },
  { tool: "qwen-code", when: [ua(/^QwenCode\//)], ...QWEN_CODE },
  { tool: "codex", when: [["originator", /^codex/]], ...CODEX },
  { tool: "codex", when: [ua(/^codex/)], ...CODEX },
  { tool: "opencode", when: [ua(/^opencode\//)], ...recorded("opencode-ai 1.18.33") },
  { tool: "kilo", when: [ua(/^kilo\//)], ...KILO },
  { tool: "droid", when: [ua(/^factory-cli\//)], ...recorded("@factory/cli-linux-x64 0.225.2") },
  {
    tool: "copilot",
    when: [["x-initiator", PRESENT], ua(/^(?:OpenAI|Anthropic)\/JS /)],
    ...recorded("@github/copilot 1.0.102"),
  },
  { tool: "pi", when: [["session_id", PRESENT], ua(/^OpenAI\/JS /)], ...PI },
  // LangChain and Pi both switch the Anthropic SDK's browser mode on; only Pi asks for a beta, and that for older models
  // alone. Weak, like the rest below.
  {
    tool: "pi",
    when: [
      ua(/^Anthropic\/JS /),
      ["anthropic-dangerous-direct-browser-access", PRESENT],
      ["anthropic-beta", /interleaved-thinking/],
    ],
    ...PI,
  },
  { tool: "cline", when: [ua(/^ai-sdk\/.* runtime\/bun\//)], ...recorded("cline 3.0.65") },
  { tool: "continue", when: [ua(/^(?:ls\/JS |node-fetch$)/)], ...recorded("@continuedev/cli 1.5.47") },
];

/** Programs that say only which library they are written with. */
export const LIBRARIES: readonly Signature[] = [
  // It may be Pi as well, which its process tells: that ranks before a library.
  {
    tool: "langchain",
    when: [ua(/^Anthropic\/JS /), ["anthropic-dangerous-direct-browser-access", PRESENT]],
    without: ["anthropic-beta"],
    ...recorded("@langchain/anthropic 1.5.11"),
  },
  {
    tool: "anthropic-sdk",
    when: [ua(/^Anthropic\/JS /)],
    ...recorded("@anthropic-ai/sdk 1.11.0 and 0.137.0"),
  },
  {
    tool: "anthropic-sdk",
    when: [ua(/^(?:Async)?Anthropic\/Python /)],
    ...inSource("anthropics/anthropic-sdk-python, src/anthropic/_base_client.py"),
  },
  { tool: "openai-sdk", when: [ua(/^OpenAI\/JS /)], ...recorded("openai 7.55.0") },
  {
    tool: "openai-sdk",
    when: [ua(/^(?:Async)?OpenAI\/Python /)],
    ...inSource("openai/openai-python, src/openai/_base_client.py"),
  },
  {
    tool: "ai-sdk",
    when: [ua(/^(?:ai\/|ai-sdk[-/])/)],
    ...recorded("ai 7.0.173, @ai-sdk/anthropic 4.0.105"),
  },
  { tool: "langchain", when: [ua(/^langchainjs-/)], ...recorded("@langchain/openai 1.6.0") },
  { tool: "openai-agents", when: [ua(/^Agents\/JavaScript /)], ...recorded("@openai/agents 0.20.0") },
  { tool: "curl", when: [ua(/^curl\//)], ...recorded("curl 7.88.1") },
];
