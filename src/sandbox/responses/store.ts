import type { ResponseObject } from "./response.ts";
import type { Billed } from "../tally.ts";

const KEPT = 200;

/** A response kept for later, with what it costs once it is finished. */
export interface StoredResponse {
  /** Name of the key that made it; no other sees it. */
  owner: string;
  response: ResponseObject;
  /** null once billed: fetching again costs nothing. */
  unbilled: Billed | null;
}

/** Finished responses by id, the newest few. */
export class ResponseStore {
  readonly #responses = new Map<string, StoredResponse>();

  keep(stored: StoredResponse): void {
    this.#responses.set(stored.response.id, stored);
    for (const oldest of this.#responses.keys()) {
      if (this.#responses.size <= KEPT) break;
      this.#responses.delete(oldest);
    }
  }

  find(id: string, owner: string): StoredResponse | undefined {
    const stored = this.#responses.get(id);
    return stored?.owner === owner ? stored : undefined;
  }
}
