import { isObject, type JsonObject } from "../core/json.ts";

/** Returns the objects in a list, in order; none when `value` is not a list. */
export function pickObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the texts of a `content` member of any API: a string, or blocks of which some have a `text`. */
export function collectTexts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return pickObjects(content).flatMap((block) => (typeof block["text"] === "string" ? [block["text"]] : []));
}

/** Returns the text of a plain message, and the JSON of any other one (tool calls and their outputs, images). */
export function textOrJson(message: JsonObject): string {
  const texts = collectTexts(message["content"]);
  const isPlain =
    typeof message["content"] === "string" || texts.length === pickObjects(message["content"]).length;
  return texts.length > 0 && isPlain ? texts.join("") : JSON.stringify(message);
}

/** Returns `value` if it is a string, else null. */
export function stringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Returns a copy of `object` without the named members, in the same order. */
export function omit(object: object, ...names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
