import { JsonScan, type Shape } from "./json-scan.ts";

const WANTED: Shape = { model: 1024, stream: 16, background: 16 };

/**
 * Learns `model`, `stream` and `background` of a Messages or Responses request from a copy of its bytes; null where it
 * does not say, or is no JSON. A class, as everything is that is made for each request: of an object literal with
 * getters V8 makes a new shape each time, and through it keeps the request alive until the next full collection.
 */
export class RequestScan {
  readonly #json = new JsonScan(WANTED);

  /** Takes the next bytes of the body, in any chunking; keeps copies only, about a kilobyte at most. */
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
