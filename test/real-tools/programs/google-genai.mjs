// What programs do most with Google's SDK. Prints what came back, and the usage of each response.
import { createPartFromFunctionResponse, GoogleGenAI } from "@google/genai";

const ai = new GoogleGenAI({ apiKey: process.env.GOOGLE_API_KEY });
const model = "gemini-2.5-flash";
const print = (what, { text, usageMetadata, functionCalls }) =>
  console.log(JSON.stringify([what, text, functionCalls?.map(({ name }) => name), usageMetadata]));

print("text", await ai.models.generateContent({ model, contents: "hello" }));
let last;
let text = "";
for await (const chunk of await ai.models.generateContentStream({
  model,
  contents: "tell me more",
  config: { thinkingConfig: { includeThoughts: true } },
})) {
  text += chunk.text ?? "";
  last = chunk;
}
print("stream", { text, usageMetadata: last.usageMetadata });
const tools = [{ functionDeclarations: [{ name: "look", parameters: { type: "OBJECT", properties: {} } }] }];
const contents = [{ role: "user", parts: [{ text: "use the tool look" }] }];
const called = await ai.models.generateContent({ model, contents, config: { tools } });
print("tool", called);
const [call] = called.functionCalls;
const result = createPartFromFunctionResponse(call.id ?? "", call.name, { output: "5" });
contents.push(called.candidates[0].content, { role: "user", parts: [result] });
print("result", await ai.models.generateContent({ model, contents, config: { tools } }));
const picture = { inlineData: { mimeType: "image/png", data: Buffer.alloc(600, 7).toString("base64") } };
print("picture", await ai.models.generateContent({ model, contents: [{ text: "what is this?" }, picture] }));
const chat = ai.chats.create({ model });
print("chat", await chat.sendMessage({ message: "one" }));
print("chat", await chat.sendMessage({ message: "two" }));
const { totalTokens } = await ai.models.countTokens({ model, contents: "hello" });
const { embeddings } = await ai.models.embedContent({ model: "gemini-embedding-2", contents: ["a", "b"] });
const file = await ai.files.upload({ file: new Blob(["hello"]), config: { mimeType: "text/plain" } });
const { name } = await ai.models.get({ model });
console.log(
  JSON.stringify([totalTokens, embeddings.map(({ values }) => values.length), file.sizeBytes, name]),
);
await ai.models
  .generateContent({ model: "unknown", contents: "hello" })
  .catch(({ status }) => console.log(status));
