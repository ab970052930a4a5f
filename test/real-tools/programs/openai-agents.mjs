import { Agent, run, setTracingDisabled } from "@openai/agents";

// Traces would go to the maker.
setTracingDisabled(true);
const agent = new Agent({ name: "greeter", instructions: "Be short.", model: "gpt-5.5" });
console.log((await run(agent, "hello")).finalOutput);
