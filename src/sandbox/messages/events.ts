import type { StreamEvent } from "../http/event-stream.ts";
import { omit } from "../json.ts";
import { splitIntoChunks } from "../generation/tokens.ts";
import type { ContentBlock, Message } from "./message.ts";

/** Returns the events that stream a message, in the order of recorded streams: input, content blocks in pieces, totals. */
export function messageEvents(message: Message): StreamEvent[] {
  const blocks = message.content.flatMap((block, index) => blockEvents(block, index));
  // Recorded streams contain one ping, after the start of the first block, or of the message when it has no blocks.
  const [start, ping] = [startEvent(message), { type: "ping" }];
  const opening = blocks.length === 0 ? [start, ping] : [start, ...blocks.slice(0, 1), ping];
  return [...opening, ...blocks.slice(1), deltaEvent(message), { type: "message_stop" }];
}

function startEvent(message: Message): StreamEvent {
  const started = { ...omit(message, "stop_details"), content: [], stop_reason: null };
  if (message.usage === undefined) return { type: "message_start", message: started };
  const usage = { ...omit(message.usage, "output_tokens_details"), output_tokens: 1 };
  return { type: "message_start", message: { ...started, usage } };
}

/** Its usage is cumulative and repeats the input, without the split by cache lifetime (docs/wire.md section 5). */
function deltaEvent(message: Message): StreamEvent {
  const { stop_reason, stop_sequence, stop_details } = message;
  const delta = { stop_reason, stop_sequence, stop_details };
  if (message.usage === undefined) return { type: "message_delta", delta };
  const usage = omit(message.usage, "cache_creation", "service_tier", "inference_geo");
  return { type: "message_delta", delta, usage };
}

function blockEvents(block: ContentBlock, index: number): StreamEvent[] {
  const { empty, deltas } = splitBlock(block);
  return [
    { type: "content_block_start", index, content_block: empty },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** Returns a block as it starts, without content, and the deltas that fill it. */
function splitBlock(block: ContentBlock): { empty: ContentBlock; deltas: StreamEvent[] } {
  switch (block.type) {
    case "thinking":
      return {
        empty: { ...block, thinking: "", signature: "" },
        deltas: [
          ...splitIntoChunks(block.thinking).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block.signature },
        ],
      };
    case "text":
      return {
        empty: { ...block, text: "" },
        deltas: splitIntoChunks(block.text).map((text) => ({ type: "text_delta", text })),
      };
    case "tool_use":
      return {
        empty: { ...block, input: {} },
        deltas: ["", ...splitIntoChunks(JSON.stringify(block.input))].map((json) => ({
          type: "input_json_delta",
          partial_json: json,
        })),
      };
  }
}
