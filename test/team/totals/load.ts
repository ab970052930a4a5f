import type { KillableDaemon } from "../../helpers/daemon/killable-daemon.ts";
import { planRequest, type PlannedRequest } from "./requests.ts";

const CONCURRENCY = 12;

/** Clients of a daemon that is killed now and then. */
export class Load {
  readonly #daemon: KillableDaemon;
  readonly #seed: string;
  #sent = 0;
  /** Nonces of the responses with a usage that clients have received whole: the ledger owes a record for each. */
  readonly answered = new Set<string>();

  constructor(daemon: KillableDaemon, seed: string) {
    this.#daemon = daemon;
    this.#seed = seed;
  }

  /** How many requests were sent, including those that were not accepted. */
  get sent(): number {
    return this.#sent;
  }

  /** Sends so many requests, and calls `during` once half of them are sent. Resolves when all of that is over. */
  async send(count: number, during: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const [half, end] = [this.#sent + count / 2, this.#sent + count];
    const disturbances: Promise<void>[] = [];
    const client = async () => {
      while (this.#sent < end) {
        this.#sent += 1;
        const exchange = this.#exchange(planRequest(`${this.#seed}-${this.#sent}`));
        if (this.#sent >= half && disturbances.length === 0) disturbances.push(during());
        await exchange;
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, client));
    await Promise.all(disturbances);
  }

  async #exchange(plan: PlannedRequest): Promise<void> {
    try {
      await this.#request(plan);
    } catch {
      // The daemon was killed, or this is the planned end. Whoever goes on needs one that runs.
      await this.#daemon.up();
    }
  }

  async #request({ nonce, tool, model, route, isStream, ending }: PlannedRequest): Promise<void> {
    const { url } = await this.#daemon.up();
    const leaving = new AbortController();
    const response = await fetch(`${url}/t/${tool}/v1${route}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model,
        stream: isStream,
        metadata: { user_id: nonce },
        messages: [],
        input: "",
      }),
      signal: leaving.signal,
    });
    if (ending.startsWith("client leaves")) {
      await response.body?.getReader().read();
      leaving.abort();
      return;
    }
    await response.arrayBuffer();
    if (response.ok && route !== "/messages/count_tokens") this.answered.add(nonce);
  }
}
