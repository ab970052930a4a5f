/** The keywords of JSON Schema that ours use. */
export interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  minimum?: number;
  minItems?: number;
  maxItems?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean;
}

/** Returns the paths of all values that a schema does not allow, and of members that it demands or that it does not know. */
export function violations(schema: JsonSchema, value: unknown, path = "$"): string[] {
  if (!isAllowed(schema, value)) return [path];
  if (Array.isArray(value))
    return value.flatMap((item, at) => violations(schema.items ?? {}, item, `${path}.${at}`));
  if (typeof value !== "object" || value === null) return [];
  const members = new Map(Object.entries(value));
  const { properties = {}, required = [] } = schema;
  const missing = required.filter((name) => !members.has(name)).map((name) => `${path}.${name}`);
  // Fields may be added, but not without being described.
  const unknown = [...members.keys()].filter((name) => !Object.hasOwn(properties, name));
  return [
    ...missing,
    ...unknown.map((name) => `${path}.${name}`),
    ...[...members].flatMap(([name, member]) =>
      violations(properties[name] ?? {}, member, `${path}.${name}`),
    ),
  ];
}

function isAllowed(schema: JsonSchema, value: unknown): boolean {
  const { type, const: only, enum: words, pattern, minimum = -Infinity } = schema;
  if (type !== undefined && ![type].flat().some((name) => isOfType(name, value))) return false;
  if (only !== undefined && value !== only) return false;
  if (words !== undefined && !words.includes(value)) return false;
  if (typeof value === "string") return pattern === undefined || new RegExp(pattern).test(value);
  if (typeof value === "number") return value >= minimum;
  if (!Array.isArray(value)) return true;
  return value.length >= (schema.minItems ?? 0) && value.length <= (schema.maxItems ?? Infinity);
}

function isOfType(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}
