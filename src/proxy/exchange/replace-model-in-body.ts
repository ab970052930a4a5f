import type { ModelPlace } from "../../core/policy/model-reader.ts";

/**
 * Returns a chunk of a body with another value in place of the model's, which may reach over several chunks: the first of them gets the
 * value, and the others lose what they have of the old one.
 * @param from where the chunk begins in the body, in bytes
 * @param value as JSON, with its quotation marks
 */
export function replaceModelInBody(
  chunk: Buffer,
  from: number,
  place: Pick<ModelPlace, "from" | "to">,
  value: Buffer,
): Buffer {
  const [start, end] = [place.from - from, place.to - from];
  if (end <= 0 || start >= chunk.length) return chunk;
  const inside = start >= 0 ? [chunk.subarray(0, start), value] : [];
  return Buffer.concat([...inside, chunk.subarray(Math.min(end, chunk.length))]);
}
