import { isObject, parseJson, type JsonObject } from "../../json.ts";
import { asCount, asObject, asText } from "../../usage/fields.ts";
import type { MeterReading } from "../../usage/reading.ts";
import { RESPONSES_FORMAT } from "../../usage/responses.ts";
import { fuller, importedRecord, readTime, type ImportedRecord } from "./imported-record.ts";

/** Codex's own names of its counts. Input includes both kinds of cached input, output includes reasoning. */
const COUNTS = [
  "input_tokens",
  "cached_input_tokens",
  "cache_write_input_tokens",
  "output_tokens",
  "reasoning_output_tokens",
];

const LINES = ['"session_meta"', '"turn_context"', '"token_usage_record"', '"token_count"'];

/** A response of a session whose lines name no responses, and the sum of the session after it. */
interface Counted {
  record: ImportedRecord;
  sum: string;
}

/** One file: a session. */
interface Session {
  id: string | null;
  /** The session that it was forked from, or that spawned it. */
  parent: string | null;
  /** True for one that certainly begins with a copy of its parent's lines. */
  isFork: boolean;
  project: string | null;
  branch: string | null;
  model: string | null;
  /** True once a line has named a response. Then `token_count` repeats what those lines say. */
  namesResponses: boolean;
  /** The session's sum so far, by the names of {@link COUNTS}; null before the first. */
  sum: JsonObject | null;
  /** Each sum that it has had, also those of responses that lines have named. */
  sums: Set<string>;
  counted: Counted[];
}

/**
 * Reads Codex's rollouts. Since 2026 a `token_usage_record` names each response and its usage. Before, `token_count` had the sum of the
 * session and the usage of the latest response, again and again: what the sum has grown by counts. A forked session, and a spawned one
 * that was told to, begins with a copy of its parent's lines, or of the last of them, with new time stamps and perhaps without the names of
 * responses. They must not count again: by those names, or by the sums that the parent has had, too.
 */
export class CodexLog {
  readonly #responses = new Map<string, ImportedRecord>();
  readonly #sessions: Session[] = [];
  #session = newSession();
  /** Lines that repeat the usage of a response. */
  repeated = 0;
  /** Forked sessions of old versions whose parent's file is missing, so that copied lines cannot be told from new ones. */
  unclearForks = 0;

  /** Begins the next file. */
  startFile(): void {
    this.#session = newSession();
    this.#sessions.push(this.#session);
  }

  /** Adds the next line of the file. */
  addLine(text: string): void {
    if (!LINES.some((type) => text.includes(type))) return;
    const line = parseJson(text);
    if (!isObject(line)) return;
    const payload = asObject(line["payload"]);
    if (line["type"] === "session_meta") this.#addMeta(payload);
    else if (line["type"] === "turn_context")
      this.#session.model = asText(payload["model"]) ?? this.#session.model;
    else if (line["type"] === "token_usage_record") this.#addNamed(line, payload);
    else if (line["type"] === "event_msg" && payload["type"] === "token_count")
      this.#addCount(line, asObject(payload["info"]));
  }

