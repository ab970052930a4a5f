import type { Socket } from "node:net";
import { HeaderIndex } from "../../core/http/header-index.ts";
import { renderRefusalClose, type Refusal } from "../../core/refusals/refusal.ts";
import { readKey } from "../../core/websocket/handshake.ts";
import { writeClose, type CloseCode } from "../../core/websocket/write-frame.ts";
import { takeSocket } from "../client/take-socket.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { ClientMessages, type ClientMessage } from "./client-messages.ts";
import { Judge, type Handshake, type Verdict } from "./judge.ts";
import { LiveMessages } from "./live-messages.ts";
import type { SentMessage } from "./protocol.ts";
import { endSocket, type RelayParts } from "./relay.ts";
import { computeAccept } from "./upstream-handshake.ts";

/** Before the first message there is no turn. */
const NO_TURNS = {
  isOpen: false,
  isExpected: false,
  hasPlace: false,
  contextTokens: null,
  expectNone: ignore,
} as const;

/**
 * A WebSocket of the Live API that is open for its client before it has an upstream: the model that its first message names decides on that. All that the
 * client sends meanwhile stays on its connection, for the relay.
 */
export class EarlySocket {
  readonly client: Socket;
  /** As an upstream is to get it: no compression was agreed on with the client. */
  readonly handshake: Handshake;
  readonly #parts: RelayParts;
  /** Frees what the first message holds of the buffer. */
  #release = ignore;

  /** Accepts the handshake. */
  constructor(handshake: Handshake, parts: RelayParts) {
    const { req, res, headers } = handshake;
    this.handshake = { ...handshake, headers: withoutExtensions(headers) };
    this.#parts = parts;
    this.client = takeSocket(req, res, ["Sec-WebSocket-Accept", computeAccept(readKey(headers))]);
    // 'close' follows.
    this.client.on("error", ignore);
  }

  /** Resolves with the first message, once it may go to an upstream; with null if the WebSocket has ended before. */
  async readSetup(): Promise<SentMessage | null> {
    const judge = new Judge(this.handshake, null, new LiveMessages(NO_TURNS), this.#parts);
    const verdict = await new Promise<Verdict | null>((resolve) => this.#judgeFirst(judge, resolve));
    if (verdict?.kind === "refuse") {
      const { received, chosen, refusal } = verdict;
      this.#refuse(refusal, chosen === null ? null : this.#parts.sender.openRefused(received, chosen));
    }
    return verdict?.kind === "go" ? verdict : null;
  }

  /** Ends it, because the upstream of its first message cannot be had. That leaves a record. */
  refuse({ received, decision }: SentMessage, refusal: Refusal): void {
    this.#refuse(refusal, this.#parts.sender.openRefused(received, decision));
  }

  /** Gives the connection to the relay, with all that the client has sent on it. */
  take(): Socket {
    this.#release();
    return this.client;
  }

  /** True once we have ended it. */
  get isClosed(): boolean {
    return this.client.writableEnded;
  }

  /** Ends it with a Close. The first call counts. */
  close(code: CloseCode, reason: string): void {
    if (this.isClosed) return;
    this.client.write(writeClose(code, reason));
    endSocket(this.client);
  }

  #refuse(refusal: Refusal, exchange: Exchange | null): void {
    const { refuser } = this.#parts;
    const { req, client } = this.handshake;
    const { status, code, reason } = renderRefusalClose(refusal, refuser.configOption);
    refuser.refuseMessage(req, { refusal, status, api: "gemini" }, client.tool, exchange, () =>
      this.close(code, reason),
    );
  }

  /** Calls back with what becomes of the first message; with null where none comes. */
  #judgeFirst(judge: Judge, done: (verdict: Verdict | null) => void): void {
    const { client } = this;
    const { bodyIdleMs } = this.#parts.settings().limits;
    const arrived: Buffer[] = [];
    let first: ClientMessage | null = null;
    const fail = (code: CloseCode, reason: string) => {
      stop();
      this.close(code, reason);
      done(null);
    };
    const messages = new ClientMessages(this.#parts.buffer, null, {
      onMessage: (message) => {
        first = message;
        this.#release = () => messages.release(message);
        messages.close();
      },
      // The upstream answers it, once there is one.
      onControl: ignore,
      onClose: () => {
        stop();
        endSocket(client);
        done(null);
      },
      onTooLong: () => fail(1009, "a message is longer than tollkeeper takes"),
      onFull: () => fail(1013, "too much waits in tollkeeper"),
      onUnreadable: ignore,
      onInvalid: (fault) => fail(1002, fault),
    });
    const timer = setTimeout(() => fail(1008, "tollkeeper: no setup has come"), bodyIdleMs);
    const onData = (chunk: Buffer) => {
      timer.refresh();
      arrived.push(chunk);
      messages.feed(chunk);
      if (first === null) return;
      stop();
      client.pause();
      client.unshift(Buffer.concat(arrived));
      judge.judge(first, done);
    };
    const onGone = () => {
      stop();
      this.#release();
      client.destroy();
      done(null);
    };
    const stop = () => {
      clearTimeout(timer);
      client.off("data", onData);
      client.off("end", onGone);
      messages.close();
    };
    client.on("data", onData);
    client.on("end", onGone);
    client.once("close", onGone);
    client.resume();
  }
}

/** Compression was not agreed on with the client, and cannot be with an upstream. */
function withoutExtensions(headers: HeaderIndex): HeaderIndex {
  const kept = headers.lines.filter(({ policy }) => policy.name !== "sec-websocket-extensions");
  return new HeaderIndex(kept.flatMap(({ rawName, value }) => [rawName, value]));
}

function ignore(): void {}
