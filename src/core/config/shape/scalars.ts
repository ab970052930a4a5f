import { faultAt, Shape, wrongKind } from "../shape.ts";

/** A string in which `judge` finds nothing wrong: it returns what is, or null. */
export function text(judge: (text: string) => string | null = () => null): Shape<string> {
  return new Shape({ type: "string" }, (value, path) => {
    if (typeof value !== "string") return wrongKind(value, path, "a string");
    const problem = judge(value);
    return problem === null ? { value } : faultAt(path, problem);
  });
}

/** A whole number within bounds, both included. */
export function integer(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): Shape<number> {
  return new Shape({ type: "integer", minimum, maximum }, (value, path) => {
    if (typeof value !== "number" || !Number.isInteger(value))
      return wrongKind(value, path, "a whole number");
    if (value < minimum) return faultAt(path, `must be at least ${minimum}`);
    return value > maximum ? faultAt(path, `must be at most ${maximum}`) : { value };
  });
}

/** true or false. */
export function flag(): Shape<boolean> {
  return new Shape({ type: "boolean" }, (value, path) =>
    typeof value === "boolean" ? { value } : wrongKind(value, path, "true or false"),
  );
}

/** One of these words. */
export function choice<const Word extends string>(...words: Word[]): Shape<Word> {
  const listed = words.map((word) => JSON.stringify(word)).join(" or ");
  return new Shape({ type: "string", enum: words }, (value, path) => {
    const found = words.find((word) => word === value);
    if (found !== undefined) return { value: found };
    return faultAt(path, value === undefined ? `is missing; it is ${listed}` : `must be ${listed}`);
  });
}
