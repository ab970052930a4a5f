import Anthropic from "@anthropic-ai/sdk";

const message = await new Anthropic().messages.create({
  model: "claude-sonnet-5",
  max_tokens: 64,
  messages: [{ role: "user", content: "hello" }],
});
console.log(message.content.find(({ type }) => type === "text").text);
