import type { JsonObject } from "../../core/json.ts";
import { splitIntoChunks } from "../generation/tokens.ts";
import type { BilledInput } from "../messages/input.ts";
import type { ContentBlock, Message } from "../messages/message.ts";

/** The `stopReason` of each reason of the Messages API that has another name. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  refusal: "content_filtered",
  pause_turn: "end_turn",
};

/** An event of `converse-stream`, without its padding. */
type ConverseEvent = [type: string, payload: JsonObject];

function stopReasonOf({ stop_reason: reason }: Message): string {
  return STOP_REASONS[reason] ?? reason;
}

/** Returns a message as `converse` does. */
export function composeConverse(message: Message, usage: JsonObject | null): JsonObject {
  return {
    metrics: { latencyMs: 1 },
    output: { message: { role: "assistant", content: message.content.map(composeBlock) } },
    stopReason: stopReasonOf(message),
    ...(usage !== null && { usage }),
  };
}

/** Returns usage as Converse does. The cache is not in the input. */
export function composeUsage({ uncached, read, written }: BilledInput, output: number): JsonObject {
  const write = written["5m"] + written["1h"];
  const details = (["5m", "1h"] as const).flatMap((ttl) =>
    written[ttl] > 0 ? [{ ttl, inputTokens: written[ttl] }] : [],
  );
  return {
    inputTokens: uncached,
    outputTokens: output,
    totalTokens: uncached + read + write + output,
    cacheReadInputTokens: read,
    cacheWriteInputTokens: write,
    ...(details.length > 0 && { cacheDetails: details }),
  };
}

function composeBlock(block: ContentBlock): JsonObject {
  switch (block.type) {
    case "thinking":
      return { reasoningContent: { reasoningText: { text: block.thinking, signature: block.signature } } };
    case "text":
      return { text: block.text };
    case "tool_use":
      return { toolUse: { toolUseId: block.id, name: block.name, input: block.input } };
  }
}

/** Returns the events of `converse-stream`. The last one has the usage. */
export function converseEvents(message: Message, usage: JsonObject | null): ConverseEvent[] {
  const blocks = message.content.flatMap((block, contentBlockIndex): ConverseEvent[] => [
    ...startOf(block).map((start): ConverseEvent => ["contentBlockStart", { contentBlockIndex, start }]),
    ...deltasOf(block).map((delta): ConverseEvent => ["contentBlockDelta", { contentBlockIndex, delta }]),
    ["contentBlockStop", { contentBlockIndex }],
  ]);
  return [
    ["messageStart", { role: "assistant" }],
    ...blocks,
    ["messageStop", { stopReason: stopReasonOf(message) }],
    ["metadata", { metrics: { latencyMs: 1 }, ...(usage !== null && { usage }) }],
  ];
}

/** Only a tool's call has a start. */
function startOf(block: ContentBlock): JsonObject[] {
  return block.type === "tool_use" ? [{ toolUse: { toolUseId: block.id, name: block.name } }] : [];
}

function deltasOf(block: ContentBlock): JsonObject[] {
  switch (block.type) {
    case "thinking":
      return [
        ...splitIntoChunks(block.thinking).map((text) => ({ reasoningContent: { text } })),
        { reasoningContent: { signature: block.signature } },
      ];
    case "text":
      return splitIntoChunks(block.text).map((text) => ({ text }));
    case "tool_use":
      return splitIntoChunks(JSON.stringify(block.input)).map((input) => ({ toolUse: { input } }));
  }
}
