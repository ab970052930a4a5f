import { InvalidResponse } from "../../core/http/invalid-response.ts";
import type { RequestHead } from "../../core/http/request-head.ts";
import type { ResponseHead } from "../../core/http/response-head.ts";
import { ResponseParser, type ResponseSink } from "../../core/http/response-parser.ts";
import type { ConnectionUser, UpstreamConnection } from "./connection.ts";
import { IncomingResponse } from "./incoming-response.ts";

/** Events of a request. None is called before the request has been opened, or after it was destroyed. */
export interface RequestEvents {
  /** Its connection is ready. Not called if it was ready from the beginning. */
  onReady(): void;
  /** The operating system has taken all of it. */
  onSent(): void;
  /** The head of the response has arrived. */
  onResponse(response: IncomingResponse): void;
  /** It failed before the response was complete. An {@link InvalidResponse} if that is not valid HTTP. Nothing follows. */
  onFailed(error: Error): void;
}

/** A request on a connection to an upstream, and its response. Bodies pass byte for byte; back-pressure is the caller's. */
export class UpstreamRequest implements ConnectionUser, ResponseSink {
  readonly connection: UpstreamConnection;
  /** True once the end of the body was given. */
  writableEnded = false;
  /** True once the operating system has taken all of it. */
  writableFinished = false;
  readonly #events: RequestEvents;
  /** Called when both request and response are over. */
  readonly #onFree: (keepAlive: string | undefined) => void;
  readonly #isChunked: boolean;
  readonly #parser: ResponseParser = new ResponseParser(this);
  /** Sent with the first bytes of the body, in one write. "" after that. */
  #head: string;
  #response: IncomingResponse | null = null;
  /** Writes that the operating system has not taken yet. */
  #waitingWrites = 0;
  #isDetached = false;
  #closeListeners: (() => void)[] | null = null;

  /** `onFree` gets the connection back, with the response's `Keep-Alive` header; it must be idle and in order. */
  constructor(
    connection: UpstreamConnection,
    head: RequestHead,
    events: RequestEvents,
    onFree: (keepAlive: string | undefined) => void,
  ) {
    this.connection = connection;
    this.#head = head.text;
    this.#isChunked = head.isChunked;
    this.#events = events;
    this.#onFree = onFree;
    connection.assign(this);
  }

  /** Bytes that were written and that the operating system has not taken yet. */
  get writableLength(): number {
    return this.#isDetached ? 0 : this.connection.socket.writableLength;
  }

  /** Sends a piece of the body. `onTaken` is called when the operating system has taken it, or the connection has failed. */
  write(chunk: Buffer, onTaken: () => void): void {
    if (this.#isDetached) return;
    this.#send(chunk, "", onTaken);
  }

  /** Ends the body, with this piece: a string is latin1, and goes out with the head in one write. */
  end(last: Buffer | string = ""): void {
    if (this.#isDetached || this.writableEnded) return;
    this.writableEnded = true;
    const tail = this.#isChunked ? "0\r\n\r\n" : "";
    if (last.length > 0 || tail !== "" || this.#head !== "") this.#send(last, tail, ignore);
    else if (this.#waitingWrites === 0) this.#finish();
  }

  /** Gives the request up, and closes its connection. Does nothing once request and response are over. */
  destroy(): void {
    if (this.#isDetached) return;
    this.connection.close();
    this.#detach();
  }

  /** Calls back when it no longer has its connection. */
  once(_event: "close", listener: () => void): void {
    if (this.#isDetached) listener();
    else (this.#closeListeners ??= []).push(listener);
  }

  onReady(): void {
    this.#events.onReady();
  }

  onBytes(bytes: Buffer): void {
    // Nothing was asked yet, so it may be meant for the request before (SECURITY.md C7).
    if (this.#head !== "") {
      this.#fail(new InvalidResponse("the upstream responded before the request was sent"));
      return;
    }
    // The response is complete, but the request is not: what follows is unsolicited.
    if (this.#parser.isComplete) {
      this.destroy();
      return;
    }
    try {
      this.#parser.feed(bytes);
    } catch (error) {
      if (!(error instanceof InvalidResponse)) throw error;
      this.#fail(error);
      return;
    }
    if (!this.#isDetached) this.#onProgress();
  }

  onEnd(): void {
    // The error that follows says why the handshakes failed.
    if (!this.connection.isReady) return;
    if (this.#parser.endsWithConnection) this.connection.confirmEnd(() => this.#onConfirmedEnd());
    else this.#onConfirmedEnd();
  }

  onBroken(error: Error): void {
    this.#fail(error);
  }

  onHead(head: ResponseHead): void {
    this.#response = new IncomingResponse(head, () => {
      if (!this.#isDetached) this.connection.socket.resume();
    });
    this.#events.onResponse(this.#response);
  }

  onBody(bytes: Buffer): void {
    if (!this.#isDetached) this.#response?.push(bytes);
  }

  #onConfirmedEnd(): void {
    if (this.#isDetached) return;
    if (this.#parser.end()) this.#onProgress();
    else this.#fail(new Error("the upstream closed the connection"));
  }

  #onProgress(): void {
    const response = this.#response;
    if (response === null) return;
    if (this.#parser.isComplete) {
      response.isComplete = true;
      this.#release();
    }
    if (response.announce()) this.connection.socket.pause();
  }

  /** Writes the head if it is still unwritten, a piece of the body, and the body's end, all in one write. */
  #send(body: Buffer | string, tail: string, onTaken: () => void): void {
    const { socket } = this.connection;
    const before = this.#head + (this.#isChunked && body.length > 0 ? `${body.length.toString(16)}\r\n` : "");
    const after = (this.#isChunked && body.length > 0 ? "\r\n" : "") + tail;
    this.#head = "";
    this.#waitingWrites += 1;
    const onWritten = (error?: Error | null) => {
      this.#onWritten(error ?? null);
      onTaken();
    };
    if (typeof body === "string") {
      socket.write(before + body + after, "latin1", onWritten);
      return;
    }
    if (before === "" && after === "") {
      socket.write(body, onWritten);
      return;
    }
    socket.cork();
    if (before !== "") socket.write(before, "latin1");
    if (after === "") socket.write(body, onWritten);
    else {
      socket.write(body);
      socket.write(after, "latin1", onWritten);
    }
    socket.uncork();
  }

  #onWritten(error: Error | null): void {
    this.#waitingWrites -= 1;
    if (error === null && this.writableEnded && this.#waitingWrites === 0) this.#finish();
  }

  #finish(): void {
    if (this.#isDetached) return;
    this.writableFinished = true;
    this.#events.onSent();
    if (this.#parser.isComplete) this.#release();
  }

  /** Gives the connection back once request and response are over. */
  #release(): void {
    if (this.#isDetached || !this.writableFinished) return;
    const head = this.#response?.head;
    if (head?.isPersistent === true && !this.#parser.hasSurplus) this.#onFree(head.headers.get("keep-alive"));
    else this.connection.close();
    this.#detach();
  }

  #fail(error: Error): void {
    if (this.#isDetached) return;
    this.connection.close();
    this.#detach();
    // A connection may break after the response, while the rest of the request is being sent.
    if (this.#parser.isComplete) return;
    if (this.#response !== null) this.#response.isBroken = true;
    this.#events.onFailed(error);
  }

  #detach(): void {
    this.#isDetached = true;
    for (const listener of this.#closeListeners ?? []) listener();
    this.#closeListeners = null;
  }
}

function ignore(): void {}
