import type { ResponseMeter } from "../../../src/proxy/exchange/response-meter.ts";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import type { RequestScanner } from "../../../src/core/usage/request-scanner.ts";
import { CHAT, splitIntoChunks, MESSAGES, request, RESPONSES, type Bodies } from "./bodies.ts";

/** The compiled modules that are measured. What tsx makes of the sources takes more time per function. */
export interface CompiledModules {
  createResponseMeter(setup: MeterSetup, contentEncoding: string | null): ResponseMeter;
  createRequestScanner(): RequestScanner;
}

/** One task of the meter. */
export interface MeterCase {
  name: string;
  /** What is counted. */
  unit: "event" | "response" | "request" | "record";
  /** The number of units in one run, and their bytes. */
  units: number;
  bytes: number;
  run(): void;
}

const SOCKET_PIECE_BYTES = 64 * 1024;
const SMALL_PIECE_BYTES = 16 * 1024;
const EVENTS = 500;
/** The step between the boundaries of successive events, so that boundaries fall everywhere in an event. */
const CUT_STEP = 37;

type ToldDialect = "messages" | "responses" | "chat";

/** All cases. */
export function listCases(measured: CompiledModules): MeterCase[] {
  return [
    ...listAnswers(measured, "messages", MESSAGES),
    ...listAnswers(measured, "responses", RESPONSES),
    ...listAnswers(measured, "chat", CHAT),
    requestCase(measured, "request of 2 KB", request(2_000)),
    requestCase(measured, "request of 1 MB, 64 KB chunks", request(1_000_000)),
  ];
}

function listAnswers(measured: CompiledModules, dialect: ToldDialect, bodies: Bodies): MeterCase[] {
  const { event, usageEvent, small, large } = bodies;
  const stream = Buffer.concat(Array.from({ length: EVENTS }, () => event));
  const aligned = Math.floor(SOCKET_PIECE_BYTES / event.length) * event.length;
  const bench = new ResponseCases(measured, dialect);
  return [
    bench.events("one event per chunk", EVENTS, splitIntoChunks(stream, event.length)),
    bench.events("64 KB chunks of whole events", EVENTS, splitIntoChunks(stream, aligned)),
    bench.events("every event cut in two", EVENTS, splitInTwo(event)),
    bench.events("one event with usage per chunk", 1, [usageEvent]),
    bench.responses("response of nothing", []),
    bench.responses("JSON of 0.5 KB", [small]),
    bench.responses("JSON of 40 KB", [large]),
    bench.responses("JSON of 40 KB, 16 KB chunks", splitIntoChunks(large, SMALL_PIECE_BYTES)),
  ];
}

/** The cases of one API. */
class ResponseCases {
  readonly #measured: CompiledModules;
  readonly #dialect: ToldDialect;

  constructor(measured: CompiledModules, dialect: ToldDialect) {
    this.#measured = measured;
    this.#dialect = dialect;
  }

  /** Events of an endless stream, fed to one meter. */
  events(name: string, units: number, chunks: readonly Buffer[]): MeterCase {
    const meter = this.#createMeter("text/event-stream");
    return {
      name: `${this.#dialect}: ${name}`,
      unit: "event",
      units,
      bytes: bytesOf(chunks),
      run() {
        for (const chunk of chunks) meter.feed(chunk);
      },
    };
  }

  /** Responses with one meter each, from its creation to its reading. */
  responses(name: string, chunks: readonly Buffer[]): MeterCase {
    return {
      name: `${this.#dialect}: ${name}`,
      unit: "response",
      units: 1,
      bytes: bytesOf(chunks),
      run: () => {
        const meter = this.#createMeter("application/json");
        for (const chunk of chunks) meter.feed(chunk);
        const reading = meter.finish(true);
        const usage = reading instanceof Promise ? "later" : reading.usage;
        expect(usage, chunks.length === 0 ? "absent" : "final");
      },
    };
  }

  #createMeter(contentType: string): ResponseMeter {
    const setup = {
      dialect: this.#dialect,
      spend: "count",
      status: 200,
      contentType,
      inputIncludesCache: false,
    } as const;
    return this.#measured.createResponseMeter(setup, null);
  }
}

function requestCase({ createRequestScanner }: CompiledModules, name: string, body: Buffer): MeterCase {
  const chunks = splitIntoChunks(body, SOCKET_PIECE_BYTES);
  return {
    name,
    unit: "request",
    units: 1,
    bytes: body.length,
    run() {
      const scan = createRequestScanner();
      for (const chunk of chunks) scan.feed(chunk);
      expect(scan.model, "bench");
    },
  };
}

/** Divides each event into two chunks, each time at another place. */
function splitInTwo(event: Buffer): Buffer[] {
  return Array.from({ length: EVENTS }, (_, i) => 1 + ((i * CUT_STEP) % (event.length - 1))).flatMap((at) => [
    event.subarray(0, at),
    event.subarray(at),
  ]);
}

function bytesOf(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

/** Also keeps the compiler from optimising the computation away. */
function expect(found: string | null, expected: string): void {
  if (found !== expected) throw new Error(`the meter has found ${found}, not ${expected}`);
}
