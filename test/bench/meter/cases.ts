import type { ResponseMeter } from "../../../src/proxy/exchange/response-meter.ts";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import type { RequestScanner } from "../../../src/core/usage/request-scanner.ts";
import { inPieces, MESSAGES, request, RESPONSES, type Bodies } from "./bodies.ts";

/** What is measured, as compiled: what tsx makes of the sources costs more per function. */
export interface Measured {
  createResponseMeter(setup: MeterSetup, contentEncoding: string | null): ResponseMeter;
  createRequestScanner(): RequestScanner;
}

/** One job of the meter's. */
export interface MeterCase {
  name: string;
  /** What is counted. */
  unit: "event" | "answer" | "request" | "record";
  /** How many of them one run does, and how many bytes they have. */
  units: number;
  bytes: number;
  run(): void;
}

const SOCKET_PIECE_BYTES = 64 * 1024;
const SMALL_PIECE_BYTES = 16 * 1024;
const EVENTS = 500;
/** Apart from each other by so much, cuts of one event after another come to lie everywhere in it. */
const CUT_STEP = 37;

type ToldDialect = "messages" | "responses";

/** Everything that the meter is measured at. */
export function listCases(measured: Measured): MeterCase[] {
  return [
    ...listAnswers(measured, "messages", MESSAGES),
    ...listAnswers(measured, "responses", RESPONSES),
    requestCase(measured, "request of 2 KB", request(2_000)),
    requestCase(measured, "request of 1 MB, 64 KB chunks", request(1_000_000)),
  ];
}

function listAnswers(measured: Measured, dialect: ToldDialect, bodies: Bodies): MeterCase[] {
  const { event, usageEvent, small, large } = bodies;
  const stream = Buffer.concat(Array.from({ length: EVENTS }, () => event));
  const aligned = Math.floor(SOCKET_PIECE_BYTES / event.length) * event.length;
  const bench = new AnswerCases(measured, dialect);
  return [
    bench.events("one event per chunk", EVENTS, inPieces(stream, event.length)),
    bench.events("64 KB chunks of whole events", EVENTS, inPieces(stream, aligned)),
    bench.events("every event cut in two", EVENTS, cutInTwo(event)),
    bench.events("one event with usage per chunk", 1, [usageEvent]),
    bench.answers("answer of nothing", []),
    bench.answers("JSON of 0.5 KB", [small]),
    bench.answers("JSON of 40 KB", [large]),
    bench.answers("JSON of 40 KB, 16 KB chunks", inPieces(large, SMALL_PIECE_BYTES)),
  ];
}

/** The cases of one API. */
class AnswerCases {
  readonly #measured: Measured;
  readonly #dialect: ToldDialect;

  constructor(measured: Measured, dialect: ToldDialect) {
    this.#measured = measured;
    this.#dialect = dialect;
  }

  /** Events of one stream that never ends, fed to one meter. */
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

  /** Answers with a meter each, from its making to its reading. */
  answers(name: string, chunks: readonly Buffer[]): MeterCase {
    return {
      name: `${this.#dialect}: ${name}`,
      unit: "answer",
      units: 1,
      bytes: bytesOf(chunks),
      run: () => {
        const meter = this.#createMeter("application/json");
        for (const chunk of chunks) meter.feed(chunk);
        meter.finish(true, ({ usage }) => expect(usage, chunks.length === 0 ? "absent" : "final"));
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

function requestCase({ createRequestScanner }: Measured, name: string, body: Buffer): MeterCase {
  const chunks = inPieces(body, SOCKET_PIECE_BYTES);
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

/** Each event in two chunks, cut at another place than the one before. */
function cutInTwo(event: Buffer): Buffer[] {
  return Array.from({ length: EVENTS }, (_, i) => 1 + ((i * CUT_STEP) % (event.length - 1))).flatMap((at) => [
    event.subarray(0, at),
    event.subarray(at),
  ]);
}

function bytesOf(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

/** Also makes the compiler believe that somebody wants what it computes. */
function expect(found: string | null, expected: string): void {
  if (found !== expected) throw new Error(`the meter has found ${found}, not ${expected}`);
}
