/** The usual length of the text in one event. */
const TEXT = " and so on";
const LARGE_TEXT_BYTES = 39_600;
/** Code, whose quotes and line ends are escaped in JSON. */
const CODE = '  if (name === "model") return read(name);\n'.repeat(20);

/** The bodies of one API as its provider writes them. */
export interface Bodies {
  /** An event without usage, as nearly all are. */
  event: Buffer;
  /** An event that is parsed, because it may have usage. */
  usageEvent: Buffer;
  /** JSON responses of about 0.5 and 40 KB. */
  small: Buffer;
  large: Buffer;
}

export const MESSAGES: Bodies = {
  event: event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } }),
  usageEvent: event({
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 500 },
  }),
  small: message("x".repeat(180)),
  large: message("x".repeat(LARGE_TEXT_BYTES)),
};

export const RESPONSES: Bodies = {
  event: event({
    type: "response.output_text.delta",
    sequence_number: 17,
    item_id: "msg_0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978",
    output_index: 0,
    content_index: 0,
    delta: TEXT,
    logprobs: [],
  }),
  usageEvent: event({ type: "response.completed", sequence_number: 18, response: response("x".repeat(180)) }),
  small: Buffer.from(JSON.stringify(response("x".repeat(60)))),
  large: Buffer.from(JSON.stringify(response("x".repeat(LARGE_TEXT_BYTES)))),
};

export const CHAT: Bodies = {
  event: chatChunk({ delta: { content: TEXT }, finish_reason: null }, null),
  usageEvent: chatChunk(null, chatUsage()),
  small: Buffer.from(JSON.stringify(chatCompletion("x".repeat(60)))),
  large: Buffer.from(JSON.stringify(chatCompletion("x".repeat(LARGE_TEXT_BYTES)))),
};

/** A Messages request of about so many bytes, a conversation with code as tools send it. */
export function request(bytes: number): Buffer {
  const turn = { role: "user", content: [{ type: "text", text: CODE }] };
  const turns = Math.round(bytes / JSON.stringify(turn).length);
  const messages = Array.from({ length: turns }, () => turn);
  return Buffer.from(JSON.stringify({ model: "bench", max_tokens: 1_024, messages, stream: true }));
}

/** Divides bytes into chunks of equal length, as a socket delivers them. */
export function splitIntoChunks(bytes: Buffer, length: number): Buffer[] {
  const count = Math.ceil(bytes.length / length);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * length, (i + 1) * length));
}

function event(data: { type: string; [field: string]: unknown }): Buffer {
  return Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
}

function message(text: string): Buffer {
  const usage = {
    input_tokens: 12,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 4_000,
    cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 0 },
    output_tokens: 500,
    service_tier: "standard",
  };
  return Buffer.from(
    JSON.stringify({
      id: "msg_011CSHoEeqs5C35K2UUqR7Fy",
      type: "message",
      role: "assistant",
      model: "bench",
      content: [{ type: "text", text }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage,
    }),
  );
}

function response(text: string): object {
  return {
    id: "resp_0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    object: "response",
    status: "completed",
    model: "bench",
    output: [{ type: "message", content: [{ type: "output_text", text, annotations: [] }] }],
    service_tier: "default",
    usage: {
      input_tokens: 4_312,
      input_tokens_details: { cached_tokens: 4_000 },
      output_tokens: 500,
      output_tokens_details: { reasoning_tokens: 64 },
      total_tokens: 4_812,
    },
  };
}

/** Chunks have no type and no `event` line. */
function chatChunk(choice: object | null, usage: object | null): Buffer {
  const data = {
    id: "chatcmpl-ASYMQRl3A3DXL9FWCK9tnGRcKIO7q",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "bench",
    service_tier: "default",
    system_fingerprint: "fp_0ba0d124f1",
    choices: choice === null ? [] : [{ index: 0, ...choice, logprobs: null }],
    usage,
  };
  return Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
}

function chatCompletion(text: string): object {
  return {
    id: "chatcmpl-ASYMQRl3A3DXL9FWCK9tnGRcKIO7q",
    object: "chat.completion",
    created: 1_790_000_000,
    model: "bench",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: text, refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: chatUsage(),
    service_tier: "default",
  };
}

function chatUsage(): object {
  return {
    prompt_tokens: 4_312,
    completion_tokens: 500,
    total_tokens: 4_812,
    prompt_tokens_details: { cached_tokens: 4_000, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 64, audio_tokens: 0 },
  };
}
