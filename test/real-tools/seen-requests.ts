import { isObject, parseJson } from "../../src/core/json.ts";
import type { ServiceRequest } from "./plan-services.ts";

/** Belong to one connection or one request, not to what is asked. */
const LEFT_OUT = new Set(["connection", "content-length", "sec-websocket-key", "transfer-encoding"]);

/**
 * Describes what a service has seen of a run: one line for each header of each kind of request, with its value, and one for each part of a
 * body. What differs from run to run is replaced: ids, times and the home directory. Two equal runs have the same lines.
 */
export function describeSeen(
  asked: readonly ServiceRequest[],
  messages: readonly string[],
  home: string,
): ReadonlySet<string> {
  const lines = asked.flatMap(({ method, url, headers, body }) => {
    const place = `${method} ${url.replace(/\?.*$/, "")}`;
    const text = headers["content-encoding"] === undefined ? body.toString() : "";
    return [
      `${method} ${url}`,
      ...Object.entries(headers).flatMap(([name, value]) => describeHeader(name, String(value), place)),
      ...describeBody(text, place),
    ];
  });
  const all = [...lines, ...messages.flatMap((text) => describeBody(text, "message"))];
  return new Set(all.map((line) => replaceOwn(line, home)));
}

/** Returns the lines that only one of two runs has: `-` the first, `+` the second. */
export function compareSeen(first: ReadonlySet<string>, second: ReadonlySet<string>): string[] {
  const missing = [...first].filter((line) => !second.has(line)).map((line) => `- ${line}`);
  return [...missing, ...[...second].filter((line) => !first.has(line)).map((line) => `+ ${line}`)];
}

function describeHeader(name: string, value: string, place: string): string[] {
  if (LEFT_OUT.has(name)) return [];
  const values = name === "anthropic-beta" ? value.split(",") : [value];
  return values.map((one) => `${place} ${name}: ${one}`);
}

function describeBody(text: string, place: string): string[] {
  const body = parseJson(text);
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.map((part) => `${place} ${name} = ${write(part)}`);
    if (!isObject(value)) return [`${place} ${name} = ${write(value)}`];
    return Object.entries(value).map(([member, part]) => `${place} ${name}.${member} = ${write(part)}`);
  });
}

function write(part: unknown): string {
  return JSON.stringify(sortNames(part));
}

/** Programs in Rust write the members of a map in any order. */
function sortNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortNames);
  if (!isObject(value)) return value;
  const sorted = Object.entries(value).toSorted(([one], [other]) => one.localeCompare(other));
  return Object.fromEntries(sorted.map(([name, member]) => [name, sortNames(member)]));
}

function replaceOwn(line: string, home: string): string {
  return line
    .replaceAll(home, "HOME")
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, "ID")
    .replace(/\ba[0-9a-f]{16}\b/g, "ID")
    .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "TOKEN")
    .replace(/\bChunk ID: \w+/g, "Chunk ID")
    .replace(/\b\d{10,}(?:\.\d+)?\b/g, "TIME")
    .replace(/\b\d+(?:\.\d+)? (?:ms|seconds)\b/g, "DURATION")
    .replace(/\b(?:duration_ms|Bash|Agent)(?:=|>)\d+/g, "DURATION")
    .replace(/<subagent_tokens>\d+/g, "<subagent_tokens>")
    .replace(/\bcch=\w+/g, "cch")
    .replace(/\b(?:msg|call|toolu)_\d+\b/g, "ID");
}
