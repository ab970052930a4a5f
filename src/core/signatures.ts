/** One row of evidence: all patterns of `when` match, and none of the headers in `without` is there. */
export interface Signature {
  tool: string;
  when: readonly (readonly [header: string, pattern: RegExp])[];
  without?: readonly string[];
}

const PRESENT = /^/;
const ua = (pattern: RegExp) => ["user-agent", pattern] as const;

/**
 * What tools betray of themselves, strongest first. Rows and order are from requests recorded on 2026-11-21 from
 * the real programs (facts/clients.md section 3, facts/recorded-headers.json). A User-Agent alone is no identity:
 * Kilo calls itself opencode, Qwen Code calls itself claude-cli.
 */
export const SIGNATURES: readonly Signature[] = [
  { tool: "kilo", when: [["x-title", /^Kilo Code/]] },
  { tool: "kilo", when: [["http-referer", /^https:\/\/kilocode\.ai/]] },
  { tool: "claude-code", when: [["x-claude-code-session-id", PRESENT]] },
  { tool: "claude-code", when: [ua(/^claude-code\//)] },
  { tool: "qwen-code", when: [ua(/^claude-cli\//)], without: ["x-claude-code-session-id"] },
  { tool: "qwen-code", when: [ua(/^QwenCode\//)] },
  { tool: "codex", when: [["originator", /^codex/]] },
  { tool: "codex", when: [ua(/^codex/)] },
  { tool: "opencode", when: [ua(/^opencode\//)] },
  { tool: "kilo", when: [ua(/^kilo\//)] },
  { tool: "droid", when: [ua(/^factory-cli\//)] },
  { tool: "copilot", when: [["x-initiator", PRESENT], ua(/^(?:OpenAI|Anthropic)\/JS /)] },
  { tool: "pi", when: [["session_id", PRESENT], ua(/^OpenAI\/JS /)] },
  // LangChain and Pi both switch the Anthropic SDK's browser mode on; only Pi asks for a beta. Weak, like the rest below.
  {
    tool: "pi",
    when: [
      ua(/^Anthropic\/JS /),
      ["anthropic-dangerous-direct-browser-access", PRESENT],
      ["anthropic-beta", /interleaved-thinking/],
    ],
  },
  {
    tool: "langchain",
    when: [ua(/^Anthropic\/JS /), ["anthropic-dangerous-direct-browser-access", PRESENT]],
    without: ["anthropic-beta"],
  },
  { tool: "cline", when: [ua(/^ai-sdk\/.* runtime\/bun\//)] },
  { tool: "continue", when: [ua(/^(?:ls\/JS |node-fetch$)/)] },
];

/** Programs that say only which library they are written with; same source. */
export const LIBRARIES: readonly Signature[] = [
  { tool: "anthropic-sdk", when: [ua(/^(?:Async)?Anthropic\/(?:JS|Python) /)] },
  { tool: "openai-sdk", when: [ua(/^(?:Async)?OpenAI\/(?:JS|Python) /)] },
  { tool: "ai-sdk", when: [ua(/^(?:ai\/|ai-sdk[-/])/)] },
  { tool: "langchain", when: [ua(/^langchainjs-/)] },
  { tool: "openai-agents", when: [ua(/^Agents\/JavaScript /)] },
  { tool: "curl", when: [ua(/^curl\//)] },
];
