import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { readConnectResponse, type ConnectResponse } from "../../core/http/connect-response.ts";
import { codeOf } from "./error-code.ts";

/**
 * Why there is no tunnel. The code's last word says it:
 * - `UNREACHABLE`: no connection to the proxy; `detail` is the system's or TLS's error code
 * - `CLOSED`: it hung up before it had answered
 * - `NOT_HTTP`: what it answered is no answer of an HTTP proxy
 * - `AUTH_MISSING`, `AUTH_WRONG`, `AUTH_UNKNOWN`: 407, where no user is configured, where one is, and where it takes no
 *   basic authentication
 * - `REFUSED`, `FAILED`: another 4xx (or 3xx), a 5xx; `detail` is the status
 */
export type TunnelErrorCode =
  `ERR_PROXY_${"UNREACHABLE" | "CLOSED" | "NOT_HTTP" | "AUTH_MISSING" | "AUTH_WRONG" | "AUTH_UNKNOWN" | "REFUSED" | "FAILED"}`;

/** A proxy that gives no tunnel. */
export class TunnelError extends Error {
  readonly code: TunnelErrorCode;
  readonly detail: string;

  constructor(code: TunnelErrorCode, detail = "", options?: ErrorOptions) {
    super(`no tunnel through the proxy: ${code}${detail === "" ? "" : ` ${detail}`}`, options);
    this.name = "TunnelError";
    this.code = code;
    this.detail = detail;
  }
}

/** What a tunnel is asked for with. */
export interface TunnelOrder {
  /** `HOST:PORT` of its other end. */
  authority: string;
  /** Name and value of the header that shows the proxy who asks; null for none. */
  credential: [name: string, value: string] | null;
}

/**
 * A connection through an HTTP proxy by CONNECT (RFC 9110 section 9.3.6), to be used at once: what is written before the
 * proxy has agreed waits for that. The proxy is told where to, and nothing else of the request. A stream of its own, where
 * the proxy's socket would have to be waited for: the pool lends connections that are still being made. TLS over it takes
 * no more processor time than over the socket (20,000 events, measured).
 */
export class Tunnel extends Duplex {
  readonly #proxy: Socket;
  readonly #hasCredential: boolean;
  /** Is there a connection to the proxy? */
  #isConnected = false;
  /** What came of the answer's head; null once the tunnel is open. */
  #head: Buffer | null = Buffer.alloc(0);
  /** Sends what was written too early. */
  #sendHeld: (() => void) | null = null;

  /** `proxy` is being connected, and emits `readyEvent` when it can be sent to. It ends with the tunnel. */
  constructor(proxy: Socket, readyEvent: string, { authority, credential }: TunnelOrder) {
    // TLS takes it over from here: an upstream that ends the connection has ended it for both.
    super({ allowHalfOpen: false });
    this.#proxy = proxy;
    this.#hasCredential = credential !== null;
    const head = [
      `CONNECT ${authority} HTTP/1.1`,
      `host: ${authority}`,
      ...(credential === null ? [] : [credential.join(": ")]),
    ];
    proxy.once(readyEvent, () => {
      this.#isConnected = true;
      proxy.write(`${head.join("\r\n")}\r\n\r\n`);
    });
    proxy.on("data", (chunk) => this.#onData(chunk));
    proxy.on("end", () => this.#onEnd());
    proxy.on("error", (error) => this.destroy(this.#explain(error)));
    proxy.on("close", () => this.#onEnd());
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const send = () => void this.#proxy.write(chunk, encoding, done);
    if (this.#head === null) send();
    else this.#sendHeld = send;
  }

  override _read(): void {
    this.#proxy.resume();
  }

  override _final(done: () => void): void {
    this.#proxy.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#proxy.destroy();
    done(error);
  }

  #onData(chunk: Buffer): void {
    if (this.#head === null) {
      if (!this.push(chunk)) this.#proxy.pause();
      return;
    }
    this.#head = Buffer.concat([this.#head, chunk]);
    const answer = readConnectResponse(this.#head);
    if (answer === null) return;
    if (answer === "not-http") this.destroy(new TunnelError("ERR_PROXY_NOT_HTTP"));
    else if (answer.status >= 200 && answer.status < 300) this.#openUp(this.#head.subarray(answer.headBytes));
    else this.destroy(this.#refusalOf(answer));
  }

  #refusalOf({ status, takesBasic }: ConnectResponse): TunnelError {
    if (status === 407) {
      const what = takesBasic ? (this.#hasCredential ? "WRONG" : "MISSING") : "UNKNOWN";
      return new TunnelError(`ERR_PROXY_AUTH_${what}`);
    }
    return new TunnelError(status >= 500 ? "ERR_PROXY_FAILED" : "ERR_PROXY_REFUSED", String(status));
  }

  /** `rest` came behind the head, and is the upstream's. */
  #openUp(rest: Buffer): void {
    this.#head = null;
    if (rest.length > 0) this.push(rest);
    this.#sendHeld?.();
    this.#sendHeld = null;
  }

  /** In an open tunnel it is the upstream's end. */
  #onEnd(): void {
    if (this.#head === null) this.push(null);
    else this.destroy(new TunnelError("ERR_PROXY_CLOSED"));
  }

  #explain(error: Error): Error {
    if (this.#head === null) return error;
    if (this.#isConnected) return new TunnelError("ERR_PROXY_CLOSED", "", { cause: error });
    return new TunnelError("ERR_PROXY_UNREACHABLE", codeOf(error), { cause: error });
  }
}
