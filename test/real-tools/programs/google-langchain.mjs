import { ChatGoogleGenerativeAI } from "@langchain/google-genai";

const model = new ChatGoogleGenerativeAI({
  model: "gemini-2.5-flash",
  apiKey: process.env.GOOGLE_API_KEY,
  baseUrl: process.env.GOOGLE_GEMINI_BASE_URL,
});
const { text, usage_metadata: usage } = await model.invoke("hello");
console.log(JSON.stringify([text, usage]));
let streamed = "";
for await (const chunk of await model.stream("tell me more")) streamed += chunk.text;
console.log(streamed);
