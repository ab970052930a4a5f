import type { Hashing } from "../misses/part-hasher.ts";
import { PROMPT_PARTS, PromptHasher, type Prompt } from "../misses/prompt.ts";
import { JsonScanner, type Selection } from "./json/json-scanner.ts";

const SELECTION: Selection = { model: 1024, stream: 16, background: 16 };
const SELECTION_WITH_PROMPT: Selection = { ...SELECTION, ...PROMPT_PARTS };

/** What is read of a request's body. Each value is null where the body does not have it. */
export interface RequestScanner {
  /** Takes the next bytes of the body, in any chunking. Keeps copies only. */
  feed(chunk: Buffer): void;
  readonly model: string | null;
  readonly stream: boolean | null;
  readonly background: boolean | null;
  /** How long the films are together that it asks for, in seconds; null where it does not say. */
  readonly videoSeconds: number | null;
  /** The hashes of the prompt, once the body is complete; null before, and where they are not read. */
  readonly prompt: Prompt | null;
}

/** @param hashing of the prompt; null where that is not needed */
export function createRequestScanner(hashing: Hashing | null = null): RequestScanner {
  return new JsonRequestScanner(hashing);
}

/**
 * Reads the body of a Messages or Responses request. Each value is null when the body does not have it, or is not JSON. Takes
 * 2.5 µs for 2 KB and 0.75 ms for 1 MB of code in JSON, where JSON.parse takes 3 µs and 2 ms.
 */
class JsonRequestScanner implements RequestScanner {
  readonly videoSeconds = null;
  readonly #hasher: PromptHasher | null;
  readonly #json: JsonScanner;
  #prompt: Prompt | null = null;

  constructor(hashing: Hashing | null) {
    this.#hasher = hashing === null ? null : new PromptHasher(hashing);
    const selection = hashing === null ? SELECTION : SELECTION_WITH_PROMPT;
    this.#json = new JsonScanner(selection, null, null, this.#hasher);
  }

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

  get prompt(): Prompt | null {
    if (this.#hasher === null || !this.#json.isComplete) return null;
    return (this.#prompt ??= this.#hasher.finish(this.#json.fields["cache_control"]));
  }

  #readFlag(name: string): boolean | null {
    const value = this.#read(name);
    return typeof value === "boolean" ? value : null;
  }

  #read(name: string): unknown {
    return this.#json.isBroken ? null : this.#json.fields[name];
  }
}
