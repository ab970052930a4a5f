import { Transform } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { callbackify } from "node:util";
import zlib from "node:zlib";

/** What one call decodes of the input, and the most that it returns. zstd's blocks have at most as much (RFC 8878, 3.1.1.2.4). */
const BUFFER_BYTES = 128 * 1024;
/** Decoded bytes after which other work gets its turn. */
const TURN_BYTES = 1024 * 1024;
/**
 * What a decoder may take. A window of 8 MiB, the largest that a response may have (RFC 9659, section 3), needs half of it; a frame
 * may announce windows up to 128 MiB.
 */
const MEMORY_LIMIT_BYTES = 32 * 1024 * 1024;

/** `ZSTD_inBuffer` and `ZSTD_outBuffer` of zstd.h: a pointer, the size and the position, four bytes each. */
const STRUCT_BYTES = 12;
const POSITION_OFFSET = 8;

/** The part of the reference decoder's interface that we use (zstd.h, streaming decompression). Pointers are numbers. */
interface Zstd {
  memory: { buffer: ArrayBuffer };
  malloc(bytes: number): number;
  ZSTD_createDCtx(): number;
  /** Returns 0 at the end of a frame, a negative number for an error. */
  ZSTD_decompressStream(context: number, output: number, input: number): number;
}

/** Node's types for it begin with a later version. */
declare const WebAssembly: {
  Instance: new (module: WebAssembly.Module, imports: object) => { exports: unknown };
};

/**
 * Creates a decoder: Node's own, which it has since 22.15, or {@link createZstdDecoder}. Its windows are those that a response may have
 * (RFC 9659, section 3): 8 MiB.
 */
export function createZstd(): Transform {
  const create: unknown = Reflect.get(zlib, "createZstdDecompress");
  if (typeof create !== "function") return createZstdDecoder();
  const { ZSTD_e_flush, ZSTD_d_windowLogMax } = zlib.constants as unknown as Record<string, number>;
  return create({ finishFlush: ZSTD_e_flush, params: { [Number(ZSTD_d_windowLogMax)]: 23 } }) as Transform;
}

/**
 * Creates a decoder for a Node without zstd (before 22.15): the reference decoder, compiled to WebAssembly. Each has a memory of its
 * own, which is garbage when the decoder is. Like zlib's decoders, it gives what a truncated body contains, ignores bytes after
 * a complete frame that are no frame, and emits 'error' for anything else that is not zstd.
 */
export function createZstdDecoder(): Transform {
  let frames: FrameDecoder | null = null;
  const decoder: Transform = new Transform({
    construct: callbackify(async () => {
      frames = new FrameDecoder(await loadZstd());
    }),
    transform: callbackify((chunk: Buffer, _encoding: string) => pass(frames?.decode(chunk) ?? [], decoder)),
  });
  return decoder;
}

/**
 * Decodes a file, with the reference decoder in any Node. Yields all that precedes the first damage, and then throws an Error that says
 * in a few words what is wrong, also where the last frame has no end.
 */
export async function* decodeZstd(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const frames = new FrameDecoder(await loadZstd());
  for await (const chunk of bytes) yield* frames.decode(chunk);
  if (!frames.isWhole) throw new Error("not valid zstd: it ends too early");
}

/**
 * Decodes exactly one frame, with the reference decoder in any Node, and lets other work have its turn. Decoders differ in what they make of
 * several frames and of bytes after one. @throws Error with a few words for anything else
 */
export async function* decodeZstdFrame(frame: Buffer): AsyncGenerator<Buffer> {
  const frames = new FrameDecoder(await loadZstd());
  let bytes = 0;
  for (const piece of frames.decode(frame)) {
    yield piece;
    bytes += piece.length;
    if (bytes < TURN_BYTES) continue;
    bytes = 0;
    await nextTurn();
  }
  if (!frames.isOneFrame) throw new Error("it is not one zstd frame and nothing else");
}

/** Pushes decoded bytes, and lets other work have its turn between them. */
async function pass(pieces: Iterable<Buffer>, decoder: Transform): Promise<void> {
  let bytes = 0;
  for (const piece of pieces) {
    if (decoder.destroyed) return;
    decoder.push(piece);
    bytes += piece.length;
    if (bytes < TURN_BYTES) continue;
    bytes = 0;
    await nextTurn();
  }
}

