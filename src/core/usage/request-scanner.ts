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
  /** Returns the hashes of the prompt. null until the body is complete, and where they are not wanted. */
  readonly readPrompt: (() => Prompt) | null;
}

/** @param hashing of the prompt; null where that is not needed */
export function createRequestScanner(hashing: Hashing | null = null): RequestScanner {
  return new JsonRequestScanner(hashing);
}

/** The prompt of a body of at most so many bytes, if it came in one chunk, is hashed only when it is read: of most it never is. */
const HASHED_LATER_BYTES = 4096;

/**
 * Reads the body of a Messages or Responses request. Each value is null when the body does not have it, or is not JSON. Takes
 * 2.5 µs for 2 KB and 0.75 ms for 1 MB of code in JSON, where JSON.parse takes 3 µs and 2 ms.
 */
class JsonRequestScanner implements RequestScanner {
  readonly videoSeconds = null;
  readonly #hashing: Hashing | null;
  #json = new JsonScanner(SELECTION);
  /** Hashes the prompt as it passes; null where that is not wanted, or left for later. */
  #passing: HashingScanner | null = null;
  #hasBegun = false;
  /** A copy of a small body, while it is all that came. */
  #unhashed: Buffer | null = null;
  #prompt: Prompt | null = null;

  constructor(hashing: Hashing | null) {
    this.#hashing = hashing;
  }

  feed(chunk: Buffer): void {
    if (this.#hashing !== null && this.#passing === null) {
      if (!this.#hasBegun && chunk.length <= HASHED_LATER_BYTES) this.#unhashed = Buffer.from(chunk);
      else this.#hashFromNowOn(this.#hashing);
      this.#hasBegun = true;
    }
    this.#json.feed(chunk);
  }

  #hashFromNowOn(hashing: Hashing): void {
    this.#passing = startHashing(hashing);
    this.#json = this.#passing.json;
    if (this.#unhashed !== null) this.#json.feed(this.#unhashed);
    this.#unhashed = null;
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

  get readPrompt(): (() => Prompt) | null {
    const hashing = this.#hashing;
    if (hashing === null || !this.#json.isComplete) return null;
    return () => (this.#prompt ??= this.#hashPrompt(hashing));
  }

  #hashPrompt(hashing: Hashing): Prompt {
    const { json, hasher } = this.#passing ?? startHashing(hashing);
    // It stays: a space may still follow.
    if (this.#unhashed !== null) json.feed(this.#unhashed);
    return hasher.finish(json.fields["cache_control"]);
  }

  #readFlag(name: string): boolean | null {
    const value = this.#read(name);
    return typeof value === "boolean" ? value : null;
  }

  #read(name: string): unknown {
    return this.#json.isBroken ? null : this.#json.fields[name];
  }
}

/** Reads a body while it hashes its prompt. */
interface HashingScanner {
  readonly json: JsonScanner;
  readonly hasher: PromptHasher;
}

function startHashing(hashing: Hashing): HashingScanner {
  const hasher = new PromptHasher(hashing);
  return { json: new JsonScanner(SELECTION_WITH_PROMPT, null, null, hasher), hasher };
}
