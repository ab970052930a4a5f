import type { Load, Outcome } from "./load.ts";
import { Worker } from "./worker.ts";

/** The load client's process, as the bench sees it. */
export class LoadClient {
  readonly #worker = new Worker("client.ts");

  /** Resolves once it runs. */
  async start(): Promise<void> {
    await this.#worker.next();
  }

  get pid(): number {
    return this.#worker.pid;
  }

  /** Opens what the load needs to be open. */
  async prepare(load: Load): Promise<void> {
    this.#worker.send(load);
    await this.#worker.next();
  }

  /** Runs what was prepared. */
  async run(): Promise<Outcome> {
    this.#worker.send("run");
    return (await this.#worker.next()) as Outcome;
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }
}
