import type { JsonObject } from "../../core/json.ts";
import type { ResponseObject } from "./response.ts";
import type { BilledTokens } from "../tally.ts";

const MAX_RESPONSES = 200;

/** A stored response, with the tokens that are still to be billed. */
interface StoredResponse {
  /** Name of the key that created it. Other keys do not find it. */
  owner: string;
  response: ResponseObject;
  /** What was put in, as the request has it. */
  input: JsonObject[];
  /** null once billed: later fetches are free. */
  unbilled: BilledTokens | null;
}

/** The newest responses by id. */
export class ResponseStore {
  readonly #others: ResponseStore | null;
  readonly #responses = new Map<string, StoredResponse>();

  /** @param others where responses are found that this one does not have; null for none */
  constructor(others: ResponseStore | null = null) {
    this.#others = others;
  }

  keep(stored: StoredResponse): void {
    this.#responses.set(stored.response.id, stored);
    const [oldest = ""] = this.#responses.keys();
    if (this.#responses.size > MAX_RESPONSES) this.#responses.delete(oldest);
  }

  find(id: string, owner: string): StoredResponse | undefined {
    const stored = this.#responses.get(id);
    return stored?.owner === owner ? stored : this.#others?.find(id, owner);
  }

  remove(id: string): void {
    this.#responses.delete(id);
    this.#others?.remove(id);
  }
}
