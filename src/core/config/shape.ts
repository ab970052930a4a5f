import type { Fault } from "./problem.ts";

/** What a shape makes of a value: the value resolved, or everything that is wrong with it. */
export type Verdict<Output> = { value: Output } | { faults: Fault[] };

/** Judges and resolves a value; `path` leads to it. undefined stands for a value that is not there. */
type Read<Output> = (value: unknown, path: Fault["path"]) => Verdict<Output>;

/** What a shape resolves a good value to. */
export type OutputOf<Kind> = Kind extends Shape<infer Output> ? Output : never;

/** Keywords of JSON Schema, draft 7. */
export type JsonSchema = Record<string, unknown>;

/**
 * The shape of a value in the configuration file, said once: how it is judged and resolved, and its JSON Schema.
 * Shapes are never changed; each method makes a new one. By hand, because zod, which did this before, took 97 ms of a
 * start of 279 and 9 MB: it cannot be had without its words in 60 languages.
 */
export class Shape<Output> {
  readonly jsonSchema: JsonSchema;
  /** Must an object have it? */
  readonly isRequired: boolean;
  readonly read: Read<Output>;

  constructor(jsonSchema: JsonSchema, read: Read<Output>, isRequired = true) {
    this.jsonSchema = jsonSchema;
    this.read = read;
    this.isRequired = isRequired;
  }

  /** Explains it to whoever edits the file. */
  describe(description: string): Shape<Output> {
    return this.keywords({ description });
  }

  /** Says more of it to editors; what they say must hold anyway. */
  keywords(more: JsonSchema): Shape<Output> {
    return new Shape({ ...this.jsonSchema, ...more }, this.read, this.isRequired);
  }

  /** Reads `standIn` where nothing is written. */
  default(standIn: unknown): Shape<Output> {
    const read: Read<Output> = (value, path) => this.read(value === undefined ? standIn : value, path);
    return new Shape({ ...this.jsonSchema, default: standIn }, read, false);
  }

  /** Lets it be left out. */
  optional(): Shape<Output | undefined> {
    const read: Read<Output | undefined> = (value, path) =>
      value === undefined ? { value } : this.read(value, path);
    return new Shape(this.jsonSchema, read, false);
  }

  /** Lets null stand in its place. */
  nullable(): Shape<Output | null> {
    const read: Read<Output | null> = (value, path) => (value === null ? { value } : this.read(value, path));
    return new Shape({ ...this.jsonSchema, type: [this.jsonSchema["type"], "null"] }, read, this.isRequired);
  }

  /** Makes something else of a good value, or tells what is wrong with it after all. */
  resolve<Resolved>(resolve: (value: Output) => Resolved | { problem: string }): Shape<Resolved> {
    const read: Read<Resolved> = (value, path) => {
      const verdict = this.read(value, path);
      if ("faults" in verdict) return verdict;
      const resolved = resolve(verdict.value);
      return isProblem(resolved) ? faultAt(path, resolved.problem) : { value: resolved };
    };
    return new Shape(this.jsonSchema, read, this.isRequired);
  }
}

/** One thing wrong, at one place. */
export function faultAt(path: Fault["path"], message: string): { faults: Fault[] } {
  return { faults: [{ path, message }] };
}

/** For a value of the wrong kind. The value is never repeated: it may be a key. */
export function wrongKind(value: unknown, path: Fault["path"], kind: string): { faults: Fault[] } {
  return faultAt(path, value === undefined ? "is missing" : `must be ${kind}`);
}

function isProblem(resolved: unknown): resolved is { problem: string } {
  // Of an object of named entries one may be called so, but is no text.
  return (
    typeof resolved === "object" &&
    resolved !== null &&
    "problem" in resolved &&
    typeof resolved.problem === "string"
  );
}
