import type { UntypedFormat, UsageCollector } from "../usage-format.ts";
import { hasTextAt } from "../bytes.ts";
import { takePlainChunk } from "../chat/chunk-filter.ts";
import { JsonScanner } from "../json/json-scanner.ts";
import { StreamedText } from "../streamed-text.ts";
import { SseScanner, type EventSink } from "./sse-scanner.ts";

/**
 * A longer chunk is read, not skipped: its line may come in parts, which cannot be skipped, and the reading must not depend on
 * that. Nearly all chunks are shorter.
 */
const LONGEST_SKIPPED_BYTES = 1000;
const DONE = "[DONE]";

/** The types under which a collector receives what a stream without event types has. */
export type ChunkType = "chunk" | "error" | "done";

/**
 * Reads a stream whose events have no type: the data of each is a chunk, or `[DONE]`. Those of a chat without anything that counts are
 * skipped unread once the collector has seen the model's output, which allocates nothing.
 */
export class ChunkScanner implements EventSink {
  readonly isOpen = false;
  readonly #hasPlainChunks: boolean;
  readonly #collector: UsageCollector;
  readonly #json: JsonScanner;
  readonly #sse: SseScanner;
  readonly #text = new StreamedText();
  #isReadable = true;
  #hasData = false;
  #isDone = false;

  constructor(format: UntypedFormat, collector: UsageCollector) {
    this.#hasPlainChunks = format.hasPlainChunks;
    this.#collector = collector;
    this.#sse = new SseScanner(this, format.hasBareErrors);
    this.#json = new JsonScanner(format.event, this.#text);
  }

  feed(chunk: Buffer): void {
    this.#sse.feed(chunk);
  }

  /** True once a chunk with model output has been seen. */
  get hasContent(): boolean {
    return this.#collector.hasContent;
  }

  get streamedTokens(): number {
    return this.#text.tokens;
  }

  /** Ends the stream. Returns false when a chunk was not valid JSON. */
  finish(): boolean {
    this.#sse.finish();
    return this.#isReadable;
  }

  canSkip(bytes: Buffer, from: number, to: number): boolean {
    return (
      this.#hasPlainChunks &&
      this.#collector.hasContent &&
      to - from <= LONGEST_SKIPPED_BYTES &&
      takePlainChunk(bytes, from, to, this.#text)
    );
  }

  addData(part: Buffer): void {
    if (!this.#hasData) this.#isDone = hasTextAt(part, 0, part.length, DONE);
    this.#hasData = true;
    this.#json.feed(part);
  }

  endEvent(name: string | null): void {
    const type: ChunkType = this.#isDone ? "done" : name === "error" ? "error" : "chunk";
    if (this.#json.isComplete || this.#isDone) this.#collector.addEvent(type, this.#json.fields);
    else if (this.#hasData) this.#isReadable = false;
    this.#hasData = false;
    this.#isDone = false;
    this.#json.reset();
  }
}
