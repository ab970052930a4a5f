import { issueAt, Shape, wrongType } from "../shape.ts";

/** A string that passes `check`, which returns what is wrong with it, or null. */
export function text(check: (text: string) => string | null = () => null): Shape<string> {
  return new Shape({ type: "string" }, (value, path) => {
    if (typeof value !== "string") return wrongType(value, path, "a string");
    const problem = check(value);
    return problem === null ? { value } : issueAt(path, problem);
  });
}

/** An integer from `minimum` to `maximum`, inclusive. */
export function integer(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): Shape<number> {
  return new Shape({ type: "integer", minimum, maximum }, (value, path) => {
    if (typeof value !== "number" || !Number.isInteger(value))
      return wrongType(value, path, "a whole number");
    if (value < minimum) return issueAt(path, `must be at least ${minimum}`);
    return value > maximum ? issueAt(path, `must be at most ${maximum}`) : { value };
  });
}

/** A boolean. */
export function flag(): Shape<boolean> {
  return new Shape({ type: "boolean" }, (value, path) =>
    typeof value === "boolean" ? { value } : wrongType(value, path, "true or false"),
  );
}

/** One of the given words. */
export function choice<const Word extends string>(...words: Word[]): Shape<Word> {
  const listed = words.map((word) => JSON.stringify(word)).join(" or ");
  return new Shape({ type: "string", enum: words }, (value, path) => {
    const found = words.find((word) => word === value);
    if (found !== undefined) return { value: found };
    return issueAt(path, value === undefined ? `is missing; it is ${listed}` : `must be ${listed}`);
  });
}
