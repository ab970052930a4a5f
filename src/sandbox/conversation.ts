import { objectsIn } from "./json.ts";

/**
 * The text that a person typed, out of a turn's texts: the last that is no tagged aside. Tools add their
 * asides (`<system-reminder>`, `<environment_context>`) before and after the prompt.
 */
export function typedText(texts: readonly string[]): string {
  return texts.findLast((text) => !text.trimStart().startsWith("<")) ?? texts.at(-1) ?? "";
}

/** The texts of a content in either API's form: a string, or blocks of which some carry `text`. */
export function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return objectsIn(content).flatMap((block) => (typeof block["text"] === "string" ? [block["text"]] : []));
}