  /** Returns each response once. */
  records(): ImportedRecord[] {
    const byId = new Map(this.#sessions.map((session) => [session.id, session]));
    this.unclearForks = 0;
    const counted = this.#sessions.flatMap((session) => this.#withoutCopies(session, byId));
    // A session may be in two files, such as its archived copy.
    const byRecord = new Map(counted.map(({ record }) => [record.id, record]));
    this.repeated += counted.length - byRecord.size;
    return [...this.#responses.values(), ...byRecord.values()];
  }

  /** A copy of the parent's first line follows that of the session. */
  #addMeta(meta: JsonObject): void {
    const session = this.#session;
    if (session.id !== null) {
      session.isFork ||= session.parent !== null && asText(meta["id"]) === session.parent;
      return;
    }
    session.id = asText(meta["id"]);
    const fork = asText(meta["forked_from_id"]);
    const spawn = asObject(asObject(asObject(meta["source"])["subagent"])["thread_spawn"]);
    session.isFork = fork !== null;
    session.parent = fork ?? asText(spawn["parent_thread_id"]) ?? asText(meta["parent_thread_id"]);
    session.project = asText(meta["cwd"]);
    session.branch = asText(asObject(meta["git"])["branch"]);
  }

  #addNamed(line: JsonObject, payload: JsonObject): void {
    this.#session.namesResponses = true;
    const responseId = asText(payload["response_id"]);
    const record = this.#toRecord(line, responseId, asObject(payload["usage"]));
    if (responseId === null || record === null) return;
    const known = this.#responses.get(responseId);
    if (known !== undefined) this.repeated += 1;
    this.#responses.set(
      responseId,
      known === undefined ? record : { ...fuller(known, record), ts: known.ts },
    );
  }

  #addCount(line: JsonObject, info: JsonObject): void {
    const session = this.#session;
    const { total_token_usage: total, last_token_usage: last } = info;
    if (!isObject(total)) return;
    const before = session.sum;
    session.sum = total;
    const sum = sumKey(total);
    session.sums.add(sum);
    if (session.namesResponses) return;
    if (before !== null && sumKey(before) === sum) {
      this.repeated += 1;
      return;
    }
    const latest = isObject(last) ? last : total;
    const usage = before === null ? latest : (difference(total, before) ?? latest);
    const record = this.#toRecord(line, null, usage, `${session.id}:${sum}`);
    if (record !== null) session.counted.push({ record, sum });
  }

  #toRecord(
    line: JsonObject,
    responseId: string | null,
    usage: JsonObject,
    key = responseId ?? "",
  ): ImportedRecord | null {
    const { id, project, branch, model } = this.#session;
    const ts = readTime(line["timestamp"]);
    const reading = readUsage(responseId, model, usage);
    if (ts === null || reading.tokens === null || reading.tokens.total === 0) return null;
    const origin = { source: "codex", ts, session: id, project, branch, upstream_request_id: null } as const;
    return importedRecord(origin, key, reading);
  }

  #withoutCopies({ parent, isFork, counted }: Session, byId: ReadonlyMap<string | null, Session>): Counted[] {
    if (parent === null || counted.length === 0) return counted;
    const original = byId.get(parent)?.sums;
    if (original === undefined) {
      if (!isFork) return counted;
      this.unclearForks += 1;
      return [];
    }
    const first = counted.findIndex(({ sum }) => !original.has(sum));
    const copied = first === -1 ? counted.length : first;
    this.repeated += copied;
    return counted.slice(copied);
  }
}

function newSession(): Session {
  const unknown = { id: null, parent: null, project: null, branch: null, model: null };
  return { ...unknown, isFork: false, namesResponses: false, sum: null, sums: new Set(), counted: [] };
}

function sumKey(total: JsonObject): string {
  return COUNTS.map((name) => asCount(total[name]) ?? 0).join("-");
}

/** Returns by how much the sum has grown; null for one that started again from zero. */
function difference(total: JsonObject, before: JsonObject): JsonObject | null {
  const parts = COUNTS.map(
    (name) => [name, (asCount(total[name]) ?? 0) - (asCount(before[name]) ?? 0)] as const,
  );
  return parts.some(([, count]) => count < 0) ? null : Object.fromEntries(parts);
}

/** Reads Codex's counts as those of the Responses API, from which they come. */
function readUsage(id: string | null, model: string | null, usage: JsonObject): MeterReading {
  const collector = RESPONSES_FORMAT.createCollector({ inputIncludesCache: false });
  const details = {
    input_tokens: usage["input_tokens"],
    input_tokens_details: {
      cached_tokens: usage["cached_input_tokens"],
      cache_write_tokens: usage["cache_write_input_tokens"],
    },
    output_tokens: usage["output_tokens"],
    output_tokens_details: { reasoning_tokens: usage["reasoning_output_tokens"] },
  };
  collector.addBody({ id, model, status: "completed", usage: details });
  return collector.toReading(true, false);
}
