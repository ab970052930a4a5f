import type { BodyFacts, Decision } from "../../core/decide/decision.ts";
import type { Api } from "../../core/http/api.ts";
import type { CutBy } from "../../core/ledger/record.ts";
import type { Refusal } from "../../core/refusals/refusal.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { MessageFacts } from "../../core/websocket/client-message.ts";
import type { CloseCode } from "../../core/websocket/write-frame.ts";
import type { EventReader, SocketEvent } from "../../core/usage/socket-events.ts";
import type { RequestHold } from "../../ports.ts";
import type { ClientRequest, Exchange } from "../exchange/exchange.ts";

// What differs between the APIs that have a WebSocket: the Responses API, and Google's Live API (docs/websocket.md).

/** Reads the messages of a client. */
export interface MessageReader {
  /** Reads a message that has arrived, in the order in which they do. */
  read(payload: readonly Buffer[]): MessageFacts;
  /** Reads its model. `only` as for `ModelReader`. */
  readModel(
    payload: readonly Buffer[],
    facts: MessageFacts,
    only: readonly string[] | null,
  ): NonNullable<BodyFacts["reader"]>;
  /** Says why decoders could read different kinds of messages in one; null where they cannot. */
  findUncertainty(payload: readonly Buffer[]): string | null;
  /** The model of messages that name none; null where each names its own. */
  readonly model: string | null;
  /** True where a message goes on with those before it, and does not name them. */
  readonly continues: boolean;
  /** What a response reads that the service keeps of the conversation, in tokens; 0 where a budget knows it otherwise. */
  readonly contextTokens: number;
}

/** A message that went to the upstream. */
export interface SentMessage {
  received: ClientRequest;
  decision: Decision;
}

/** Records a response that has ended, and then calls back. */
export type RecordTurn = (onRecorded: () => void) => void;

/** The responses on a WebSocket. Each is one exchange. */
export interface TurnBook {
  /** How many are under way or may begin. */
  readonly sizeWithExpected: number;
  /** True while one is under way, or is certain to follow. */
  readonly isBusy: boolean;
  /** True while one of them waits for the client, and the upstream may be silent. */
  readonly awaitsClient: boolean;
  /** True while one of them has had an event. */
  readonly hasEvents: boolean;
  /** True while a copy of one of them is taken. */
  readonly isTapped: boolean;
  /** A message that asks for one goes to the upstream. */
  begin(exchange: Exchange, facts: MessageFacts, model: string | null): void;
  /** A message goes to the upstream after which one may begin. What that may spend is held until it does, or cannot any more. */
  expect(hold: RequestHold): void;
  /** None of those begins any more. */
  expectNone(): void;
  /** A message has gone to the upstream: a response that none has asked for belongs to it. */
  remember(facts: MessageFacts, sent: SentMessage): void;
  /** A message has gone to the upstream that belongs to one that is under way. */
  join(facts: MessageFacts, payload: readonly Buffer[]): void;
  /**
   * Takes an event in a message of so many bytes, with the message for those who copy it. Returns what records the response that it ends;
   * null if it ends none.
   */
  onEvent(event: SocketEvent, bytes: number, copy: Buffer | null): RecordTurn | null;
  /** Records all that are under way as cut, and calls back once that is done. */
  cut(by: CutBy, onRecorded: () => void): void;
}

/** What the turns of a WebSocket share. */
export interface TurnsParts {
  /** To be redacted from what the upstream says. */
  secret: Secret;
  /** The upstream's id of the handshake. */
  requestId: string | null;
  /**
   * Opens the exchange of a response that no message has asked for, as for this message again.
   * @param isJudged false where no message has been judged since the one before it began
   * @param needsPlace as for a message
   */
  openSuccessor(sent: SentMessage, isJudged: boolean, needsPlace: boolean): Exchange;
  /** Ends the WebSocket from our side. */
  abort(): void;
}

/** A refusal in the form that a client understands. */
export interface RefusalOnSocket {
  /** What its record says. */
  status: number;
  api: Api;
  /** The text message with which it is told, or the code and reason with which the WebSocket ends. */
  form: { kind: "event"; text: string } | { kind: "close"; code: CloseCode; reason: string };
}

/** An API on a WebSocket. */
export interface SocketProtocol {
  messages: MessageReader;
  turns: TurnBook;
  events: EventReader;
  /** Renders the refusal of a message. `configOption` as for `renderRefusal`. */
  renderRefusal(refusal: Refusal, lane: string, configOption: string): RefusalOnSocket;
}
