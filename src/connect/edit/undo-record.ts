import { createHash } from "node:crypto";
import { isOwnMcpServer } from "../../tools/recipe/mcp-server.ts";
import { isOwnStatusLine } from "../../tools/recipe/status-line.ts";
import type { Format, PathSegment, Value } from "../../tools/setting.ts";
import { isEqual } from "./key-path.ts";

// The journal stores these types as JSON: renaming a field makes existing connections unreadable.

/** How one setting was written, so that it can be removed. Holds no part of the file except what was replaced. */
export interface WrittenSetting {
  /** The setting's key path. */
  at: readonly PathSegment[];
  value: Value;
  /** How many segments of the path existed before; the objects and lists for the others were created. */
  depth: number;
  /** What was there first: nothing, a null that became an object or list, a former value, or a real key, which is not kept. */
  before: "nothing" | "null" | "value" | "key";
  /** The former value; null unless `before` is `value`. */
  former: Value | null;
  /** The edit, in the text at that moment. */
  offset: number;
  inserted: string;
  replaced: string;
  /** The setting's `acceptsAnyValue`. */
  isAnyFine?: true;
  /** The setting's `isStatusLine`. */
  isStatusLine?: true;
  /** The setting's `isMcpServer`. */
  isMcpServer?: true;
}

/** True while a setting is ours: as it was written, or edited in a way that leaves it ours. */
export function isStillOurs(
  value: unknown,
  { value: ours, isAnyFine, isStatusLine, isMcpServer }: WrittenSetting,
): boolean {
  if (isAnyFine === true || isEqual(value, ours)) return true;
  if (isMcpServer === true && isOwnMcpServer(value)) return true;
  return isStatusLine === true && isOwnStatusLine(value);
}

/** How a text was changed; all that disconnecting needs. */
export interface UndoRecord {
  format: Format;
  /** The tool that owns the block in a shell's start-up file. */
  owner: string;
  /** SHA-256 of the text before the change, in hexadecimal; null when there was no file. */
  before: string | null;
  /** SHA-256 of the text after the change, in hexadecimal. */
  after: string;
  /** The settings in the order in which they were written, without those that already had their value. */
  written: readonly WrittenSetting[];
}

/** Returns the SHA-256 of a text, in hexadecimal. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
