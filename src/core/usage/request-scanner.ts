import { JsonScanner, type Selection } from "./json/json-scanner.ts";

const SELECTION: Selection = { model: 1024, stream: 16, background: 16 };

/** What is read of a request's body. Each value is null where the body does not have it. */
export interface RequestScanner {
  /** Takes the next bytes of the body, in any chunking. Keeps copies only. */
  feed(chunk: Buffer): void;
  readonly model: string | null;
  readonly stream: boolean | null;
  readonly background: boolean | null;
}

export function createRequestScanner(): RequestScanner {
  return new JsonRequestScanner();
}

/**
 * Reads the body of a Messages or Responses request. Each value is null when the body does not have it, or is not JSON. Takes
 * 2.5 µs for 2 KB and 0.75 ms for 1 MB of code in JSON, where JSON.parse takes 3 µs and 2 ms.
 */
class JsonRequestScanner implements RequestScanner {
  readonly #json = new JsonScanner(SELECTION);

  /** Takes the next bytes of the body, in any chunking. Keeps copies only, about a kilobyte at most. */
  feed(chunk: Buffer): void {
    this.#json.feed(chunk);
  }

  get model(): string | null {
    const value = this.#read("model");
    return typeof value === "string" ? value : null;
  }

  get stream(): boolean | null {
    return this.#readFlag("stream");
  }

  get background(): boolean | null {
    return this.#readFlag("background");
  }

  #readFlag(name: string): boolean | null {
    const value = this.#read(name);
    return typeof value === "boolean" ? value : null;
  }

  #read(name: string): unknown {
    return this.#json.isBroken ? null : this.#json.fields[name];
  }
}
