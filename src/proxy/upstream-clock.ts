import type { ClientRequest } from "node:http";

/** A TCP or TLS connection that is not there by then will not come; operating systems wait two minutes and more. */
export const CONNECT_LIMIT_MS = 30_000;

/** Until there is a connection the upstream cannot have seen anything of the request. */
export type Phase = "connecting" | "sending" | "waiting" | "answering";

/** How long an upstream may keep us waiting. */
export interface UpstreamLimits {
  /** From the last byte sent to the whole head of the answer; and how long it may take nothing of what is sent. */
  firstByteMs: number;
  /** Between two pieces of the answer. */
  betweenBytesMs: number;
}

/**
 * One limit for each phase of a request. Timers of our own, because Node's measure the silence of a connection: a TLS
 * handshake or a head that comes byte by byte, or early hints without end, would keep them from running out.
 */
export class UpstreamClock {
  readonly #limits: UpstreamLimits;
  readonly #onLate: () => void;
  #phase: Phase = "connecting";
  #timer: NodeJS.Timeout | null = null;

  /** `onLate` may be called more than once, until {@link UpstreamClock.stop}. */
  constructor(
    upstream: ClientRequest,
    { secure, limits, onLate }: { secure: boolean; limits: UpstreamLimits; onLate: () => void },
  ) {
    this.#limits = limits;
    this.#onLate = onLate;
    upstream.once("socket", (socket) => {
      // Not `connecting`: that ends with TCP's handshake, and TLS's comes after it.
      if (upstream.reusedSocket) {
        this.#enter("sending", limits.firstByteMs);
        return;
      }
      this.#enter("connecting", CONNECT_LIMIT_MS);
      socket.once(secure ? "secureConnect" : "connect", () => this.#enter("sending", limits.firstByteMs));
    });
    upstream.once("finish", () => {
      if (this.#phase === "sending") this.#enter("waiting", limits.firstByteMs);
    });
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The answer's head is here. */
  answering(): void {
    this.#enter("answering", this.#limits.betweenBytesMs);
  }

  /** Something moved on, or what did not was not the upstream's fault: the limit of this phase runs anew. */
  restart(): void {
    this.#timer?.refresh();
  }

  /** Nothing is late any more. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #enter(phase: Phase, limitMs: number): void {
    this.stop();
    this.#phase = phase;
    this.#timer = setTimeout(this.#onLate, limitMs);
  }
}
