import { chunkFrame, eventFrame, EVENT_STREAM_TYPE } from "./bedrock-frames.ts";
import { sendJson, type Script } from "./scripted-upstream.ts";

/** A usage of Converse: 15 in, 4 of them read from the cache and 2 written, and 7 out. */
const USAGE = {
  inputTokens: 9,
  outputTokens: 7,
  totalTokens: 22,
  cacheReadInputTokens: 4,
  cacheWriteInputTokens: 2,
};

const CONVERSE = {
  metrics: { latencyMs: 100 },
  output: { message: { role: "assistant", content: [{ text: "Good morning" }] } },
  stopReason: "end_turn",
  usage: USAGE,
};

/** The frames of `converse-stream`. */
export const CONVERSE_FRAMES = [
  eventFrame("messageStart", { role: "assistant", p: "ab" }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Good morning" }, p: "abc" }),
  eventFrame("contentBlockStop", { contentBlockIndex: 0, p: "a" }),
  eventFrame("messageStop", { stopReason: "end_turn", p: "abcd" }),
  eventFrame("metadata", { metrics: { latencyMs: 100 }, usage: USAGE, p: "abcde" }),
];

/** The same usage as a message of Claude's has it. */
const MESSAGE = {
  id: "msg_bdrk_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  content: [{ type: "text", text: "Good morning" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 9, cache_creation_input_tokens: 2, cache_read_input_tokens: 4, output_tokens: 7 },
};

/** The frames of `invoke-with-response-stream` of Claude. */
export const CHUNK_FRAMES = [
  { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Good morning" } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 7 },
  },
  {
    type: "message_stop",
    "amazon-bedrock-invocationMetrics": {
      inputTokenCount: 9,
      outputTokenCount: 7,
      invocationLatency: 738,
      firstByteLatency: 378,
      cacheReadInputTokenCount: 4,
      cacheWriteInputTokenCount: 2,
    },
  },
].map((event) => chunkFrame(event));

const EVENTS = {
  "content-type": EVENT_STREAM_TYPE,
  "x-amzn-requestid": "6b1f0e0a-0000-4000-8000-000000000001",
};

/** Responds as Bedrock does, by its documents. */
export const respondAsBedrock: Script = ({ url }, res) => {
  const action = /\/([a-z-]+)$/.exec(url)?.[1];
  switch (action) {
    case "converse":
      return sendJson(res, CONVERSE);
    case "converse-stream":
      return void res.writeHead(200, EVENTS).end(Buffer.concat(CONVERSE_FRAMES));
    case "invoke":
      return sendJson(res, MESSAGE);
    case "invoke-with-response-stream":
      return void res.writeHead(200, EVENTS).end(Buffer.concat(CHUNK_FRAMES));
    case "count-tokens":
      return sendJson(res, { inputTokens: 15 });
    default:
      return sendJson(res, { message: "Unknown operation" }, 404);
  }
};
