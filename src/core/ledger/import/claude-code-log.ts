import { isObject, parseJson, type JsonObject } from "../../json.ts";
import { asObject, asText } from "../../usage/fields.ts";
import { MESSAGES_FORMAT } from "../../usage/messages.ts";
import type { MeterReading } from "../../usage/reading.ts";
import { fuller, importedRecord, readTime, type ImportedRecord } from "./imported-record.ts";

/** The model of messages that Claude Code made up itself, such as errors. */
const MADE_UP = "<synthetic>";

/**
 * Reads Claude Code's transcripts. A response has a line for each of its blocks, and each line repeats the usage: in older versions that
 * of the start of the stream. A resumed or forked session has copies of the lines in another file. So a response counts once, by the id
 * of its message, with the fullest usage that any line has (https://github.com/anthropics/claude-code/issues/5034).
 */
export class ClaudeCodeLog {
  readonly #responses = new Map<string, ImportedRecord>();
  /** Lines with the usage of a response that had one before. */
  repeated = 0;
  /** Lines with usage that are not whole, or do not say of what or when. */
  unclear = 0;

  /** Begins the next file. Lines of different files need not be told apart. */
  startFile(): void {}

  /** Adds the next line of any of the files. */
  addLine(text: string): void {
    // Most lines are none of these, and long.
    if (!text.includes('"usage"') || !text.includes('"assistant"')) return;
    const line = parseJson(text);
    if (line === undefined) this.unclear += 1;
    if (!isObject(line) || line["type"] !== "assistant" || !hasUsage(line)) return;
    const record = readLine(line);
    if (record === null) {
      this.unclear += 1;
      return;
    }
    const known = this.#responses.get(record.id);
    if (known !== undefined) this.repeated += 1;
    this.#responses.set(record.id, known === undefined ? record : { ...fuller(known, record), ts: known.ts });
  }

  /** Returns each response once, at the time of its first line. */
  records(): ImportedRecord[] {
    return [...this.#responses.values()];
  }
}

function hasUsage(line: JsonObject): boolean {
  const message = asObject(line["message"]);
  return isObject(message["usage"]) && message["model"] !== MADE_UP;
}

/** Returns null for a line that does not say of what or when. */
function readLine(line: JsonObject): ImportedRecord | null {
  const message = asObject(line["message"]);
  const ts = readTime(line["timestamp"]);
  const requestId = asText(line["requestId"]);
  const key = asText(message["id"]) ?? requestId ?? asText(line["uuid"]);
  if (ts === null || key === null) return null;
  const reading = readMessage(message);
  if (reading.tokens === null) return null;
  const origin = {
    source: "claude-code",
    ts,
    session: asText(line["sessionId"]),
    project: asText(line["cwd"]),
    branch: asText(line["gitBranch"]),
    upstream_request_id: requestId,
  } as const;
  return importedRecord(origin, key, reading);
}

/** Without a stop reason the line was written while the response streamed, and its counts are those of the start. */
function readMessage(message: JsonObject): MeterReading {
  const collector = MESSAGES_FORMAT.createCollector({ inputIncludesCache: false });
  if (asText(message["stop_reason"]) === null) collector.addEvent("message_start", { message });
  else collector.addBody({ ...message, error: undefined });
  return collector.toReading(false, false);
}
