import { query } from "@anthropic-ai/claude-agent-sdk";

for await (const message of query({ prompt: "hello" })) {
  if (message.type === "result") console.log(message.result);
}
