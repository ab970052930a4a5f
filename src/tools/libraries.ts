import { PRESENT, type Evidence } from "../core/identity/signatures.ts";
import type { Tool, ToolRequestSignature } from "./tool.ts";

const npm = (packages: string) => ({ source: `npm package ${packages}`, date: "2026-11-21" });
const github = (file: string) => ({ source: `https://github.com/${file}`, date: "2026-11-22" });

/** A library that a program may be written with, by one of its signatures. */
interface LibrarySignature extends Omit<ToolRequestSignature, "source">, Evidence, Pick<Tool, "usageRemedy"> {
  tool: string;
}

/** Libraries in the order in which they are tried: after all tools. */
export const LIBRARY_SIGNATURES: readonly LibrarySignature[] = [
  // Pi sends the same for newer models. Then its process, which outranks a library, identifies it.
  {
    tool: "langchain",
    when: { "user-agent": /^Anthropic\/JS /, "anthropic-dangerous-direct-browser-access": PRESENT },
    without: ["anthropic-beta"],
    ...npm("@langchain/anthropic 1.5.11"),
  },
  {
    tool: "anthropic-sdk",
    when: { "user-agent": /^Anthropic\/JS / },
    ...npm("@anthropic-ai/sdk 1.11.0 and 0.137.0"),
  },
  {
    tool: "anthropic-sdk",
    when: { "user-agent": /^(?:Async)?Anthropic\/Python / },
    ...github("anthropics/anthropic-sdk-python, src/anthropic/_base_client.py"),
  },
  {
    tool: "openai-sdk",
    when: { "user-agent": /^OpenAI\/JS / },
    usageRemedy: "in its code, pass stream_options: { include_usage: true }",
    ...npm("openai 7.55.0"),
  },
  {
    tool: "openai-sdk",
    when: { "user-agent": /^(?:Async)?OpenAI\/Python / },
    usageRemedy: `in its code, pass stream_options={"include_usage": True}, or with LangChain stream_usage=True`,
    ...github("openai/openai-python, src/openai/_base_client.py"),
  },
  {
    tool: "ai-sdk",
    when: { "user-agent": /^(?:ai\/|ai-sdk[-/])/ },
    usageRemedy: "in its code, pass includeUsage: true to createOpenAICompatible",
    ...npm("ai 7.0.173, @ai-sdk/anthropic 4.0.105"),
  },
  {
    tool: "langchain",
    when: { "user-agent": /^langchainjs-/ },
    usageRemedy: "in its code, pass streamUsage: true to ChatOpenAI",
    ...npm("@langchain/openai 1.6.0"),
  },
  { tool: "openai-agents", when: { "user-agent": /^Agents\/JavaScript / }, ...npm("@openai/agents 0.20.0") },
  {
    tool: "openai-agents",
    when: { "user-agent": /^Agents\/Python / },
    usageRemedy: "in its code, pass ModelSettings(include_usage=True)",
    ...github("openai/openai-agents-python, src/agents/models/chatcmpl_helpers.py"),
  },
  { tool: "curl", when: { "user-agent": /^curl\// }, source: "curl 7.88.1", date: "2026-11-21" },
];
