import { SSE, sendJson, type Script } from "./scripted-upstream.ts";

/** A response of `generateContent` with every kind of count: 15 in, 5 of them cached; 10 out, 3 of them thoughts. */
export const CONTENT = {
  candidates: [{ content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP", index: 0 }],
  usageMetadata: {
    promptTokenCount: 15,
    cachedContentTokenCount: 5,
    candidatesTokenCount: 7,
    thoughtsTokenCount: 3,
    totalTokenCount: 25,
  },
  modelVersion: "gemini-2.5-flash",
  responseId: "r-1",
};

const FIRST = {
  ...CONTENT,
  candidates: [{ content: { role: "model", parts: [{ text: "h" }] }, index: 0 }],
  usageMetadata: { promptTokenCount: 15, totalTokenCount: 15 },
};

/** The events of a stream, as Google sends them. */
export const CONTENT_EVENTS = [FIRST, CONTENT].map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`);

/** The same stream without `alt=sse`. */
export const CONTENT_LIST = `[${JSON.stringify(FIRST, null, 2)}\r\n,\r\n${JSON.stringify(CONTENT, null, 2)}\r\n]`;

/** Responds as Google does to what creates content, counts, embeds or lists. */
export const respondAsGoogle: Script = ({ url }, res) => {
  const [path = "", query = ""] = url.split("?");
  if (path.endsWith(":streamGenerateContent")) {
    const isEvents = /(?:^|&)\$?alt=sse(?:&|$)/.test(query);
    res.writeHead(200, isEvents ? SSE : { "content-type": "application/json; charset=UTF-8" });
    if (isEvents) for (const event of CONTENT_EVENTS) res.write(event);
    res.end(isEvents ? "" : CONTENT_LIST);
  } else if (path.endsWith(":countTokens")) sendJson(res, { totalTokens: 15 });
  else if (path.endsWith("mbedContents")) sendJson(res, { embeddings: [{ values: [0.1] }] });
  else if (path.endsWith(":embedContent"))
    sendJson(res, { embedding: { values: [0.1] }, usageMetadata: { promptTokenCount: 9 } });
  else if (path.endsWith("/models")) sendJson(res, { models: [{ name: "models/gemini-2.5-flash" }] });
  else sendJson(res, CONTENT);
};
