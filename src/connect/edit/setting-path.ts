import { isDeepStrictEqual } from "node:util";
import type { Path } from "../formats/language.ts";
import type { Step, Value } from "../../tools/setting.ts";

/** How far the way to a setting leads in what a file says. */
export interface Place {
  /** The steps that lead to something, list items by their place. */
  path: Path;
  /** What is there: the setting, where all steps lead to something; otherwise the object, list or null at which they end. */
  value: unknown;
  /** Why the way cannot go on from there; null where it can. */
  trouble: "is not an object" | "is not a list" | null;
}

/** Follows the steps. */
export function followSteps(top: unknown, at: readonly Step[]): Place {
  const path: (string | number)[] = [];
  let value = top;
  for (const step of at) {
    const trouble = troubleWith(value, step);
    const key = trouble === null ? keyOf(value, step) : null;
    if (key === null) return { path, value, trouble };
    path.push(key);
    value = Reflect.get(value as object, key);
  }
  return { path, value, trouble: null };
}

/** Null is nothing in the way: in YAML it is how an empty list or map is written. */
function troubleWith(value: unknown, step: Step): Place["trouble"] {
  if (value === null) return null;
  if (typeof step === "string") return isObject(value) ? null : "is not an object";
  return Array.isArray(value) ? null : "is not a list";
}

/** null where the object or list has no such thing. */
function keyOf(value: unknown, step: Step): string | number | null {
  if (typeof step === "string") return isObject(value) && Object.hasOwn(value, step) ? step : null;
  if (!Array.isArray(value)) return null;
  const index = value.findIndex((item) => isObject(item) && hasFields(item, step.where));
  return index === -1 ? null : index;
}

/** A list's item with the fields by which it is found again. */
export function itemOf({ where }: Exclude<Step, string>, below: Value): Value {
  if (!isObject(below)) throw new Error("an item of a list that is found by its fields must be an object");
  return { ...where, ...below };
}

/** Is nothing else in it, but perhaps the fields that `step`, which led here, asks for? */
export function isEmptyWithout(container: unknown, key: string | number, step: Step | undefined): boolean {
  if (Array.isArray(container)) return container.length === 1;
  if (!isObject(container)) return false;
  const where = typeof step === "object" ? step.where : {};
  return Object.entries(container).every(
    ([name, value]) => name === key || (Object.hasOwn(where, name) && where[name] === value),
  );
}

/** A copy of what a file says, with another value at the end of the path; undefined takes the member or item out. */
export function withValue(top: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone({ top });
  const whole: Path = ["top", ...path];
  const container = whole
    .slice(0, -1)
    .reduce<unknown>((below, key) => Reflect.get(below as object, key), copy) as object;
  const last = whole.at(-1) ?? "top";
  if (value !== undefined)
    Object.defineProperty(container, last, { value, enumerable: true, configurable: true, writable: true });
  else if (Array.isArray(container)) container.splice(Number(last), 1);
  else Reflect.deleteProperty(container, last);
  return copy.top;
}

/** Do two texts say the same? The order of an object's members does not count. */
export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other);
}

/** A value as a journal keeps it: a date of TOML becomes a text. */
export function asJson(value: unknown): Value | null {
  return JSON.parse(JSON.stringify(value)) as Value | null;
}

/** `models[name=tollkeeper].apiBase`. */
export function writeSteps(at: readonly Step[]): string {
  const words = at.map((step) => {
    if (typeof step === "string") return `.${step}`;
    const fields = Object.entries(step.where).map(([name, value]) => `${name}=${value}`);
    return `[${fields.join(",")}]`;
  });
  return words.join("").replace(/^\./, "");
}

/** TOML has dates, which are values like numbers. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function hasFields(item: Record<string, unknown>, fields: Readonly<Record<string, string>>): boolean {
  return Object.entries(fields).every(([name, value]) => item[name] === value);
}
