import { existsSync, readFileSync } from "node:fs";
import * as zlib from "node:zlib";
import { createMeter } from "../../../src/core/usage/meter.ts";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import type { Reading, Spend } from "../../../src/core/usage/reading.ts";

const DIRECTORY = new URL("../../../../shared/corpus/", import.meta.url);
const INDEX = new URL("index.json", DIRECTORY);

/** What the corpus expects of a file; only the fields that are named are judged. */
export type Expected = Record<string, unknown>;

/** One recorded body. */
export interface CorpusFile {
  file: string;
  api: "messages" | "responses";
  operation: "inference" | "compact" | "count_tokens" | "fetch";
  http_status: number;
  content_type: string;
  content_encoding: string | null;
  expected: Expected;
}

/** Why a test of the corpus cannot run; null when it can. */
export const CORPUS_MISSING = existsSync(INDEX)
  ? null
  : `the recorded bodies are not there: ${INDEX.pathname}`;

/** Every recorded body that the corpus lists; none when it is not there. */
export function listCorpus(): CorpusFile[] {
  if (CORPUS_MISSING !== null) return [];
  return (JSON.parse(readFileSync(INDEX, "utf8")) as { files: CorpusFile[] }).files;
}

/** The decoded body; null where this Node cannot decode it. */
export function readBody({ file, content_encoding }: CorpusFile): Buffer | null {
  const bytes = readFileSync(new URL(file, DIRECTORY));
  switch (content_encoding) {
    case null:
      return bytes;
    case "gzip":
      return zlib.gunzipSync(bytes);
    case "br":
      return zlib.brotliDecompressSync(bytes);
    case "zstd":
      return decodeZstd(bytes);
    default:
      throw new Error(`unknown content encoding ${content_encoding}`);
  }
}

/** Node has it from 22.15 on. */
function decodeZstd(bytes: Buffer): Buffer | null {
  const { zstdDecompressSync } = zlib as { zstdDecompressSync?: (bytes: Buffer) => Buffer };
  return zstdDecompressSync?.(bytes) ?? null;
}

const SPEND: Record<CorpusFile["operation"], Spend> = {
  inference: "count",
  compact: "count",
  fetch: "attach_by_response_id",
  count_tokens: "never",
};

/** The set-up that the file's route and head would give its meter. */
export function setupOf(file: CorpusFile): MeterSetup {
  return {
    dialect: file.api,
    spend: SPEND[file.operation],
    status: file.http_status,
    contentType: file.content_type,
    inputIncludesCache: false,
  };
}

/** The reading of a body that arrives in these chunks. */
export function meterChunks(setup: MeterSetup, chunks: Iterable<Buffer>, whole = true): Reading {
  const meter = createMeter(setup);
  for (const chunk of chunks) meter.feed(chunk);
  return meter.finish(whole);
}

/** Every byte on its own, all of them in one and the same buffer: a meter that keeps a view of it reads wrong. */
export function* singleBytes(body: Buffer): Generator<Buffer> {
  const chunk = Buffer.alloc(1);
  for (const byte of body) {
    chunk[0] = byte;
    yield chunk;
  }
}

/** Pieces of random length up to `longest`, each in one buffer that is overwritten afterwards. */
export function* randomPieces(body: Buffer, longest: number, random: () => number): Generator<Buffer> {
  const chunk = Buffer.alloc(longest);
  for (let at = 0; at < body.length;) {
    const length = body.copy(chunk, 0, at, at + 1 + Math.floor(random() * longest));
    yield chunk.subarray(0, length);
    chunk.fill(0x78);
    at += length;
  }
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
