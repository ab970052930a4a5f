import { isObject, type JsonObject } from "../../src/core/json.ts";
import type { VendorRequest } from "./vendors.ts";

/**
 * What a program asks of a service, and offers its model: one line each for models, tools with their size, instructions,
 * other members of the body, betas and headers. Two runs of a program have the same lines.
 */
export type Offer = ReadonlySet<string>;

/** Differ in each request or on each machine, or belong to the connection (docs/wire.md, sections 1 and 4). */
const HEADERS_LEFT_OUT = new Set(
  `accept-encoding connection content-length host transfer-encoding authorization x-api-key api-key
  sec-websocket-key sec-websocket-extensions sec-websocket-version`.split(/\s+/),
);

/** What is said, and to whom. */
const MEMBERS_LEFT_OUT = new Set(["model", "tools", "messages", "input", "metadata", "client_metadata"]);

/** Instructions. */
const TEXTS = new Set(["system", "instructions"]);

/** Returns the offer of all requests of a run. */
export function describeOffer(requests: readonly VendorRequest[]): Offer {
  return new Set(requests.flatMap(describeRequest).toSorted());
}

function describeRequest({ method, url, headers, body }: VendorRequest): string[] {
  const content = parse(body);
  const model = typeof content["model"] === "string" ? content["model"] : "no model";
  const upgrade = headers.upgrade === undefined ? "" : ` with Upgrade: ${headers.upgrade}`;
  return [
    `${method} ${url.replace(/^\/v1/, "")}${upgrade}`,
    ...Object.entries(headers).flatMap(([name, value]) => describeHeader(name, String(value))),
    ...Object.entries(content).flatMap(([name, value]) => describeMember(name, value)),
    ...describeTools(content),
    ...(body.length === 0 ? [] : [`model ${model}`]),
  ].map((line) => (body.length === 0 || line.startsWith("model ") ? line : `${model}: ${line}`));
}

function parse(body: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(body.toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function describeHeader(name: string, value: string): string[] {
  if (HEADERS_LEFT_OUT.has(name)) return [];
  if (name === "anthropic-beta") return value.split(",").map((beta) => `beta ${beta.trim()}`);
  return [`header ${name}: ${withoutIds(value)}`];
}

/** Each run has ids and times of its own. */
function withoutIds(value: string): string {
  if (value.startsWith("{")) return "{…}";
  return value
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, "ID")
    .replace(/\b(?:ses|msg|req)_\w+/g, "ID")
    .replace(/\b[0-9a-f]{16,}\b/gi, "ID");
}

function describeMember(name: string, value: unknown): string[] {
  const caching = TEXTS.has(name) || name === "messages" ? describeCaching(value) : [];
  if (MEMBERS_LEFT_OUT.has(name)) return caching;
  if (!TEXTS.has(name)) return [`${name} ${withoutIds(JSON.stringify(value)).slice(0, 200)}`];
  const texts = (Array.isArray(value) ? (value as unknown[]) : [value]).map(textOf);
  return [
    ...texts.filter(isAttribution).map((text) => `attribution of ${text.length} characters`),
    // A program may cut the same text in blocks elsewhere.
    `${name} of ${texts.filter((text) => !isAttribution(text)).join("\n\n").length} characters`,
    ...caching,
  ];
}

function isAttribution(text: string): boolean {
  return text.startsWith("x-anthropic-billing-header");
}

function textOf(block: unknown): string {
  const text = isObject(block) ? block["text"] : block;
  return typeof text === "string" ? text : JSON.stringify(text);
}

/** Returns what is asked of the prompt cache: one line for each kind of entry. */
function describeCaching(value: unknown): string[] {
  const lines: string[] = [];
  JSON.stringify(value, (name, member: unknown) => {
    if (name === "cache_control") lines.push(`cache_control ${JSON.stringify(member)}`);
    return member;
  });
  return lines;
}

/** Returns a line for each tool that a request offers, with its size. Codex sends those for its newest models with the input. */
export function describeTools({ tools, input }: JsonObject): string[] {
  const later = Array.isArray(input)
    ? input.filter(isObject).filter(({ type }) => type === "additional_tools")
    : [];
  return [tools, ...later.map((item) => item["tools"])].flat().filter(isObject).flatMap(describeTool);
}

function describeTool(tool: JsonObject): string[] {
  const { type, tools } = tool;
  if (type === "namespace" && Array.isArray(tools))
    return tools
      .filter(isObject)
      .flatMap((inner) => describeTool({ ...inner, name: `${nameOf(tool)}.${nameOf(inner)}` }));
  const text = JSON.stringify(tool);
  const called = [...text.matchAll(DECLARED)].map(([, name = ""]) => `tool ${name}, for code`);
  return [`tool ${nameOf(tool)}, ${text.length} characters`, ...called];
}

/** How a tool for code says what the code may call. */
const DECLARED = /declare const tools: \{ (\w+)/g;

function nameOf(tool: JsonObject): string {
  const { name, function: inner, type } = tool;
  if (typeof name === "string") return name;
  return isObject(inner) && typeof inner["name"] === "string" ? inner["name"] : String(type);
}
