import { connect, type Socket } from "node:net";

/** Runs actions after a fixed delay, in order. */
class DelayLine {
  readonly #waiting: (() => void)[] = [];
  #last = 0;

  add(task: () => void, at: number): void {
    this.#waiting.push(task);
    this.#last = Math.max(this.#last, at);
    // Whichever timer fires first runs the oldest action, because timers may fire out of order.
    setTimeout(() => this.#waiting.shift()?.(), this.#last - performance.now());
  }
}

/**
 * Forwards a connection to `port` with a delay of `oneWayMs` for every byte. The system has already accepted the connection, for which
 * a far one would have taken a round trip, so the client's first bytes wait for that as well.
 */
export function delayConnection(client: Socket, port: number, oneWayMs: number): void {
  const connectedAt = performance.now() + 2 * oneWayMs;
  const upstream = connect({ port, host: "127.0.0.1", noDelay: true });
  pass(client, upstream, () => Math.max(performance.now(), connectedAt) + oneWayMs);
  pass(upstream, client, () => performance.now() + oneWayMs);
}

function pass(from: Socket, to: Socket, arrival: () => number): void {
  const line = new DelayLine();
  from.on("data", (data: Buffer) => line.add(() => to.write(data), arrival()));
  from.on("end", () => line.add(() => to.end(), arrival()));
  // 'close' follows and closes the other side.
  from.on("error", () => {});
  from.on("close", () => line.add(() => to.destroy(), arrival()));
}
