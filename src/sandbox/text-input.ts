import type { JsonObject } from "../core/json.ts";
import { ApiError, missingParameter } from "./errors.ts";
import { countTokens } from "./generation/tokens.ts";

/** One text of a request, and its tokens. */
export interface TextInput {
  text: string;
  tokens: number;
}

/**
 * Reads the member `param`: one text or a list of texts, each as a string or as a list of tokens. The sandbox cannot decode
 * tokens, so it takes their numbers for the text.
 * @throws ApiError 400 naming `param`
 */
export function readTexts(body: JsonObject, param: string): TextInput[] {
  const value = body[param];
  if (value === undefined) throw missingParameter(param);
  const inputs = Array.isArray(value) && !isTokens(value) ? value : [value];
  if (inputs.length > 0) return inputs.map((input) => readText(input, param));
  throw invalid(param);
}

function readText(input: unknown, param: string): TextInput {
  if (typeof input === "string") return { text: input, tokens: countTokens(input) };
  if (isTokens(input)) return { text: input.join(" "), tokens: input.length };
  throw invalid(param);
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "number");
}

function invalid(param: string): ApiError {
  const message = `Invalid '${param}': expected a string, a list of tokens, or a list of either.`;
  return new ApiError(400, message, { code: "invalid_value", param });
}
