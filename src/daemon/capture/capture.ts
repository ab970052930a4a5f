import { setImmediate as nextTurn } from "node:timers/promises";
import type { CaptureFile, EntryPlace } from "../../adapters/capture/capture-file.ts";
import {
  decodeCaptured,
  encodeCaptured,
  type CapturedExchange,
  type CapturedMessage,
  type CapturedSummary,
  type CaptureStatus,
} from "../../core/capture/captured.ts";
import { credentialsIn, stripHeaders } from "../../core/capture/strip-headers.ts";
import { HeaderIndex } from "../../core/http/header-index.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { redactBody } from "../../core/secrets/redact-body.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { decodeBody } from "./decode-body.ts";
import type { HeldBody, HeldExchange } from "./held-exchange.ts";

/** What a person has asked for. Times in milliseconds since 1970. */
interface CaptureRequest {
  id: string;
  tool: string;
  startedAt: number;
  /** When no more requests are taken. */
  until: number;
  /** When it is deleted. */
  deletedAt: number;
  /** How many requests are taken; null for any number. */
  most: number | null;
}

/** One that is kept. */
interface Kept {
  summary: CapturedSummary;
  place: EntryPlace;
}

/** One capture: takes the exchanges of a tool, and keeps them encrypted until it is deleted. */
export class Capture {
  readonly asked: CaptureRequest;
  readonly #file: CaptureFile;
  readonly #kept: Kept[] = [];
  /** Why it has ended before its time; null if it has not. */
  #ended: { at: number; reason: string } | null = null;
  #isDeleted = false;
  /** What is being written, one after the other. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(asked: CaptureRequest, file: CaptureFile) {
    this.asked = asked;
    this.#file = file;
  }

  /** Bytes of its file. */
  get bytes(): number {
    return this.#file.bytes;
  }

  get summaries(): CapturedSummary[] {
    return this.#kept.map(({ summary }) => summary);
  }

  /** True while it takes requests that begin at this moment. */
  isRunning(now: number): boolean {
    return !this.#isDeleted && this.#ended === null && now < this.asked.until;
  }

  /** True if it took requests that began at that moment. */
  ranAt(at: number): boolean {
    const { startedAt, until } = this.asked;
    return startedAt <= at && at < (this.#ended?.at ?? until);
  }

  /** Takes no request that begins later. */
  end(at: number, reason: string): void {
    this.#ended ??= { at, reason };
  }

  describe(now: number): CaptureStatus {
    const { id, tool, startedAt, until, deletedAt, most } = this.asked;
    return {
      id,
      tool,
      state: this.isRunning(now) ? "running" : "ended",
      startedAt: isoTime(startedAt),
      until: isoTime(this.#ended?.at ?? until),
      ended: this.#ended?.reason ?? null,
      deletedAt: isoTime(deletedAt),
      requests: this.#kept.length,
      most,
      bytes: this.#file.bytes,
    };
  }

  /**
   * Keeps an exchange that has ended, once those before it are. Resolves to false when it has as many as it takes, or is deleted.
   * @param mayGrow is asked whether there is room for so many bytes more
   * @throws an errno error, or what `mayGrow` throws
   */
  keep(
    held: HeldExchange,
    record: UsageRecord,
    secrets: readonly Secret[],
    mayGrow: (bytes: number) => void,
  ): Promise<boolean> {
    const writing = this.#writing.then(() => this.#keep(held, record, secrets, mayGrow));
    this.#writing = writing.catch(() => {});
    return writing;
  }

  /** Returns an exchange that is kept; null for one that is not. Rejects with an error when it cannot be read. */
  async read(id: string): Promise<CapturedExchange | null> {
    const kept = this.#kept.find(({ summary }) => summary.id === id);
    return kept === undefined || this.#isDeleted ? null : decodeCaptured(await this.#file.read(kept.place));
  }

  /** Deletes it with all that it has. */
  async delete(): Promise<void> {
    this.#isDeleted = true;
    this.#kept.length = 0;
    await this.#writing;
    await this.#file.close();
  }

  get #isFull(): boolean {
    return this.asked.most !== null && this.#kept.length >= this.asked.most;
  }

  async #keep(
    held: HeldExchange,
    record: UsageRecord,
    configured: readonly Secret[],
    mayGrow: (bytes: number) => void,
  ): Promise<boolean> {
    const { facts, responseHeaders } = held;
    const received = facts.headers.lines.flatMap(({ rawName, value }) => [rawName, value]);
    const secrets = [...configured, ...credentialsIn(received), ...credentialsIn(responseHeaders)];
    const request = await this.#read(held.request, facts.headers, secrets);
    const response = await this.#read(held.response, new HeaderIndex(responseHeaders), secrets);
    if (this.#isDeleted || this.#isFull) return false;
    const head = {
      capture: this.asked.id,
      tool: record.tool,
      method: facts.method,
      origin: facts.origin,
      path: (await redactText(facts.path, secrets)).toString(),
      request: { headers: await strip(received, secrets), ...request.message },
      response: { headers: await strip(responseHeaders, secrets), ...response.message },
      record,
    };
    const entry = encodeCaptured(head, request.body, response.body);
    mayGrow(entry.length);
    const place = await this.#file.append(entry);
    const { id, ts: at, session, agent_kind: agentKind, status, outcome } = record;
    const [requestBytes, responseBytes] = [request.body.length, response.body.length];
    this.#kept.push({
      summary: {
        id,
        capture: this.asked.id,
        at,
        session,
        agentKind,
        model: record.model ?? record.model_requested,
        method: head.method,
        path: head.path.replace(/\?.*$/s, ""),
        status,
        outcome,
        requestBytes,
        responseBytes,
      },
      place,
    });
    return true;
  }

  /** Returns a body decoded and without credentials. */
  async #read(
    held: HeldBody,
    headers: HeaderIndex,
    secrets: readonly Secret[],
  ): Promise<{ body: Buffer; message: Omit<CapturedMessage, "headers"> }> {
    const decoded = await decodeBody(held.concat(), headers.all("content-encoding") ?? null);
    const lack = held.isWhole ? decoded.lack : "too much was under way at the same time";
    const body = decoded.body === null ? Buffer.alloc(0) : await inTurns(redactBody(decoded.body, secrets));
    return { body, message: { wireBytes: held.bytes, lack } };
  }
}

async function strip(
  headers: readonly string[],
  secrets: readonly Secret[],
): Promise<[name: string, value: string][]> {
  const stripped = stripHeaders(headers);
  for (const header of stripped) header[1] = (await redactText(header[1], secrets)).toString("latin1");
  return stripped;
}

/** Header values and paths have one byte for each character (RFC 9110 section 5.5). */
function redactText(text: string, secrets: readonly Secret[]): Promise<Buffer> {
  return inTurns(redactBody(Buffer.from(text, "latin1"), secrets));
}

/** Runs what yields after some milliseconds, so that no request waits for it. */
async function inTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