/** Decodes one body, frame after frame. */
class FrameDecoder {
  readonly #zstd: Zstd;
  readonly #context: number;
  readonly #input: number;
  readonly #output: number;
  readonly #inputStruct: number;
  readonly #outputStruct: number;
  #isBetweenFrames = false;
  #wholeFrames = 0;
  #isOver = false;

  constructor(module: WebAssembly.Module) {
    const env = { emscripten_notify_memory_growth: () => {} };
    this.#zstd = new WebAssembly.Instance(module, { env }).exports as Zstd;
    this.#context = this.#zstd.ZSTD_createDCtx();
    [this.#input, this.#output, this.#inputStruct, this.#outputStruct] = [
      this.#zstd.malloc(BUFFER_BYTES),
      this.#zstd.malloc(BUFFER_BYTES),
      this.#zstd.malloc(STRUCT_BYTES),
      this.#zstd.malloc(STRUCT_BYTES),
    ];
  }

  /** True if the bytes so far are one or more whole frames. */
  get isWhole(): boolean {
    return this.#isBetweenFrames;
  }

  /** True if all bytes so far are one whole frame. */
  get isOneFrame(): boolean {
    return this.#isBetweenFrames && this.#wholeFrames === 1 && !this.#isOver;
  }

  /** Yields what the next bytes of the body decode to, in copies. @throws Error when they are not zstd, or need too much memory */
  *decode(chunk: Buffer): Generator<Buffer> {
    for (let at = 0; at < chunk.length && !this.#isOver; at += BUFFER_BYTES)
      yield* this.#decodePiece(chunk.subarray(at, at + BUFFER_BYTES));
  }

  *#decodePiece(piece: Buffer): Generator<Buffer> {
    new Uint8Array(this.#zstd.memory.buffer).set(piece, this.#input);
    this.#fill(this.#inputStruct, this.#input, piece.length);
    for (;;) {
      this.#fill(this.#outputStruct, this.#output, BUFFER_BYTES);
      const wasBetweenFrames = this.#isBetweenFrames;
      const state = this.#zstd.ZSTD_decompressStream(this.#context, this.#outputStruct, this.#inputStruct);
      if (state < 0 && wasBetweenFrames) this.#isOver = true;
      else if (state < 0) throw new Error(`not valid zstd: error ${-state}`);
      if (this.#zstd.memory.buffer.byteLength > MEMORY_LIMIT_BYTES) throw new Error("too large a window");
      this.#isBetweenFrames = state === 0;
      if (state === 0) this.#wholeFrames += 1;
      const length = this.#positionOf(this.#outputStruct);
      if (length > 0)
        yield Buffer.from(new Uint8Array(this.#zstd.memory.buffer, this.#output, length).slice());
      // At the end of a frame nothing is left to be returned. To ask would begin another one.
      const isFull = length === BUFFER_BYTES && !this.#isBetweenFrames;
      const hasMore = isFull || this.#positionOf(this.#inputStruct) < piece.length;
      if (this.#isOver || !hasMore) return;
    }
  }

  /** Writes a struct whose position is 0. */
  #fill(struct: number, pointer: number, size: number): void {
    new Uint32Array(this.#zstd.memory.buffer, struct, STRUCT_BYTES / 4).set([pointer, size, 0]);
  }

  #positionOf(struct: number): number {
    return new DataView(this.#zstd.memory.buffer).getUint32(struct + POSITION_OFFSET, true);
  }
}

let loading: Promise<WebAssembly.Module> | null = null;

/** Compiles the reference decoder, once. Nothing of it is loaded before a response needs it. */
function loadZstd(): Promise<WebAssembly.Module> {
  loading ??= compileZstd();
  return loading;
}

async function compileZstd(): Promise<WebAssembly.Module> {
  const { ZSTDDecoder } = await import("zstddec/stream");
  // The package decodes whole bodies only. Its compiled module is what is needed here.
  return new Promise((resolve, reject) => {
    const takeModule = ({ module }: { module: WebAssembly.Module }) => resolve(module);
    Object.assign(new ZSTDDecoder(), { _init: takeModule }).init().catch(reject);
  });
}
