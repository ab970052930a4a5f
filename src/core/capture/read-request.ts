import { isObject, parseJson, type JsonObject } from "../json.ts";
import { comparableOf, readPieces, sizeOf, textOf, toList, type Piece } from "./content.ts";

/** One message of a request. */
export interface ReadMessage {
  role: string;
  pieces: Piece[];
  bytes: number;
  /** As it is compared with another. */
  comparable: string;
}

/** A tool that a request offers to the model. */
export interface OfferedTool {
  name: string;
  bytes: number;
  /** As it is compared with another. */
  comparable: string;
}

/** The parts of a request's body, as a person reads them. */
export interface ReadRequest {
  /** Members that are neither of the others, such as the model and the most tokens, with their values as JSON. */
  settings: [name: string, value: string][];
  system: Piece[];
  tools: OfferedTool[];
  messages: ReadMessage[];
}

/** Names of members, in any of the four APIs. */
const SYSTEM = ["system", "instructions", "systemInstruction", "system_instruction"];
const MESSAGES = ["messages", "input", "contents"];
const TOOLS = ["tools"];

/** Reads the body of a request to a model; null for a body that is none. */
export function readRequest(body: string): ReadRequest | null {
  const parsed = parseJson(body);
  if (!isObject(parsed)) return null;
  // A message on a WebSocket may have its request in a member of its own.
  const inner = parsed["response"];
  const request = parsed["type"] === "response.create" && isObject(inner) ? inner : parsed;
  const items = pick(request, MESSAGES).flatMap(toList);
  const messages = items.filter((item) => !isToolItem(item)).flatMap(readMessage);
  const opening = countOpening(messages);
  const added = items.filter(isToolItem).flatMap((item) => toList(item["tools"]));
  return {
    settings: Object.entries(request)
      .filter(([name]) => ![...SYSTEM, ...MESSAGES, ...TOOLS].includes(name))
      .map(([name, value]) => [name, JSON.stringify(value)]),
    system: [
      ...pick(request, SYSTEM).flatMap((value) => readPieces(partsOf(value))),
      ...messages.slice(0, opening).flatMap(({ pieces }) => pieces),
    ],
    tools: [...pick(request, TOOLS).flatMap(toList), ...added].flatMap((tool) => readTool(tool)),
    messages: messages.slice(opening),
  };
}

/**
 * Returns how many messages are the system prompt: those of the developer before all others. Claude Code adds more of them in the course of a
 * conversation, and these are cached with the messages around them.
 */
function countOpening(messages: readonly ReadMessage[]): number {
  const first = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  return first === -1 ? messages.length : first;
}

/** Codex offers its tools as an item among the messages. */
function isToolItem(item: unknown): item is JsonObject {
  return isObject(item) && item["type"] === "additional_tools";
}

function pick(request: JsonObject, names: readonly string[]): unknown[] {
  return names.flatMap((name) => (request[name] === undefined ? [] : [request[name]]));
}

/** Google's contents have their parts in a member. */
function partsOf(value: unknown): unknown {
  return isObject(value) && Array.isArray(value["parts"]) ? value["parts"] : value;
}

function readMessage(message: unknown): ReadMessage[] {
  // The id of an item is for the API, and not for the model.
  const comparable = comparableOf(isObject(message) ? { ...message, id: undefined } : message);
  const sent = { bytes: sizeOf(message), comparable };
  if (!isObject(message)) return [{ role: "user", pieces: readPieces(message), ...sent }];
  const { role, type, content, tool_calls: calls } = message;
  // An item of the Responses API that is no message: a call, its result, or reasoning.
  if (typeof role !== "string") {
    const isResult = typeof type === "string" && type.endsWith("_output");
    return [{ role: isResult ? "tool" : "assistant", pieces: readPieces([message]), ...sent }];
  }
  const pieces = [...readPieces(partsOf(content ?? message["parts"])), ...readPieces(calls)];
  if (role === "tool") for (const piece of pieces) piece.kind = "result";
  return [{ role, pieces, ...sent }];
}

/** A tool of Google's declares several functions, and a namespace of OpenAI's holds several tools. */
function readTool(tool: unknown, space = ""): OfferedTool[] {
  if (!isObject(tool)) return [];
  const { type, name, tools } = tool;
  if (type === "namespace" && Array.isArray(tools))
    return tools.flatMap((inner) => readTool(inner, `${space}${textOf(name)}.`));
  const declared = toList(tool["functionDeclarations"] ?? tool["function_declarations"]).filter(isObject);
  const offered = declared.length > 0 ? declared : [tool];
  return offered.map((definition) => ({
    name: space + nameOf(definition),
    bytes: sizeOf(definition),
    comparable: comparableOf(definition),
  }));
}

function nameOf(tool: JsonObject): string {
  const inner = isObject(tool["function"]) ? tool["function"] : tool;
  return textOf(inner["name"] ?? tool["type"] ?? Object.keys(tool)[0]);
}
