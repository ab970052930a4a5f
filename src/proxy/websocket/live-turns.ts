import type { CutBy } from "../../core/ledger/record.ts";
import { readLiveFacts } from "../../core/usage/gemini/live-events.ts";
import { LiveTurnMeter } from "../../core/usage/gemini/live-turn-meter.ts";
import { redactReading } from "../../core/usage/redact-reading.ts";
import type { MeterReading } from "../../core/usage/reading.ts";
import type { SocketEvent } from "../../core/usage/socket-events.ts";
import type { MessageFacts } from "../../core/websocket/client-message.ts";
import type { RequestHold } from "../../ports.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { RecordTurn, SentMessage, TurnBook, TurnsParts } from "./protocol.ts";

/** A turn has no status of its own. This is that of the WebSocket. */
const SWITCHING_PROTOCOLS = 101;

/** So many turns may begin after a message of the client. What exceeds this is no service. */
const MOST_UNASKED = 64;

/** Ends each event in a copy. */
const LINE_FEED = Buffer.from("\n");

/** One turn of the model, from the message that asks for it, or from its first event. */
interface Turn {
  readonly exchange: Exchange;
  readonly meter: LiveTurnMeter;
  /** Payload bytes of its events. */
  bytes: number;
  hasEvents: boolean;
  hasUsage: boolean;
  /** The model waits for the results of tools. */
  awaitsTools: boolean;
  /** The model has called tools, and there was no output since: usage is that of the turn up to the call. */
  hasCalled: boolean;
}

/**
 * The turns of a WebSocket of the Live API: one after the other. The service ends each, with its usage (docs/websocket.md). It also begins one
 * by itself, as soon as it has heard enough.
 */
export class LiveTurns implements TurnBook {
  readonly #parts: TurnsParts;
  /** Those that were asked for, in their order. Events are about the first. */
  #open: Turn[] = [];
  /** What is held for a turn that may begin although no message asks for it. */
  #expected: RequestHold[] = [];
  /** A message may cause a turn that is not under way. */
  #isExpected = false;
  /** A message has been judged since the latest turn began, and has none of its own. */
  #isJudged = false;
  #sent: SentMessage | null = null;
  #unasked = 0;
  /** Turns that have ended, and are not recorded yet. */
  #ending = 0;
  #contextTokens: number | null = null;

  constructor(parts: TurnsParts) {
    this.#parts = parts;
  }

  /** True while a turn is under way. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /** True while a turn has a place among the requests that run at once: one that is under way, or whose record is being written. */
  get hasPlace(): boolean {
    return this.isOpen || this.#ending > 0;
  }

  /** True where a message that has been judged may cause a turn. */
  get isExpected(): boolean {
    return this.#isExpected;
  }

  /** What the latest turn read and wrote, in tokens; null before there was one with usage. */
  get contextTokens(): number | null {
    return this.#contextTokens;
  }

  get sizeWithExpected(): number {
    return this.#open.length + this.#expected.length;
  }

  get isBusy(): boolean {
    return this.isOpen;
  }

  get awaitsClient(): boolean {
    return this.#open[0]?.awaitsTools === true;
  }

  get hasEvents(): boolean {
    return this.#open[0]?.hasEvents === true;
  }

  get isTapped(): boolean {
    return this.#open.some(({ exchange }) => exchange.tap !== null);
  }

  begin(exchange: Exchange): void {
    this.expectNone();
    this.#add(exchange);
  }

  expect(hold: RequestHold): void {
    this.#expected.push(hold);
  }

