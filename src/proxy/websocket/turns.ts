import type { CutBy } from "../../core/ledger/record.ts";
import type { MessageFacts } from "../../core/websocket/client-message.ts";
import { redactReading } from "../../core/usage/redact-reading.ts";
import type { MeterReading } from "../../core/usage/reading.ts";
import { readErrorStatus, TurnMeter, type SocketEvent } from "../../core/usage/socket-events.ts";
import type { RequestHold } from "../../ports.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { RecordTurn, SentMessage, TurnBook, TurnsParts } from "./protocol.ts";

/** A response over a WebSocket has no status of its own. This is that of the WebSocket. */
const SWITCHING_PROTOCOLS = 101;

/** So many ids of responses that have ended are known, to tell a second end from a new response. */
const MOST_ENDED = 256;

/** Of so many lanes the latest message is remembered: twice as many as OpenAI has on a WebSocket (docs/websocket.md). */
const MOST_LANES = 64;

/**
 * So many responses may begin, after each message, that none has asked for: a message that steers has one successor. And so many may be
 * under way: as many as may be asked for, and successors. Each costs memory and a record, so what exceeds this is no service.
 */
const MOST_UNASKED = 64;
const MOST_UNDER_WAY = 128;

/** Ends each event in a copy. */
const LINE_FEED = Buffer.from("\n");

/** One response on a WebSocket, from the message that asks for it, or from its first event. */
interface Turn {
  readonly exchange: Exchange;
  readonly lane: string;
  /** The model that was requested; null where it was not read. */
  readonly model: string | null;
  /** The response that its message continues; null without one. */
  readonly continues: string | null;
  readonly meter: TurnMeter;
  /** null until its first event. */
  id: string | null;
  /** Payload bytes of its events. */
  bytes: number;
}

/** A message that steers a response. */
interface Steer extends SentMessage {
  /** The lane of the response that it steers, once the upstream has taken it: a response follows there. null before. */
  lane: string | null;
}

/** What the responses of a WebSocket share. */
interface ResponseTurnsParts extends TurnsParts {
  /** A response has begun. */
  onStart(id: string, model: string | null): void;
}

/**
 * The responses on a WebSocket. Each is one exchange, by its id. In a lane they come in the order in which they were asked for, one after the
 * other; lanes run side by side (docs/websocket.md).
 */
export class Turns implements TurnBook {
  /** A response waits for nothing. */
  readonly awaitsClient = false;
  readonly #parts: ResponseTurnsParts;
  readonly #all = new Set<Turn>();
  /** By lane: those without an event so far. */
  readonly #waiting = new Map<string, Turn[]>();
  /** By lane: the one whose events come. */
  readonly #current = new Map<string, Turn>();
  readonly #byId = new Map<string, Turn>();
  readonly #ended = new Set<string>();
  /** By lane: the latest message that went. The latest of all is the last. */
  readonly #sent = new Map<string, SentMessage>();
  /** What is held for responses that may begin although no message asks for them: one for each message that may cause one. */
  #expected: RequestHold[] = [];
  /** Since the latest message: how many have begun that none has asked for. */
  #unasked = 0;
  /** By the id of the response that is steered: those whose successor has not begun. */
  readonly #steers = new Map<string, Steer>();

  constructor(parts: ResponseTurnsParts) {
    this.#parts = parts;
  }

  /** How many are under way. */
  get size(): number {
    return this.#all.size;
  }

  /** How many are under way or may begin. */
  get sizeWithExpected(): number {
    return this.#all.size + this.#expected.length;
  }

  /** True while one is under way, or is certain to follow. */
  get isBusy(): boolean {
    return this.#all.size > 0 || [...this.#steers.values()].some(({ lane }) => lane !== null);
  }

  /** True while one of them has had an event. */
  get hasEvents(): boolean {
    return this.#byId.size > 0;
  }

