import { createHash } from "node:crypto";
import type { ApiRequest, ApiResponse } from "./api.ts";
import { readCount } from "./chat/request.ts";
import { missingParameter } from "./errors.ts";
import { requireModel } from "./models.ts";
import { readTexts } from "./text-input.ts";

/** As of `text-embedding-3-small` and `text-embedding-3-large`. */
const DEFAULT_DIMENSIONS = 1536;
const MAX_DIMENSIONS = 3072;

/** `POST /embeddings`: returns one vector for each text. Equal texts get equal vectors, which mean nothing. */
export function createEmbeddings(call: ApiRequest): ApiResponse {
  const { body, switches } = call;
  const { model } = body;
  if (typeof model !== "string") throw missingParameter("model");
  const inputs = readTexts(body, "input");
  const dimensions = readCount(body, "dimensions", MAX_DIMENSIONS) ?? DEFAULT_DIMENSIONS;
  requireModel(call, model);
  const tokens = inputs.reduce((sum, input) => sum + input.tokens, 0);
  const isBase64 = body["encoding_format"] === "base64";
  const data = inputs.map(({ text }, index) => {
    const vector = embed(text, dimensions);
    return { object: "embedding", index, embedding: isBase64 ? toBase64(vector) : Array.from(vector) };
  });
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return {
    body: { object: "list", data, model, ...(!switches.noUsage && { usage }) },
    billed: { input_uncached: tokens, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 },
  };
}

/** Returns a vector of length 1, derived from a hash of the text. */
function embed(text: string, dimensions: number): Float32Array {
  const bytes = createHash("shake256", { outputLength: dimensions }).update(text).digest();
  const raw = Array.from(bytes, (byte) => byte - 127.5);
  const length = Math.hypot(...raw);
  return Float32Array.from(raw, (value) => value / length);
}

function toBase64({ buffer }: Float32Array): string {
  return Buffer.from(buffer).toString("base64");
}
