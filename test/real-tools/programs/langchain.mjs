import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";

const anthropic = new ChatAnthropic({ model: "claude-sonnet-5" });
const openai = new ChatOpenAI({ model: "gpt-5.5", useResponsesApi: true });
for (const model of [anthropic, openai]) console.log((await model.invoke("hello")).text);
