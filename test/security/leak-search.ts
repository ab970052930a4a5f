import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { listProcesses } from "../helpers/process/processes.ts";

/** A random key in the shape of real ones. */
export function makeSentinel(): string {
  return `sk-sentinel-${randomBytes(24).toString("hex")}`;
}

/** What to search for: a part of the key, and the key in other encodings. */
function listTraces(key: string): string[] {
  const bytes = Buffer.from(key);
  return [key.slice(16, 40), bytes.toString("base64").replace(/=+$/, ""), bytes.toString("hex")];
}

/** Fails when any of the named texts contains a trace of the key. */
export function assertNowhere(key: string, texts: Record<string, string>): void {
  const traces = listTraces(key);
  const found = Object.keys(texts).filter((what) => traces.some((trace) => texts[what]?.includes(trace)));
  assert.deepEqual(found, [], "the key is where it must not be");
}

/** The content of every file below a directory by path, without `except`, which is meant to contain the key. */
export function readFilesBelow(directory: string, except: string | null): Record<string, string> {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) =>
    join(directory, name),
  );
  const files = paths.filter((path) => path !== except && statSync(path).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(path, "latin1")]));
}

/** The arguments and environment of every process by its id. */
export function describeProcesses(): Record<string, string> {
  return Object.fromEntries(
    listProcesses().map(({ pid, argv, environ }) => [`process ${pid}`, `${argv} ${environ}`]),
  );
}
