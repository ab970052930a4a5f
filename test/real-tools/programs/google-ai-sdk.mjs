import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { embed, generateText, streamText } from "ai";

const google = createGoogleGenerativeAI({
  apiKey: process.env.GOOGLE_API_KEY,
  baseURL: `${process.env.GOOGLE_GEMINI_BASE_URL}/v1beta`,
});
const model = google("gemini-2.5-flash");
const { text, usage } = await generateText({ model, prompt: "hello" });
console.log(JSON.stringify([text, usage.inputTokens, usage.outputTokens]));
const stream = streamText({ model, prompt: "tell me more" });
console.log(await stream.text, JSON.stringify((await stream.usage).totalTokens));
const { embedding } = await embed({ model: google.embedding("gemini-embedding-2"), value: "hello" });
console.log(embedding.length);
