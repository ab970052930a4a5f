import type { RunningRequest } from "../../../../core/ledger/running-request.ts";
import type { FeedEntry } from "../feed-types.ts";
import { readRecords } from "../feeds.ts";
import { costSoFar } from "./cost-so-far.ts";

/** What is asked of a model that no request of the page had. */
const ASKED = { lines: "20", since: "30d" };

/** What running requests cost at least, by the prices of those that ended: of the ones that the page has, and else of the last 30 days. */
export class RunningCosts {
  readonly #found: FeedEntry[] = [];
  /** So that each model is asked for once. */
  readonly #asked = new Set<string>();

  /** In dollars; null where that is not known. */
  of(request: RunningRequest, ended: readonly FeedEntry[]): number | null {
    return costSoFar(request, [...ended, ...this.#found]);
  }

  /** Asks for requests of one model whose prices are missing. */
  async read(running: readonly RunningRequest[], ended: readonly FeedEntry[]): Promise<void> {
    const request = running.find(
      (one) => one.tokens !== null && !this.#asked.has(nameOf(one)) && this.of(one, ended) === null,
    );
    if (request === undefined || request.model === null) return;
    this.#asked.add(nameOf(request));
    const question = { ...ASKED, model: request.model, upstream: request.upstream };
    // Without an answer there is no cost, as without such a request.
    this.#found.push(...(await readRecords(question).catch(() => [])));
  }
}

function nameOf({ model, upstream }: RunningRequest): string {
  return JSON.stringify([upstream, model]);
}
