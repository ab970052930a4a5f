import { chunkFrame, eventFrame, EVENT_STREAM_TYPE, exceptionFrame } from "./bedrock-frames.ts";
import { sendJson, type Script } from "./scripted-upstream.ts";

/** What a response bills: input outside of the cache, read from it, written to it, and output. */
export type Billed = readonly [input: number, read: number, write: number, output: number];

const BILLED: Billed = [9, 4, 2, 7];

const TEXT = "Good morning";

function usageOf([input, read, write, output]: Billed): object {
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + read + write + output,
    cacheReadInputTokens: read,
    cacheWriteInputTokens: write,
  };
}

function converse(billed: Billed): object {
  return {
    metrics: { latencyMs: 100 },
    output: { message: { role: "assistant", content: [{ text: TEXT }] } },
    stopReason: "end_turn",
    usage: usageOf(billed),
  };
}

function converseFrames(billed: Billed): Buffer[] {
  return [
    eventFrame("messageStart", { role: "assistant", p: "ab" }),
    eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: TEXT }, p: "abc" }),
    eventFrame("contentBlockStop", { contentBlockIndex: 0, p: "a" }),
    eventFrame("messageStop", { stopReason: "end_turn", p: "abcd" }),
    eventFrame("metadata", { metrics: { latencyMs: 100 }, usage: usageOf(billed), p: "abcde" }),
  ];
}

function message([input, read, write, output]: Billed): object {
  return {
    id: "msg_bdrk_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5-20250929",
    content: [{ type: "text", text: TEXT }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: input,
      cache_creation_input_tokens: write,
      cache_read_input_tokens: read,
      output_tokens: output,
    },
  };
}

function chunkFrames(billed: Billed): Buffer[] {
  const [input, read, write, output] = billed;
  const metrics = {
    inputTokenCount: input,
    outputTokenCount: output,
    invocationLatency: 738,
    firstByteLatency: 378,
    cacheReadInputTokenCount: read,
    cacheWriteInputTokenCount: write,
  };
  return [
    { type: "message_start", message: { ...message(billed), content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: output },
    },
    { type: "message_stop", "amazon-bedrock-invocationMetrics": metrics },
  ].map((event) => chunkFrame(event));
}

/** The frames of `converse-stream`. */
export const CONVERSE_FRAMES = converseFrames(BILLED);

/** The frames of `invoke-with-response-stream` of Claude. */
export const CHUNK_FRAMES = chunkFrames(BILLED);

const EVENTS = {
  "content-type": EVENT_STREAM_TYPE,
  "x-amzn-requestid": "6b1f0e0a-0000-4000-8000-000000000001",
};

/** Responds as Bedrock does, by its documents, and bills the same each time. */
export const respondAsBedrock: Script = (seen, res) => respond(seen.url, res, BILLED);

function respond(url: string, res: Parameters<Script>[1], billed: Billed): void {
  switch (/\/([a-z-]+)$/.exec(url)?.[1]) {
    case "converse":
      return sendJson(res, converse(billed));
    case "converse-stream":
      return void res.writeHead(200, EVENTS).end(Buffer.concat(converseFrames(billed)));
    case "invoke":
      return sendJson(res, message(billed));
    case "invoke-with-response-stream":
      return void res.writeHead(200, EVENTS).end(Buffer.concat(chunkFrames(billed)));
    case "count-tokens":
      return sendJson(res, { inputTokens: 15 });
    default:
      return sendJson(res, { message: "Unknown operation" }, 404);
  }
}

/**
 * Returns a script that responds so, bills other counts each time, and keeps books. The model `throttled` gets an error, and a stream of
 * the model `broken` ends with an exception.
 */
export function billedAsBedrock(): { script: Script; books: Billed[] } {
  const books: Billed[] = [];
  return {
    books,
    script({ url }, res) {
      if (url.startsWith("/model/throttled/")) {
        res.setHeader("x-amzn-errortype", "ThrottlingException");
        return sendJson(res, { message: "Too many tokens" }, 429);
      }
      const next = books.length + 1;
      const billed: Billed = [10 + next, 3 * next, next, 7 * next];
      if (url.startsWith("/model/broken/")) {
        const begun = (url.endsWith("/converse-stream") ? converseFrames : chunkFrames)(billed).slice(0, 3);
        const frames = [...begun, exceptionFrame("modelStreamErrorException")];
        return void res.writeHead(200, EVENTS).end(Buffer.concat(frames));
      }
      if (!url.endsWith("/count-tokens")) books.push(billed);
      respond(url, res, billed);
    },
  };
}
