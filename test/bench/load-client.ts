import type { Load, Outcome } from "./load.ts";
import { Worker } from "./worker.ts";

/** Controls the process of the load client. */
export class LoadClient {
  readonly #worker = new Worker("client.ts");

  /** Starts the process. */
  async start(): Promise<void> {
    await this.#worker.next();
  }

  get pid(): number {
    return this.#worker.pid;
  }

  /** Opens the connections that the load needs. */
  async prepare(load: Load): Promise<void> {
    this.#worker.send(load);
    await this.#worker.next();
  }

  /** Runs the prepared load. */
  async run(): Promise<Outcome> {
    this.#worker.send("run");
    return (await this.#worker.next()) as Outcome;
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }
}
