import { PRESENT, type Evidence } from "../core/identity/signatures.ts";
import type { ToolRequestSignature } from "./tool.ts";

const npm = (packages: string) => ({ source: `npm package ${packages}`, date: "2026-11-21" });
const github = (file: string) => ({ source: `https://github.com/${file}`, date: "2026-11-22" });

/** Libraries that a program may be written with, in the order in which they are tried: after all tools. */
export const LIBRARY_SIGNATURES: readonly (ToolRequestSignature & Evidence & { tool: string })[] = [
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
  { tool: "openai-sdk", when: { "user-agent": /^OpenAI\/JS / }, ...npm("openai 7.55.0") },
  {
    tool: "openai-sdk",
    when: { "user-agent": /^(?:Async)?OpenAI\/Python / },
    ...github("openai/openai-python, src/openai/_base_client.py"),
  },
  {
    tool: "ai-sdk",
    when: { "user-agent": /^(?:ai\/|ai-sdk[-/])/ },
    ...npm("ai 7.0.173, @ai-sdk/anthropic 4.0.105"),
  },
  { tool: "langchain", when: { "user-agent": /^langchainjs-/ }, ...npm("@langchain/openai 1.6.0") },
  { tool: "openai-agents", when: { "user-agent": /^Agents\/JavaScript / }, ...npm("@openai/agents 0.20.0") },
  { tool: "curl", when: { "user-agent": /^curl\// }, source: "curl 7.88.1", date: "2026-11-21" },
];
