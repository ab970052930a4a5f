import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import {
  NO_CODE,
  parseConnectResponse,
  TunnelError,
  type ConnectResponse,
} from "../../core/http/tunnel-response.ts";
import { codeOf } from "../../core/failure.ts";

/** The CONNECT request. */
interface TunnelOptions {
  /** `HOST:PORT` of the upstream. */
  authority: string;
  /** Name and value of the `Proxy-Authorization` header; null for none. */
  credential: [name: string, value: string] | null;
}

/**
 * A connection through an HTTP proxy, by CONNECT (RFC 9110 section 9.3.6). It can be used at once: what is written before the
 * proxy has accepted waits for that. The proxy learns the authority and nothing else about the request.
 *
 * This is a stream of its own because the pool hands out connections that are not open yet, and would otherwise have to wait
 * for the proxy's socket. TLS over it takes no more processor time than over a socket (measured with 20,000 events).
 */
export class Tunnel extends Duplex {
  readonly #proxy: Socket;
  readonly #hasCredential: boolean;
  /** True once the proxy is connected. */
  #isConnected = false;
  /** What has arrived of the response head; null once the tunnel is open. */
  #head: Buffer | null = Buffer.alloc(0);
  /** Sends what was written before the tunnel was open. */
  #sendHeld: (() => void) | null = null;

  /** `proxy` is being connected and emits `readyEvent` when it can be written to. It closes with the tunnel. */
  constructor(proxy: Socket, readyEvent: string, { authority, credential }: TunnelOptions) {
    // An upstream that ends the connection ends both directions, as TLS expects.
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
    const response = parseConnectResponse(this.#head);
    if (response === null) return;
    if (response === "not-http") this.destroy(new TunnelError("ERR_PROXY_NOT_HTTP"));
    else if (response.status >= 200 && response.status < 300)
      this.#onAccepted(this.#head.subarray(response.headBytes));
    else this.destroy(this.#refusalOf(response));
  }

  #refusalOf({ status, acceptsBasicAuth }: ConnectResponse): TunnelError {
    if (status === 407) {
      const what = acceptsBasicAuth ? (this.#hasCredential ? "WRONG" : "MISSING") : "UNKNOWN";
      return new TunnelError(`ERR_PROXY_AUTH_${what}`);
    }
    return new TunnelError(status >= 500 ? "ERR_PROXY_FAILED" : "ERR_PROXY_REFUSED", String(status));
  }

  /** The proxy has accepted. `rest` arrived after its response head and comes from the upstream. */
  #onAccepted(rest: Buffer): void {
    this.#head = null;
    if (rest.length > 0) this.push(rest);
    this.#sendHeld?.();
    this.#sendHeld = null;
  }

  /** The end of the proxy's socket: in an open tunnel, the end of the upstream's data. */
  #onEnd(): void {
    if (this.#head === null) this.push(null);
    else this.destroy(new TunnelError("ERR_PROXY_CLOSED"));
  }

  #explain(error: Error): Error {
    if (this.#head === null) return error;
    if (this.#isConnected) return new TunnelError("ERR_PROXY_CLOSED", "", { cause: error });
    return new TunnelError("ERR_PROXY_UNREACHABLE", codeOf(error) ?? NO_CODE, { cause: error });
  }
}
