import { isObject, type JsonObject } from "../json.ts";

/** A piece of a message, as a person reads it. */
export interface Piece {
  /** `text`, `call` for what the model wants a tool to do, `result` for what a tool has done, `thinking`, or the API's name of it. */
  kind: string;
  text: string;
  /** What it takes in the body as JSON. */
  bytes: number;
}

/** Returns how many bytes a value takes as JSON. */
export function sizeOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

/** Returns a value as JSON to be compared: without the marks of what is to be cached, which move with each request. */
export function comparableOf(value: unknown): string {
  return JSON.stringify(value, asCached) ?? "";
}

/** Tools write what has a mark as a list of blocks, and as a text once the mark has moved on, which is the same to the cache. */
function asCached(name: string, member: unknown): unknown {
  if (name === "cache_control") return undefined;
  return name === "content" && typeof member === "string" ? [{ type: "text", text: member }] : member;
}

/** Returns a value as a list: one that is none is its only item, and nothing is none. */
export function toList(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** Returns the pieces of a message's content, of any API. */
export function readPieces(content: unknown): Piece[] {
  return toList(content).map((part) => {
    const bytes = sizeOf(part);
    if (typeof part === "string") return { kind: "text", text: part, bytes };
    if (!isObject(part)) return { kind: "value", text: JSON.stringify(part), bytes };
    return { ...readPart(part), bytes };
  });
}

/** Kinds of pieces in the four APIs, by the name of their type. */
const KINDS: Readonly<Record<string, "text" | "call" | "result" | "thinking">> = {
  text: "text",
  input_text: "text",
  output_text: "text",
  summary_text: "text",
  refusal: "text",
  tool_use: "call",
  server_tool_use: "call",
  function_call: "call",
  custom_tool_call: "call",
  local_shell_call: "call",
  function: "call",
  tool_result: "result",
  function_call_output: "result",
  custom_tool_call_output: "result",
  local_shell_call_output: "result",
  thinking: "thinking",
  redacted_thinking: "thinking",
  reasoning: "thinking",
};

function readPart(part: JsonObject): Pick<Piece, "kind" | "text"> {
  const type = typeof part["type"] === "string" ? part["type"] : typeOfGoogle(part);
  const kind = KINDS[type] ?? type;
  switch (kind) {
    case "text":
      return { kind, text: textOf(part["text"] ?? part["refusal"]) };
    case "call":
      return { kind, text: describeCall(part) };
    case "result":
      return { kind, text: describeResult(part) };
    case "thinking":
      return { kind, text: textOf(part["thinking"] ?? part["summary"] ?? part["content"]) };
    default:
      return { kind, text: "" };
  }
}

/** Google's parts have no type: their only member says what they are. */
function typeOfGoogle(part: JsonObject): string {
  if (typeof part["text"] === "string") return part["thought"] === true ? "thinking" : "text";
  if (isObject(part["functionCall"])) return "function_call";
  if (isObject(part["functionResponse"])) return "function_call_output";
  return Object.keys(part)[0] ?? "value";
}

function describeCall(part: JsonObject): string {
  const inner = [part["function"], part["functionCall"]].find(isObject) ?? part;
  const input = inner["arguments"] ?? inner["input"] ?? inner["args"] ?? inner["action"];
  return `${textOf(inner["name"] ?? part["type"])} ${textOf(input)}`.trimEnd();
}

function describeResult(part: JsonObject): string {
  const response = part["functionResponse"];
  return textOf(isObject(response) ? response["response"] : (part["content"] ?? part["output"]));
}

/** Returns a value as text: that of its parts, and what is no text as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (!Array.isArray(value)) return JSON.stringify(value);
  return value
    .map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : textOf(part)))
    .join("\n");
}
