import type { JsonObject } from "../core/json.ts";
import type { ApiRequest, ApiResponse } from "./api.ts";
import { ApiError, missingParameter } from "./errors.ts";
import { renderEvents } from "./http/event-stream.ts";
import { countTokens, splitIntoChunks } from "./generation/tokens.ts";
import { requireModel } from "./models.ts";
import { stringOrNull } from "./json.ts";

/** One white pixel, as PNG. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=";

/** As OpenAI counts a square picture of the lowest quality; one that is put in counts as many as a patch of it here. */
const IMAGE_TOKENS = 272;
const PATCH_TOKENS = 64;

/** So many bytes are a second of sound here, and a second so many tokens. */
const BYTES_PER_SECOND = 16_000;
const TOKENS_PER_SECOND = 10;

/** The 44 bytes of a WAV file without sound. */
const SILENCE = Buffer.from("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=", "base64");

/** `POST /images/generations`, `/edits` and `/variations`: returns one white pixel. Only `gpt-image` models report usage, and can stream. */
export function createImage(call: ApiRequest): ApiResponse {
  const { body, path, switches } = call;
  const model = stringOrNull(body["model"]) ?? "dall-e-2";
  const isVariation = path.endsWith("/variations");
  const prompt = stringOrNull(body["prompt"]) ?? "";
  if (prompt === "" && !isVariation) throw missingParameter("prompt");
  const isNew = path.endsWith("/generations");
  if (!isNew && body["image"] === undefined && body["images"] === undefined) throw missingParameter("image");
  requireModel(call, model);
  const created = Math.floor(Date.now() / 1000);
  const data = [{ b64_json: PIXEL }];
  if (!model.startsWith("gpt-image")) return { body: { created, data } };
  const [text, image] = [countTokens(prompt), isNew ? 0 : PATCH_TOKENS];
  const usage = {
    input_tokens: text + image,
    input_tokens_details: { text_tokens: text, image_tokens: image },
    output_tokens: IMAGE_TOKENS,
    total_tokens: text + image + IMAGE_TOKENS,
  };
  const billed = bill(text + image, IMAGE_TOKENS);
  const reported = switches.noUsage ? {} : { usage };
  if (body["stream"] !== true) return { body: { created, data, ...reported }, billed };
  const kind = path.endsWith("/edits") ? "image_edit" : "image_generation";
  const common = { b64_json: PIXEL, created_at: created, size: "1024x1024", quality: "low" };
  return {
    events: renderEvents([
      { type: `${kind}.partial_image`, partial_image_index: 0, ...common },
      { type: `${kind}.completed`, ...common, ...reported },
    ]),
    billed,
  };
}

/** `POST /audio/speech`: returns sound, which has no usage; as events, the last of them has. */
export function speak(call: ApiRequest): ApiResponse {
  const { body, switches } = call;
  const model = readModel(body);
  const text = stringOrNull(body["input"]);
  if (text === null) throw missingParameter("input");
  requireModel(call, model);
  const [input, output] = [countTokens(text), TOKENS_PER_SECOND];
  const billed = bill(input, output);
  if (body["stream_format"] !== "sse") return { bytes: SILENCE, type: "audio/wav", billed };
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  return {
    events: renderEvents([
      { type: "speech.audio.delta", audio: SILENCE.toString("base64") },
      { type: "speech.audio.done", ...(!switches.noUsage && { usage }) },
    ]),
    billed,
  };
}

/** `POST /audio/transcriptions` and `/translations`: returns a text. Whisper reports seconds, other models tokens, and subtitles nothing. */
export function transcribe(call: ApiRequest): ApiResponse {
  const { body, switches } = call;
  const model = readModel(body);
  const size = body["file"];
  if (typeof size !== "number") throw missingParameter("file");
  requireModel(call, model);
  const seconds = Math.max(1, Math.ceil(size / BYTES_PER_SECOND));
  const text = "[sandbox] You said something.";
  const format = stringOrNull(body["response_format"]) ?? "json";
  if (format === "text") return { bytes: Buffer.from(`${text}\n`), type: "text/plain; charset=utf-8" };
  if (format !== "json") throw new ApiError(400, "the sandbox knows the formats json and text");
  if (model.startsWith("whisper"))
    return { body: { text, ...(!switches.noUsage && { usage: { type: "duration", seconds } }) } };
  const [input, output] = [seconds * TOKENS_PER_SECOND, countTokens(text)];
  const usage = {
    type: "tokens",
    input_tokens: input,
    input_token_details: { text_tokens: 0, audio_tokens: input },
    output_tokens: output,
    total_tokens: input + output,
  };
  const reported = switches.noUsage ? {} : { usage };
  const billed = bill(input, output);
  if (String(body["stream"]) !== "true") return { body: { text, ...reported }, billed };
  const deltas = splitIntoChunks(text).map((delta) => ({ type: "transcript.text.delta", delta }));
  return { events: renderEvents([...deltas, { type: "transcript.text.done", text, ...reported }]), billed };
}

function readModel({ model }: JsonObject): string {
  if (typeof model !== "string") throw missingParameter("model");
  return model;
}

function bill(input: number, output: number): NonNullable<ApiResponse["billed"]> {
  return { input_uncached: input, cache_read: 0, cache_write: 0, output, reasoning: 0 };
}
