import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";

const anthropic = new ChatAnthropic({ model: "claude-sonnet-5" });
const responses = new ChatOpenAI({ model: "gpt-5.5", useResponsesApi: true });
for (const model of [anthropic, responses]) console.log((await model.invoke("hello")).text);
let text = "";
for await (const chunk of await new ChatOpenAI({ model: "gpt-5.5" }).stream("hello")) text += chunk.text;
console.log(text);
