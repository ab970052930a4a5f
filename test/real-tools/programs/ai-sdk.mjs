import { anthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import { generateText } from "ai";

for (const model of [anthropic("claude-sonnet-5"), openai("gpt-5.5")]) {
  const { text } = await generateText({ model, prompt: "hello", maxOutputTokens: 64 });
  console.log(text);
}
