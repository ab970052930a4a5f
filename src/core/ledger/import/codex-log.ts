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

/** A line that has the sum of a session and the usage of its latest response, and names no response. */
interface Counted {
  ts: string | null;
  model: string | null;
  total: JsonObject;
  last: JsonObject | null;
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
  /** Each sum that it has had, also those of responses that lines have named. */
  sums: Set<string>;
  counted: Counted[];
}

/**
 * Reads Codex's rollouts. Since 2026 a `token_usage_record` names each response and its usage. Before, `token_count` had the sum of the
 * session and the usage of the latest response, again and again: what the sum has grown by counts. A forked session, and a spawned one
 * that was told to, begins with a copy of its parent's lines, or of the last of them, with new time stamps and perhaps without the names of
 * responses. They must not count again, wherever they are: by those names, or by the sums that the parent has had, too.
 */
export class CodexLog {
  readonly #responses = new Map<string, ImportedRecord>();
  readonly #sessions: Session[] = [];
  #session = newSession();
  /** Lines that repeat the usage of a response. */
  repeated = 0;
  /** Forked sessions of old versions whose parent's file is missing, so that copied lines cannot be told from new ones. */
  unclearForks = 0;
  /** Lines with usage that are not whole, or do not say of what or when. */
  unclear = 0;

  /** Begins the next file. */
  startFile(): void {
    this.#session = newSession();
    this.#sessions.push(this.#session);
  }

  /** Adds the next line of the file. */
  addLine(text: string): void {
    if (!LINES.some((type) => text.includes(type))) return;
    const line = parseJson(text);
    if (line === undefined) this.unclear += 1;
    if (!isObject(line)) return;
    const payload = asObject(line["payload"]);
    if (line["type"] === "session_meta") this.#addMeta(payload);
    else if (line["type"] === "turn_context")
      this.#session.model = asText(payload["model"]) ?? this.#session.model;
    else if (line["type"] === "token_usage_record") this.#addNamed(line, payload);
    else if (line["type"] === "event_msg" && payload["type"] === "token_count")
      this.#addCount(line, asObject(payload["info"]));
  }

  /** Returns each response once. May be called once, after the last line. */
  records(): ImportedRecord[] {
    const sums = this.#sumsOfSessions();
    // A session may be in two files, such as its archived copy.
    const counted = new Map<string, ImportedRecord>();
    for (const session of this.#sessions)
      for (const record of this.#ownOf(session, sums)) {
        if (counted.has(record.id)) this.repeated += 1;
        else counted.set(record.id, record);
      }
    return [...this.#responses.values(), ...counted.values()];
  }

  /** Returns each sum that a session has had, in any of its files. */
  #sumsOfSessions(): Map<string, Set<string>> {
    const found = new Map<string, Set<string>>();
    for (const { id, sums } of this.#sessions)
      if (id !== null) found.set(id, new Set([...(found.get(id) ?? []), ...sums]));
    return found;
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
    const session = this.#session;
    session.namesResponses = true;
    const { usage, thread_token_usage: sum } = payload;
    if (isObject(sum)) session.sums.add(sumKey(sum));
    const responseId = asText(payload["response_id"]);
    const ts = readTime(line["timestamp"]);
    if (responseId === null || ts === null) {
      this.unclear += 1;
      return;
    }
    const record = toRecord(session, ts, { responseId, model: session.model, usage: asObject(usage) });
    if (record === null) return;
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
    session.sums.add(sumKey(total));
    if (session.namesResponses) return;
    const ts = readTime(line["timestamp"]);
    if (ts === null) this.unclear += 1;
    session.counted.push({ ts, model: session.model, total, last: isObject(last) ? last : null });
  }

  /** Returns the responses of a session whose lines name none, without what it has copied. */
  #ownOf(session: Session, sums: ReadonlyMap<string, ReadonlySet<string>>): ImportedRecord[] {
    const { parent, isFork, counted } = session;
    const original = parent === null ? undefined : sums.get(parent);
    if (original === undefined && parent !== null && isFork && counted.length > 0) {
      this.unclearForks += 1;
      return [];
    }
    const own: ImportedRecord[] = [];
    let before: JsonObject | null = null;
    for (const { ts, model, total, last } of counted) {
      const sum = sumKey(total);
      const grown: JsonObject | null = before === null ? null : difference(total, before);
      const isCopy = original?.has(sum) === true;
      if (isCopy || (before !== null && sumKey(before) === sum)) this.repeated += 1;
      else {
        const usage: JsonObject = grown ?? last ?? total;
        const record = toRecord(session, ts, { responseId: null, model, usage }, `${session.id}:${sum}`);
        if (record !== null) own.push(record);
      }
      // What is copied behind the session's own lines is less than its sum.
      if (!isCopy || before === null || grown !== null) before = total;
    }
    return own;
  }
}

function toRecord(
  { id, project, branch }: Session,
  ts: string | null,
  { responseId, model, usage }: { responseId: string | null; model: string | null; usage: JsonObject },
  key = responseId ?? "",
): ImportedRecord | null {
  const reading = readUsage(responseId, model, usage);
  if (ts === null || reading.tokens === null || reading.tokens.total === 0) return null;
  const origin = { source: "codex", ts, session: id, project, branch, upstream_request_id: null } as const;
  return importedRecord(origin, key, reading);
}

function newSession(): Session {
  const unknown = { id: null, parent: null, project: null, branch: null, model: null };
  return { ...unknown, isFork: false, namesResponses: false, sums: new Set(), counted: [] };
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
