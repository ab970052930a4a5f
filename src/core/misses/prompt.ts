import { isObject } from "../json.ts";
import { PARTS, type PartReader, type Selection } from "../usage/json/json-scanner.ts";
import { MARK_1H, MARK_5M, PartHasher, UNSURE, type Hashing } from "./part-hasher.ts";

/** More messages than this are not compared. */
const MOST_MESSAGES = 500;

/** Stands in the place of a member that a request does not have. */
export const ABSENT = 0;

/** The members that are one part, whatever is in them, by what they are called here. */
const MEMBERS = {
  tools: "tools",
  system: "system",
  instructions: "system",
  tool_choice: "toolChoice",
  thinking: "thinking",
  prompt_cache_key: "cacheKey",
  previous_response_id: "previous",
  reasoning: "others",
  text: "others",
  output_config: "others",
  response_format: "others",
  service_tier: "others",
  speed: "others",
  mcp_servers: "others",
} as const;
type Part = (typeof MEMBERS)[keyof typeof MEMBERS];

const MARK_BYTES = 256;

/** What is read of a request to compare it with others: see {@link PromptHasher}. */
export const PROMPT_PARTS: Selection = {
  ...Object.fromEntries(Object.keys(MEMBERS).map((name) => [name, PARTS])),
  messages: PARTS,
  input: PARTS,
  cache_control: MARK_BYTES,
};

/** A system prompt's first block in Claude Code, which changes and is not part of the prompt (docs/wire.md section 2). */
const ATTRIBUTION = "x-anthropic-billing-header";
const OPEN_BRACE = 0x7b;
/** It begins within so many bytes of its block. */
const ATTRIBUTION_WITHIN = 64;

/** The parts of a prompt as keyed hashes, which are {@link ABSENT} or `UNSURE` for some. */
export interface Prompt extends Readonly<Record<Part, number>> {
  /** The messages, or the items of the input, in their order: the first of them. */
  readonly messages: readonly number[];
  /** The messages that have marks for the cache. */
  readonly marked: readonly number[];
  /** The last message with a mark for the cache; -1 where none has one, and all of them if the whole request has one. */
  readonly lastMarked: number;
  /** The lifetimes of all marks, as the bits of a `PartHasher`; 0 without any. */
  readonly marks: number;
}

/** A prompt that is being read. */
type Draft = { -readonly [Name in Exclude<keyof Prompt, "messages" | "marked">]: Prompt[Name] } & {
  messages: number[];
  marked: number[];
};

/** Hashes the parts of a prompt while its request passes. Keeps no text, and a number for each message. */
export class PromptHasher implements PartReader {
  readonly #hasher: PartHasher;
  readonly #prompt: Draft = {
    tools: ABSENT,
    system: ABSENT,
    toolChoice: ABSENT,
    thinking: ABSENT,
    cacheKey: ABSENT,
    previous: ABSENT,
    others: ABSENT,
    messages: [],
    marked: [],
    lastMarked: -1,
    marks: 0,
  };
  /** What the present member is; null for the messages. */
  #part: Part | null = null;
  /** Before the first bytes of a part of the system prompt: its first byte, else null. */
  #block: number | null = null;
  #isSystem = false;

  constructor(hashing: Hashing) {
    this.#hasher = new PartHasher(hashing);
  }

  beginMember(name: string): void {
    this.#part = Object.hasOwn(MEMBERS, name) ? MEMBERS[name as keyof typeof MEMBERS] : null;
    this.#isSystem = this.#part === "system";
    this.#hasher.reset();
    if (this.#part === null) {
      this.#prompt.messages = [];
      this.#prompt.marked = [];
    } else if (this.#part !== "others") this.#prompt[this.#part] = ABSENT;
  }

  begin(byte: number): boolean {
    if (this.#part === null) this.#hasher.reset();
    if (this.#isSystem) this.#block = byte;
    return this.#hasher.begin(byte);
  }

  read(bytes: Buffer, at: number): number {
    const isOpen = this.#block !== null && !this.#passOverAttribution(bytes, at, this.#block);
    this.#block = null;
    const end = this.#hasher.read(bytes, at);
    if (end !== -1) this.#end();
    else if (isOpen) this.#hasher.markUnsure();
    return end;
  }

  /**
   * Returns what was read. Call it once the request is complete.
   * @param mark `cache_control` of the whole request
   */
  finish(mark: unknown): Prompt {
    const prompt = this.#prompt;
    prompt.lastMarked = prompt.marked.at(-1) ?? -1;
    if (isObject(mark)) {
      prompt.marks |= mark["ttl"] === "1h" ? MARK_1H : MARK_5M;
      prompt.lastMarked = prompt.messages.length - 1;
    }
    return prompt;
  }

  /** Returns false where it is not known yet whether the block is the attribution. */
  #passOverAttribution(bytes: Buffer, at: number, byte: number): boolean {
    const end = at + ATTRIBUTION_WITHIN + ATTRIBUTION.length;
    const isFound = bytes.subarray(at, end).includes(ATTRIBUTION);
    if (isFound && byte === OPEN_BRACE) this.#hasher.passOver();
    else if (isFound) this.#hasher.markUnsure();
    return isFound || end <= bytes.length;
  }

  #end(): void {
    const { hash, marks } = this.#hasher;
    const prompt = this.#prompt;
    prompt.marks |= marks;
    if (this.#part === "others") prompt.others = join(prompt.others, hash);
    else if (this.#part !== null) prompt[this.#part] = hash;
    else {
      if (prompt.messages.length === MOST_MESSAGES) return;
      if (marks !== 0) prompt.marked.push(prompt.messages.length);
      prompt.messages.push(hash);
    }
  }
}

function join(one: number, other: number): number {
  return one === UNSURE || other === UNSURE ? UNSURE : ((one % 2 ** 40) * 31 + other) % 2 ** 52;
}

/** Returns the hash that a text has as a member of a request, if the request writes it as `JSON.stringify` does. */
export function hashText(text: string, hashing: Hashing): number {
  const bytes = Buffer.from(JSON.stringify(text));
  const hasher = new PartHasher(hashing);
  hasher.reset();
  hasher.begin(bytes[0] ?? 0);
  hasher.read(bytes, 1);
  return hasher.hash;
}
