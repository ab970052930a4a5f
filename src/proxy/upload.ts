import type { ClientRequest, IncomingMessage } from "node:http";
import type { Exchange } from "./exchange.ts";
import { discardBody } from "./refuse.ts";

/** The request's body on its way to the upstream: byte for byte, with back-pressure, and never more than the limit. */
export class Upload {
  readonly #req: IncomingMessage;
  readonly #upstream: ClientRequest;
  #isStopped = false;

  /** `onTooLarge` is called at most once, before the first byte beyond `limitBytes` is sent. */
  constructor(
    req: IncomingMessage,
    upstream: ClientRequest,
    exchange: Exchange,
    { limitBytes, onTooLarge }: { limitBytes: number; onTooLarge: () => void },
  ) {
    this.#req = req;
    this.#upstream = upstream;
    if (exchange.route.method === "GET") {
      upstream.end();
      return;
    }
    req.on("data", (chunk: Buffer) => {
      if (this.#isStopped) return;
      if (exchange.bytesIn + chunk.length > limitBytes) {
        onTooLarge();
        return;
      }
      const goOn = upstream.write(chunk);
      exchange.sawRequestBytes(chunk);
      if (!goOn) req.pause();
    });
    upstream.on("drain", () => req.resume());
    // Stopped, the upload was cut short: ending it would put a half-used connection back into the pool.
    req.on("end", () => {
      if (!this.#isStopped) upstream.end();
    });
  }

  /** Sends nothing more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** The answer is complete, and may have come before the request was: the rest of that is nobody's, and read for a while only. */
  discardRest(): void {
    const [req, upstream] = [this.#req, this.#upstream];
    if (upstream.writableFinished) return;
    upstream.destroy();
    if (req.complete) req.resume();
    else discardBody(req, () => void (req.complete || req.socket.destroySoon()));
  }
}
