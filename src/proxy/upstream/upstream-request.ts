import { InvalidResponse } from "../../core/http/framing.ts";
import type { RequestHead } from "../../core/http/request-head.ts";
import type { ResponseHead } from "../../core/http/response-head.ts";
import { ResponseParser, type ResponseSink } from "../../core/http/response-parser.ts";
import type { ConnectionUser, UpstreamConnection } from "./connection.ts";
import { IncomingResponse } from "./incoming-response.ts";

/** Where a request's connection comes from, and goes to. */
export interface ConnectionOwner {
  /** Gets a connection back that is idle and in order, with the response's `Keep-Alive` header. */
  free(connection: UpstreamConnection, keepAlive: string | undefined): void;
  /** Opens another connection for a request whose idle one was lost. Returns null when it opens no more. */
  replace(request: UpstreamRequest): UpstreamConnection | null;
}

/** A piece of the body, and what follows it. */
interface Write {
  body: Buffer | string;
  tail: string;
  onTaken: () => void;
}

/** Events of a request. None is called before the request has been opened, or after it was destroyed. */
export interface RequestEvents {
  /** Its connection is ready. Not called if it was ready from the beginning. */
  onReady(): void;
  /** Its connection was lost before anything was sent, and another is being opened. {@link onReady} follows. */
  onReconnect(): void;
  /** The operating system has taken all of it. */
  onSent(): void;
  /** The head of the response has arrived. */
  onResponse(response: IncomingResponse): void;
  /** It failed before the response was complete. An {@link InvalidResponse} if that is not valid HTTP. Nothing follows. */
  onFailed(error: Error): void;
}

/**
 * A request on a connection to an upstream, and its response. Bodies pass byte for byte; back-pressure is the caller's.
 *
 * Before its first byte is sent on a connection that was idle, the event loop reads what has arrived on it: Node has no other way to
 * look at a socket. If there is anything, it may be meant for the request before (SECURITY.md C7), and another connection is taken.
 */
export class UpstreamRequest implements ConnectionUser, ResponseSink {
  /** Another one after {@link moveTo}, and when it is lost before anything was sent. */
  connection: UpstreamConnection;
  /** True once the end of the body was given. */
  writableEnded = false;
  /** True once the operating system has taken all of it. */
  writableFinished = false;
  readonly #events: RequestEvents;
  readonly #owner: ConnectionOwner;
  readonly #isChunked: boolean;
  readonly #parser: ResponseParser;
  /** Sent with the first bytes of the body, in one write. "" after that. */
  #head: string;
  #response: IncomingResponse | null = null;
  /** True while its connection is one that was idle. */
  #wasIdle: boolean;
  /** Writes that wait until the connection may be used. */
  #held: Write[] | null = null;
  #heldBytes = 0;
  /** Writes that the operating system has not taken yet. */
  #waitingWrites = 0;
  #isDetached = false;
  #closeListeners: (() => void)[] | null = null;

  /** `owner` gets the connection back when both request and response are over. */
  constructor(
    connection: UpstreamConnection,
    head: RequestHead,
    events: RequestEvents,
    owner: ConnectionOwner,
  ) {
    this.connection = connection;
    this.#head = head.text;
    this.#parser = new ResponseParser(this, head.isUpgrade);
    this.#isChunked = head.isChunked;
    this.#events = events;
    this.#owner = owner;
    this.#wasIdle = connection.isReady;
    connection.assign(this);
  }

  /** Bytes that were written and that the operating system has not taken yet. */
  get writableLength(): number {
    return this.#isDetached ? 0 : this.#heldBytes + this.connection.socket.writableLength;
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
    if (last.length > 0 || tail !== "" || (this.#head !== "" && this.#held === null))
      this.#send(last, tail, ignore);
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

  /** Takes an idle connection in place of one whose handshakes are not done. */
  moveTo(connection: UpstreamConnection): void {
    this.connection = connection;
    this.#wasIdle = true;
    connection.assign(this);
    this.#events.onReady();
    if (this.#held !== null) this.#sendAfterLook();
  }

  onReady(): void {
    this.#events.onReady();
    this.#sendHeld();
  }

  onBytes(bytes: Buffer): void {
    // Nothing was asked yet, so it may be meant for the request before (SECURITY.md C7).
    if (this.#head !== "") {
      this.#onLost(new InvalidResponse("the upstream responded before the request was sent"));
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
    this.#onLost(error);
  }

  onHead(head: ResponseHead): void {
    this.#response = new IncomingResponse(head, {
      pause: () => void (this.#isDetached || this.connection.socket.pause()),
      resume: () => void (this.#isDetached || this.connection.socket.resume()),
    });
    this.#events.onResponse(this.#response);
  }

  onBody(bytes: Buffer): void {
    if (!this.#isDetached) this.#response?.push(bytes);
  }

  #onConfirmedEnd(): void {
    if (this.#isDetached) return;
    if (this.#parser.end()) this.#onProgress();
    else this.#onLost(new Error("the upstream closed the connection"));
  }

  #onProgress(): void {
    const response = this.#response;
    if (response === null) return;
    if (this.#parser.isComplete) {
      response.isComplete = true;
      this.#release();
    }
    response.announce();
  }

  #send(body: Buffer | string, tail: string, onTaken: () => void): void {
    this.#waitingWrites += 1;
    if (this.#head === "") {
      this.#write(body, tail, onTaken);
      return;
    }
    this.#heldBytes += body.length;
    const isFirst = this.#held === null;
    (this.#held ??= []).push({ body, tail, onTaken });
    if (isFirst && this.connection.isReady) this.#sendAfterLook();
  }

  /** All that has arrived is read before the callback runs: the event loop calls it after it has gone through the sockets. */
  #sendAfterLook(): void {
    setImmediate(() => this.#sendHeld());
  }

  /** Sends what was held, unless the connection has been lost meanwhile. */
  #sendHeld(): void {
    const held = this.#held;
    if (held === null || this.#isDetached || !this.connection.isReady) return;
    this.#held = null;
    this.#heldBytes = 0;
    for (const { body, tail, onTaken } of held) this.#write(body, tail, onTaken);
  }

  /** Writes the head if it is still unwritten, a piece of the body, and the body's end, all in one write. */
  #write(body: Buffer | string, tail: string, onTaken: () => void): void {
    const { socket } = this.connection;
    const before = this.#head + (this.#isChunked && body.length > 0 ? `${body.length.toString(16)}\r\n` : "");
    const after = (this.#isChunked && body.length > 0 ? "\r\n" : "") + tail;
    this.#head = "";
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
    if (head?.isPersistent === true && !this.#parser.hasSurplus)
      this.#owner.free(this.connection, head.headers.get("keep-alive"));
    else this.connection.close();
    this.#detach();
  }

  /** The connection is of no more use. Takes another one if nothing was sent, which makes that safe for any request. */
  #onLost(error: Error): void {
    if (this.#isDetached) return;
    const other = this.#head !== "" && this.#wasIdle ? this.#owner.replace(this) : null;
    if (other === null) {
      this.#fail(error);
      return;
    }
    this.connection.close();
    this.#wasIdle = false;
    this.connection = other;
    other.assign(this);
    this.#events.onReconnect();
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
    this.#held = null;
    for (const listener of this.#closeListeners ?? []) listener();
    this.#closeListeners = null;
  }
}

function ignore(): void {}
