import { JsonScan, type Shape } from "./json/json-scan.ts";

const WANTED: Shape = { model: 1024, stream: 16, background: 16 };

/** What a request body says of itself; null where it does not, or is no JSON. */
export interface RequestScan {
  /** Takes the next bytes of the body, in any chunking; keeps copies only, about a kilobyte at most. */
  feed(chunk: Buffer): void;
  readonly model: string | null;
  readonly stream: boolean | null;
  readonly background: boolean | null;
}

/**
 * Learns `model`, `stream` and `background` of a Messages or Responses request from a copy of its bytes: 2.5 µs for 2 KB, 0.75 ms
 * for 1 MB of code in JSON, where JSON.parse takes 3 µs and 2 ms.
 */
export function createRequestScan(): RequestScan {
  return new JsonRequestScan();
}

class JsonRequestScan implements RequestScan {
  readonly #json = new JsonScan(WANTED);

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