  expectNone(): void {
    this.#isExpected = false;
    for (const hold of this.#expected.splice(0)) hold.release(null);
  }

  remember({ mayBegin, isCreate }: MessageFacts, sent: SentMessage): void {
    this.#unasked = 0;
    this.#isExpected ||= mayBegin;
    // What asks for a turn was judged for that one, and not for the next.
    this.#isJudged = !isCreate;
    this.#sent = sent;
  }

  join({ answersTools }: MessageFacts, payload: readonly Buffer[]): void {
    this.#unasked = 0;
    const [turn] = this.#open;
    if (turn === undefined) return;
    // Sound goes on while the client's tools run.
    if (answersTools) turn.awaitsTools = false;
    for (const bytes of payload) turn.exchange.sawRequestBytes(bytes);
  }

  onEvent(event: SocketEvent, bytes: number, copy: Buffer | null): RecordTurn | null {
    const { opensTurn, isOfTurn, isToolCall, cancelsTools, hasUsage } = readLiveFacts(event);
    // What it counts has no record yet, and nothing follows that would end a turn.
    const isLateUsage = hasUsage && !opensTurn && !this.isOpen;
    const turn = this.#open[0] ?? (opensTurn || isLateUsage ? this.#openUnasked() : null);
    if (turn === null) return null;
    if (!turn.hasEvents && (isOfTurn || event.isTerminal)) {
      turn.hasEvents = true;
      turn.exchange.sawResponse(SWITCHING_PROTOCOLS, true, this.#parts.requestId);
    }
    turn.bytes += bytes;
    turn.meter.add(event);
    turn.hasUsage ||= hasUsage;
    if (isToolCall || cancelsTools) turn.awaitsTools = isToolCall;
    if (opensTurn) turn.hasCalled = isToolCall;
    if (copy !== null) turn.exchange.tap?.sawResponseBytes(Buffer.concat([copy, LINE_FEED]));
    if (event.isContent) turn.exchange.sawFirstContent();
    // Usage that comes with a call of tools, or after it, is that of the turn so far: what follows has its own.
    const hasEnded = event.isTerminal || isLateUsage || (turn.hasCalled && turn.hasUsage);
    return hasEnded ? (done) => this.#end(turn, done) : null;
  }

  cut(by: CutBy, onRecorded: () => void): void {
    this.expectNone();
    const turns = this.#open.splice(0);
    let left = turns.length + 1;
    const onOne = () => {
      left -= 1;
      if (left === 0) onRecorded();
    };
    for (const turn of turns) turn.exchange.recordResponse(this.#readSoFar(turn, false), by, onOne);
    onOne();
  }

  #add(exchange: Exchange): Turn {
    const meter = new LiveTurnMeter();
    const turn: Turn = {
      exchange,
      meter,
      bytes: 0,
      hasEvents: false,
      hasUsage: false,
      awaitsTools: false,
      hasCalled: false,
    };
    this.#open.push(turn);
    exchange.begin({ readSoFar: () => this.#readSoFar(turn, false), abort: () => this.#parts.abort() });
    return turn;
  }

  /** Opens one for the latest message. Too many end the WebSocket. */
  #openUnasked(): Turn | null {
    if (this.#sent === null || this.#unasked >= MOST_UNASKED) {
      this.#parts.abort();
      return null;
    }
    this.#unasked += 1;
    const { hasPlace } = this;
    const turn = this.#add(this.#parts.openSuccessor(this.#sent, this.#isJudged, !hasPlace));
    // By now it holds what it may spend itself.
    this.expectNone();
    this.#isJudged = false;
    return turn;
  }

  #end(turn: Turn, onRecorded: () => void): void {
    this.#open = this.#open.filter((one) => one !== turn);
    const read = this.#readSoFar(turn, true);
    const { tokens } = read.reading;
    if (tokens !== null) this.#contextTokens = (tokens.input_total ?? 0) + (tokens.output ?? 0);
    this.#ending += 1;
    turn.exchange.recordResponse(read, "upstream", () => {
      this.#ending -= 1;
      onRecorded();
    });
  }

  #readSoFar({ meter, bytes }: Turn, hasEnded: boolean): { reading: MeterReading; bytesOut: number } {
    return { reading: redactReading(meter.read(hasEnded), this.#parts.secret), bytesOut: bytes };
  }
}
