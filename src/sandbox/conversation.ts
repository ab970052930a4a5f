import { pickObjects } from "./json.ts";

/**
 * Returns the text that the user typed, out of the texts of a turn: the last one that does not begin with a tag. Clients
 * add tagged context of their own (`<system-reminder>`, `<environment_context>`) before and after the prompt.
 */
export function findTypedText(texts: readonly string[]): string {
  return texts.findLast((text) => !text.trimStart().startsWith("<")) ?? texts.at(-1) ?? "";
}

/** Returns the texts of a `content` member of either API: a string, or blocks of which some have a `text`. */
export function collectTexts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return pickObjects(content).flatMap((block) => (typeof block["text"] === "string" ? [block["text"]] : []));
}
