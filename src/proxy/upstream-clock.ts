import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";

/** A TCP or TLS connection that is not there by then will not come; operating systems wait two minutes and more. */
export const CONNECT_LIMIT_MS = 30_000;

/** Until there is a connection the upstream cannot have seen anything of the request. */
export type Phase = "connecting" | "waiting" | "answering";

export interface UpstreamLimits {
  /** From the last byte sent to the first byte of the answer. */
  firstByteMs: number;
  /** Between two pieces of the answer. */
  betweenBytesMs: number;
}

/** How long an upstream may keep us waiting: another limit in each phase of the request. */
export class UpstreamClock {
  readonly #upstream: ClientRequest;
  readonly #limits: UpstreamLimits;
  #phase: Phase = "connecting";
  #connectTimer: NodeJS.Timeout | null = null;

  /** `onLate` may be called more than once, until {@link UpstreamClock.stop}. */
  constructor(
    upstream: ClientRequest,
    { secure, limits, onLate }: { secure: boolean; limits: UpstreamLimits; onLate: () => void },
  ) {
    this.#upstream = upstream;
    this.#limits = limits;
    upstream.on("timeout", onLate);
    upstream.on("socket", (socket) => {
      if (!socket.connecting) {
        this.#wait();
        return;
      }
      // A timer of our own: Node's measures silence only, and begins anew with each step of a TLS handshake.
      this.#connectTimer = setTimeout(onLate, CONNECT_LIMIT_MS);
      this.#awaitConnection(socket, secure);
    });
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The answer has begun, or a silence within it is not the upstream's fault: the limit between bytes runs anew. */
  answering(): void {
    this.#phase = "answering";
    this.#upstream.setTimeout(this.#limits.betweenBytesMs);
  }

  stop(): void {
    if (this.#connectTimer !== null) clearTimeout(this.#connectTimer);
  }

  #awaitConnection(socket: Socket, secure: boolean): void {
    // The pool's idle limit, which Node has set already.
    socket.setTimeout(0);
    socket.once(secure ? "secureConnect" : "connect", () => {
      this.stop();
      this.#wait();
    });
  }

  #wait(): void {
    this.#phase = "waiting";
    this.#upstream.setTimeout(this.#limits.firstByteMs);
  }
}
