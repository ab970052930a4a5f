import { connect, type Socket } from "node:net";

/** Does things later, all by the same time, in the order in which they were asked for. */
class DelayLine {
  readonly #waiting: (() => void)[] = [];
  #last = 0;

  add(task: () => void, at: number): void {
    this.#waiting.push(task);
    this.#last = Math.max(this.#last, at);
    // Whichever timer fires first runs what was added first: timers alone may swap neighbours.
    setTimeout(() => this.#waiting.shift()?.(), this.#last - performance.now());
  }
}

/**
 * Carries a connection to `port` as if that were far away: every byte takes `oneWayMs`. The system has accepted it
 * already, for which a far one would have taken a round trip: what the client sends before that waits for it.
 */
export function carry(client: Socket, port: number, oneWayMs: number): void {
  const connectedAt = performance.now() + 2 * oneWayMs;
  const upstream = connect({ port, host: "127.0.0.1", noDelay: true });
  pass(client, upstream, () => Math.max(performance.now(), connectedAt) + oneWayMs);
  pass(upstream, client, () => performance.now() + oneWayMs);
}

function pass(from: Socket, to: Socket, arrival: () => number): void {
  const line = new DelayLine();
  from.on("data", (data: Buffer) => line.add(() => to.write(data), arrival()));
  from.on("end", () => line.add(() => to.end(), arrival()));
  // A break is followed by `close`, with which the other side goes, too.
  from.on("error", () => {});
  from.on("close", () => line.add(() => to.destroy(), arrival()));
}