  /** True while the response with this id has events to come. */
  isRunning(id: string): boolean {
    return this.#byId.has(id);
  }

  /** A message that asks for a response goes to the upstream. */
  begin(exchange: Exchange, facts: MessageFacts, model: string | null): void {
    const { lane } = facts;
    const turn = this.#add(exchange, model, facts);
    const waiting = this.#waiting.get(lane);
    if (waiting === undefined) this.#waiting.set(lane, [turn]);
    else waiting.push(turn);
  }

  /** A message goes to the upstream after which a response may begin. What that may spend is held until it does, or cannot any more. */
  expect(hold: RequestHold): void {
    this.#expected.push(hold);
  }

  /** None of those begins any more. */
  expectNone(): void {
    for (const hold of this.#expected.splice(0)) hold.release(null);
  }

  /** A message has gone to the upstream: a response that none has asked for belongs to it. */
  remember({ lane, isSteer, follows }: MessageFacts, sent: SentMessage): void {
    this.#unasked = 0;
    if (isSteer && follows !== null) {
      this.#steers.set(follows, { ...sent, lane: null });
      dropOldest(this.#steers, MOST_LANES);
    }
    this.#sent.delete(lane);
    this.#sent.set(lane, sent);
    dropOldest(this.#sent, MOST_LANES);
  }

  /** True while a copy of one of them is taken. */
  get isTapped(): boolean {
    for (const { exchange } of this.#all) if (exchange.tap !== null) return true;
    return false;
  }

  /** Takes an event in a message of so many bytes, with the message for those who copy it. Returns what records the turn that it ends; null if it ends none. */
  onEvent(event: SocketEvent, bytes: number, copy: Buffer | null): RecordTurn | null {
    if (event.steeredId !== null) this.#onSteer(event.type, event.steeredId);
    const turn = event.type === "error" ? this.#findFailed(event) : this.#find(event);
    if (turn === null) return null;
    turn.bytes += bytes;
    turn.meter.add(event);
    if (copy !== null) turn.exchange.tap?.sawResponseBytes(Buffer.concat([copy, LINE_FEED]));
    if (event.isContent) turn.exchange.sawFirstContent();
    return event.isTerminal || event.type === "error" ? (done) => this.#end(turn, done) : null;
  }

  /** Messages are about responses by their ids. */
  join(): void {}

  /** Records all that are under way as cut, and calls back once that is done. */
  cut(by: CutBy, onRecorded: () => void): void {
    this.expectNone();
    const turns = [...this.#all];
    this.#steers.clear();
    let left = turns.length + 1;
    const onOne = () => {
      left -= 1;
      if (left === 0) onRecorded();
    };
    for (const turn of turns) {
      this.#remove(turn);
      turn.exchange.recordResponse(this.#readSoFar(turn), by, onOne);
    }
    onOne();
  }

  #add(
    exchange: Exchange,
    model: string | null,
    { lane, isWarmup, continues }: Pick<MessageFacts, "lane" | "isWarmup" | "continues">,
  ): Turn {
    const spend = exchange.choice.upstream.freeWarmups ? "never" : "count";
    const meter = new TurnMeter(isWarmup ? spend : null);
    const turn: Turn = { exchange, lane, model, continues, meter, id: null, bytes: 0 };
    this.#all.add(turn);
    exchange.begin({ readSoFar: () => this.#readSoFar(turn), abort: () => this.#parts.abort() });
    return turn;
  }

  #end(turn: Turn, onRecorded: () => void): void {
    this.#remove(turn);
    turn.exchange.recordResponse(this.#readSoFar(turn), "upstream", onRecorded);
  }

  #readSoFar({ meter, bytes }: Turn): { reading: MeterReading; bytesOut: number } {
    return { reading: redactReading(meter.read(), this.#parts.secret), bytesOut: bytes };
  }

  /** An error is about the oldest request of its lane that has no response; if all have one, about the response that runs. */
  #findFailed({ lane, fields }: SocketEvent): Turn | null {
    const waiting = this.#takeWaiting(lane);
    if (waiting === null) {
      this.#expected.shift()?.release(null);
      return this.#current.get(lane) ?? null;
    }
    waiting.exchange.sawResponse(readErrorStatus(fields), true, this.#parts.requestId);
    return waiting;
  }

  /** A steer is over once it has failed, or once it waits for a message that continues the response. */
  #onSteer(type: string, id: string): void {
    const steer = this.#steers.get(id);
    const lane = this.#byId.get(id)?.lane;
    if (type !== "response.steer.accepted") this.#steers.delete(id);
    else if (steer !== undefined && lane !== undefined) steer.lane = lane;
  }

  #find({ lane, responseId: id, previousId }: SocketEvent): Turn | null {
    if (id === null) return this.#current.get(lane) ?? null;
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    if (this.#ended.has(id)) return null;
    const turn = this.#openSteered(lane, previousId) ?? this.#takeWaiting(lane) ?? this.#openSuccessor(lane);
    if (turn === null) return null;
    turn.id = id;
    turn.exchange.sawResponse(SWITCHING_PROTOCOLS, true, this.#parts.requestId);
    this.#byId.set(id, turn);
    this.#current.set(lane, turn);
    this.#parts.onStart(id, turn.model);
    return turn;
  }

  /** The successor of one that was steered. It may come before those that its lane has asked for. */
  #openSteered(lane: string, previousId: string | null): Turn | null {
    const id = previousId ?? this.#findFollowed(lane);
    const steer = id === null ? undefined : this.#steers.get(id);
    if (id === null || steer === undefined) return null;
    this.#steers.delete(id);
    // The response to a message that continues it is none of its own: the service puts the steer before that message.
    if (this.#waiting.get(lane)?.[0]?.continues === id) return null;
    return this.#openAgain(steer, lane);
  }

  /** The steered response of a lane that a response follows now, if that does not name it. */
  #findFollowed(lane: string): string | null {
    for (const [id, steer] of this.#steers) if (steer.lane === lane && this.#ended.has(id)) return id;
    return null;
  }

  /** One that names neither a request nor a steer belongs to the latest message of its lane, or of any. */
  #openSuccessor(lane: string): Turn | null {
    const sent = this.#sent.get(lane) ?? [...this.#sent.values()].at(-1);
    return sent === undefined ? null : this.#openAgain(sent, lane);
  }

  /** Opens one that no message has asked for. Too many end the WebSocket. */
  #openAgain(sent: SentMessage, lane: string): Turn | null {
    if (this.#unasked >= MOST_UNASKED || this.size >= MOST_UNDER_WAY) {
      this.#parts.abort();
      return null;
    }
    this.#unasked += 1;
    const facts = { lane, isWarmup: false, continues: null };
    const turn = this.#add(this.#parts.openSuccessor(sent, true, false), sent.decision.model, facts);
    // By now it holds what it may spend itself.
    this.#expected.shift()?.release(null);
    return turn;
  }

  #takeWaiting(lane: string): Turn | null {
    const waiting = this.#waiting.get(lane);
    const turn = waiting?.shift() ?? null;
    if (waiting?.length === 0) this.#waiting.delete(lane);
    return turn;
  }

  #remove(turn: Turn): void {
    const { id, lane } = turn;
    this.#all.delete(turn);
    if (this.#current.get(lane) === turn) this.#current.delete(lane);
    if (id === null) return;
    this.#byId.delete(id);
    this.#ended.add(id);
    dropOldest(this.#ended, MOST_ENDED);
  }
}

/** Leaves the latest of a list that grows by one at a time. */
function dropOldest(list: Set<string> | Map<string, unknown>, most: number): void {
  const [oldest] = list.keys();
  if (list.size > most && oldest !== undefined) list.delete(oldest);
}
