import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";

// Traces would go to the maker.
setTracingDisabled(true);
const modelProvider = new OpenAIProvider({ useResponses: true, useResponsesWebSocket: true });
const echo = tool({
  name: "exec_command",
  description: "runs a command",
  parameters: {
    type: "object",
    properties: { cmd: { type: "string" } },
    required: ["cmd"],
    additionalProperties: false,
  },
  execute: ({ cmd }) => `ran ${cmd}`,
});
const agent = new Agent({ name: "runner", instructions: "Be short.", model: "gpt-5.5", tools: [echo] });
const { finalOutput } = await new Runner({ modelProvider }).run(agent, "do it", { maxTurns: 20 });
console.log(finalOutput);
await modelProvider.close();
