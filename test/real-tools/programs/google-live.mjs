// Two turns with text, one with a tool, and one with sound, over the Live API.
import { GoogleGenAI } from "@google/genai";

const ai = new GoogleGenAI({ apiKey: process.env.GOOGLE_API_KEY });
let onTurn = () => {};
const session = await ai.live.connect({
  model: "gemini-3.8-live",
  config: {
    responseModalities: ["AUDIO"],
    tools: [{ functionDeclarations: [{ name: "read", parameters: { type: "OBJECT", properties: {} } }] }],
  },
  callbacks: {
    onmessage(message) {
      for (const { id, name } of message.toolCall?.functionCalls ?? [])
        session.sendToolResponse({ functionResponses: [{ id, name, response: { output: "5" } }] });
      if (message.serverContent?.turnComplete) onTurn(message.usageMetadata);
    },
    onerror: ({ message }) => console.error(message),
    onclose({ code, reason }) {
      if (code !== 1000 && code !== 1005) console.error(code, reason);
    },
  },
});
const turn = (send) =>
  new Promise((resolve) => {
    onTurn = resolve;
    send();
  });
const usages = [];
for (const text of ["hello", "use the tool"])
  usages.push(await turn(() => session.sendClientContent({ turns: text, turnComplete: true })));
const audio = { mimeType: "audio/pcm;rate=16000", data: Buffer.alloc(640).toString("base64") };
usages.push(
  await turn(() => {
    for (let piece = 0; piece < 50; piece += 1) session.sendRealtimeInput({ audio });
    session.sendRealtimeInput({ audioStreamEnd: true });
  }),
);
session.close();
console.log(usages.map(({ totalTokenCount }) => totalTokenCount).join(" "));
