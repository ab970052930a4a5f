import { isSpecial } from "../price/modifier-kinds.ts";
import { estimateTokens } from "../usage/estimate-tokens.ts";
import { copyBytes, findName, isSpace } from "../usage/bytes.ts";
import { readMediaTokens } from "./media-tokens.ts";
import { ASSUMED_CONTEXT, ASSUMED_OUTPUT, type BodySize } from "./budget-request.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The start of a name, a value or a file that is kept. No name or number that matters is longer. */
const HEAD_BYTES = 96;

/** How far a loop looks for the end of a string. */
const NEAR_BYTES = 48;

/** Deeper than any request. What is deeper is text. */
const MAX_DEPTH = 512;

/** A picture that the service fetches by its address. */
const PICTURE_BY_ADDRESS = 5_000;

/** Members at the top that limit the output of one choice: of messages and chat, of chat, of responses, and Google's and Bedrock's in their sections. */
const OUTPUT_LIMITS: ReadonlySet<string> = new Set([
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "maxoutputtokens",
  "maxtokens",
]);

/**
 * Members at the top that say how many choices are generated; `best_of` generates all and returns the best. Imagen and Veo have theirs in
 * `parameters`.
 */
const CHOICES: ReadonlySet<string> = new Set([
  "n",
  "best_of",
  "candidatecount",
  "candidate_count",
  "samplecount",
]);

/** Members at the top that may make a request dearer, and what of its price they change. */
const TERMS = { service_tier: "tier", speed: "speed", inference_geo: "region" } as const;

/**
 * The same in other words: Google's tier, and Bedrock's, which are the members `type` and `latency` of objects. A latency that is `optimized`
 * is a speed.
 */
const OTHER_TERMS: Readonly<Record<string, keyof typeof TERMS>> = {
  servicetier: "service_tier",
  "servicetier.type": "service_tier",
  "performanceconfig.latency": "speed",
};

/** Tiers that are no dearer. The service need not give what is cheaper, so they lower nothing. */
const NO_DEARER: ReadonlySet<string> = new Set(["standard_only", "batch", "flex"]);

/** Members at the top that are objects with some of the above in them. LiteLLM adds all of `extra_body` to the request. */
const SECTIONS: ReadonlySet<string> = new Set([
  "thinking",
  "reasoning",
  "extra_body",
  "conversation",
  "generationconfig",
  "generation_config",
  "inferenceconfig",
  "parameters",
  "servicetier",
  "performanceconfig",
]);

/** Deeper members that matter: those that hold a file, those in which everything is text for the model, and how long a cache is to last. */
const DEEP_NAMES = {
  data: 0,
  bytes: 0,
  url: 0,
  image_url: 0,
  file_data: 0,
  file_id: 0,
  file_url: 0,
  source: 0,
  input_audio: 0,
  inlineData: 0,
  inline_data: 0,
  input: 0,
  arguments: 0,
  input_schema: 0,
  parameters: 0,
  schema: 0,
  ttl: 0,
} as const;

/** How long caches last unless more is paid: of Anthropic, of OpenAI (docs/wire.md section 11). */
const USUAL_LIFETIMES: ReadonlySet<string> = new Set(["5m", "30m", "in_memory", "in-memory"]);

/** What tools get and are described by: text for the model, whatever it looks like. */
const TEXT_MEMBERS: ReadonlySet<string> = new Set([
  "input",
  "arguments",
  "input_schema",
  "parameters",
  "schema",
]);

/** Members that hold base64 without saying so, by what they are in. */
const RAW_FILES: ReadonlySet<string> = new Set(["source", "input_audio", "inlineData", "inline_data"]);

/**
 * Reads from a JSON body what its request may spend: its text, its files, and the output that it allows (docs/budgets.md). It reads as
 * the most lenient service would: numbers in quotes, names in another spelling or letter case, and of several limits the largest.
 *
 * Keeps copies only, about 100 bytes, and an entry for each open bracket. Costs 0.05 ms for 1 MB of base64, and 1 ms for 1 MB of code.
 */
export class SizeReader {
  #bytes = 0;
  /** Bytes of files, which are no text, and the tokens to assume for them. */
  #fileBytes = 0;
  #fileTokens = 0;
  /** How many things the service reads that are not in the body. */
  #unseen = 0;
  #previous: string | null = null;
  #limit: number | null = null;
  #choices = 1;
  #seconds: number | null = null;
  #thinking = 0;
  #prompts = 0;
  /** Google's: each is made as often as there are choices. */
  #instances = 0;
  #cachesLong = false;
  #reasons: boolean | null = null;
  readonly #terms: Record<keyof typeof TERMS, string | null> = {
    service_tier: null,
    speed: null,
    inference_geo: null,
  };

  /** For each open bracket: whether it is an object's, and the name of the member that it is the value of. */
  readonly #areObjects: boolean[] = [];
  readonly #names: string[] = [];
  /** The number of open brackets outside of which a member is text; 0 where none is. */
  #textFrom = 0;
  #expectsName = false;
  /** The name of the member whose value is read, as far as it matters; empty for others. */
  #name = "";

  #isInString = false;
  #isName = false;
  #isEscaped = false;
  #isKept = false;
  readonly #head = Buffer.allocUnsafe(HEAD_BYTES);
  #headLength = 0;
  #length = 0;
  /** The characters of a number or word that matters; null outside of one. */
  #scalar: string | null = null;

  /** What the request may spend, by what was read so far. */
  get size(): BodySize {
    const text = estimateTokens(this.#bytes - this.#fileBytes);
    return {
      input: text + this.#fileTokens + this.#unseen * ASSUMED_CONTEXT,
      output: this.#readOutput(),
      previous: this.#previous,
      cachesLong: this.#cachesLong,
      reasons: this.#reasons,
      tier: this.#terms.service_tier,
      speed: this.#terms.speed,
      geo: this.#terms.inference_geo,
      choices: this.#choices * Math.max(1, this.#instances),
      seconds: this.#seconds,
      parts: null,
    };
  }

  /** Takes the next bytes of the body. */
  feed(bytes: Buffer): void {
    this.#bytes += bytes.length;
    let at = 0;
    while (at < bytes.length)
      at = this.#isInString ? this.#readString(bytes, at) : this.#readStructure(bytes, at);
  }

  #readOutput(): number {
    const limit = this.#limit ?? Math.max(ASSUMED_OUTPUT, this.#thinking);
    // Where thinking alternates with calls of tools, its budget may be above the limit.
    const most = limit + (this.#thinking > limit ? this.#thinking : 0);
    return most * this.#choices * Math.max(1, this.#prompts);
  }

  #readStructure(bytes: Buffer, at: number): number {
    const byte = bytes[at] ?? 0;
    if (this.#scalar !== null && !isDelimiter(byte)) {
      if (this.#scalar.length < HEAD_BYTES) this.#scalar += String.fromCharCode(byte);
      return at + 1;
    }
    this.#endScalar();
    switch (byte) {
      case QUOTE:
        this.#beginString();
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#open(byte === OPEN_BRACE);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#close();
        break;
      case COMMA:
        this.#expectsName = this.#areObjects.at(-1) === true;
        if (this.#expectsName) this.#name = "";
        break;
      case COLON:
        this.#expectsName = false;
        break;
      default:
        if (this.#name !== "" && !isSpace(byte)) this.#scalar = String.fromCharCode(byte);
    }
    return at + 1;
  }

  #open(isObject: boolean): void {
    const depth = this.#areObjects.length;
    this.#countPrompt(depth);
    if (depth < MAX_DEPTH) {
      this.#areObjects.push(isObject);
      this.#names.push(this.#name);
    }
    if (depth > 1 && this.#textFrom === 0 && TEXT_MEMBERS.has(this.#name)) this.#textFrom = depth;
    if (depth === 1 && this.#name === "conversation") this.#unseen += 1;
    if (depth === 1 && this.#name === "prompt" && isObject) this.#unseen += 1;
    this.#name = "";
    this.#expectsName = isObject;
  }

  #close(): void {
    this.#areObjects.pop();
    this.#names.pop();
    if (this.#areObjects.length <= this.#textFrom) this.#textFrom = 0;
    this.#name = "";
    this.#expectsName = false;
  }

  /** A completion for each of several prompts, and a picture or film for each instance. */
  #countPrompt(depth: number): void {
    if (depth !== 2) return;
    if (this.#names[1] === "prompt") this.#prompts += 1;
    else if (this.#names[1] === "instances") this.#instances += 1;
  }

  #beginString(): void {
    this.#isInString = true;
    this.#isEscaped = false;
    this.#isName = this.#expectsName;
    this.#isKept = this.#isName || this.#name !== "";
    this.#headLength = 0;
    this.#length = 0;
    if (!this.#isName) this.#countPrompt(this.#areObjects.length);
  }

  /** Reads from inside a string to after its closing quote: the first that follows an even number of backslashes. */
  #readString(bytes: Buffer, start: number): number {
    for (let at = start; ;) {
      const quote = findQuote(bytes, at);
      const end = quote === -1 ? bytes.length : quote;
      let slash = end;
      while (slash > at && bytes[slash - 1] === BACKSLASH) slash--;
      const isOdd = (end - slash) % 2 === 1;
      const isEscaped = slash === at && this.#isEscaped ? !isOdd : isOdd;
      this.#isEscaped = quote === -1 && isEscaped;
      if (quote !== -1 && isEscaped) {
        at = quote + 1;
        continue;
      }
      this.#keep(bytes, start, end);
      if (quote === -1) return bytes.length;
      this.#isInString = false;
      this.#endString();
      return quote + 1;
    }
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    this.#length += to - from;
    if (!this.#isKept || this.#headLength === HEAD_BYTES) return;
    const end = Math.min(to, from + HEAD_BYTES - this.#headLength);
    this.#headLength += copyBytes(bytes, from, end, this.#head, this.#headLength);
  }

  #endString(): void {
    if (this.#isName) this.#name = this.#readName();
    else if (this.#name !== "") this.#takeText();
  }

  /** Returns the name of a member if it matters where it stands, else an empty string. */
  #readName(): string {
    const depth = this.#areObjects.length;
    if (depth === 1 || (depth === 2 && SECTIONS.has(this.#names[1] ?? "")))
      return this.#length > HEAD_BYTES ? "" : readLoosely(this.#headText());
    return this.#length > HEAD_BYTES ? "" : findName(DEEP_NAMES, this.#head, 0, this.#headLength);
  }

  #headText(): string {
    return this.#head.toString("latin1", 0, this.#headLength);
  }

  /** Takes a text that belongs to a name that matters. */
  #takeText(): void {
    const depth = this.#areObjects.length;
    if (depth === 1 || (depth === 2 && SECTIONS.has(this.#names[1] ?? ""))) this.#takeValue(this.#headText());
    else if (this.#textFrom === 0 && this.#name === "ttl") this.#takeLifetime(this.#headText());
    else if (this.#textFrom === 0) this.#takeFile();
  }

  #takeFile(): void {
    const within = this.#names.at(-1) ?? "";
    switch (this.#name) {
      case "file_id":
      case "file_url":
        this.#unseen += 1;
        return;
      case "data":
      case "bytes":
        if (!RAW_FILES.has(within)) return;
        break;
      case "url":
        if (within !== "image_url" && within !== "source") return;
        break;
      case "image_url":
      case "file_data":
        break;
      default:
        return;
    }
    const start = this.#headText().replaceAll("\\", "");
    if (/^https?:/i.test(start)) this.#fileTokens += PICTURE_BY_ADDRESS;
    const tokens = readMediaTokens(start, this.#length);
    if (tokens === null) return;
    this.#fileBytes += this.#length;
    this.#fileTokens += tokens;
  }

  #endScalar(): void {
    const scalar = this.#scalar;
    this.#scalar = null;
    if (scalar !== null) this.#takeValue(scalar);
  }

  /** Takes a value of a member at the top, or of one of the sections there. */
  #takeValue(value: string): void {
    const depth = this.#areObjects.length;
    const section = depth === 2 ? (this.#names[1] ?? "") : "extra_body";
    const name = this.#name;
    if (name === "ttl" && this.#textFrom === 0) this.#takeLifetime(value);
    if (depth > 2 || value === "null") return;
    if (section === "thinking" || section === "reasoning") this.#takeReasoning(name, value);
    else if (section === "servicetier" || section === "performanceconfig")
      this.#takeOtherTerm(`${section}.${name}`, value);
    else if (section === "extra_body" || /^(?:generation|inference|parameters)/.test(section))
      this.#takeTop(name, value);
  }

  #takeTop(name: string, value: string): void {
    if (OUTPUT_LIMITS.has(name)) this.#limit = larger(this.#limit, readCount(value));
    else if (CHOICES.has(name)) this.#choices = Math.max(this.#choices, readCount(value) ?? 1);
    else if (name === "durationseconds") this.#seconds = larger(this.#seconds, readCount(value));
    else if (name === "previous_response_id") this.#previous = value;
    else if (name === "conversation") this.#unseen += 1;
    else if (name === "prompt_cache_retention") this.#takeLifetime(value);
    else if (name === "reasoning_effort") this.#reasons = value !== "none";
    else if (isTerm(name)) this.#takeTerm(name, readLoosely(value));
    else this.#takeOtherTerm(name, value);
  }

  #takeOtherTerm(name: string, value: string): void {
    const term = Object.hasOwn(OTHER_TERMS, name) ? OTHER_TERMS[name] : undefined;
    if (term !== undefined) this.#takeTerm(term, readLoosely(value));
  }

  /** What is given twice may mean either: the usual never counts, and two that are not have no price that is known. */
  #takeTerm(name: keyof typeof TERMS, value: string): void {
    const first = this.#terms[name];
    if (!isSpecial(TERMS[name], value) || NO_DEARER.has(value) || value === first) return;
    this.#terms[name] = first === null ? value : `${first} or ${value}`.slice(0, HEAD_BYTES);
  }

  #takeLifetime(value: string): void {
    if (value !== "null" && !USUAL_LIFETIMES.has(value)) this.#cachesLong = true;
  }

  /** Reads `thinking` of messages, `reasoning` of responses and of gateways. */
  #takeReasoning(name: string, value: string): void {
    if (name === "budget_tokens" || OUTPUT_LIMITS.has(name))
      this.#thinking = Math.max(this.#thinking, readCount(value) ?? 0);
    if (name === "type" || name === "effort") this.#reasons = value !== "disabled" && value !== "none";
    if (name === "enabled") this.#reasons = value === "true";
  }
}

function isTerm(name: string): name is keyof typeof TERMS {
  return Object.hasOwn(TERMS, name);
}

/** Returns the offset of the next quote, or -1. In short strings a loop is faster than `indexOf`, whose call alone takes 0.1 µs. */
function findQuote(bytes: Buffer, from: number): number {
  const near = Math.min(bytes.length, from + NEAR_BYTES);
  for (let at = from; at < near; at++) if (bytes[at] === QUOTE) return at;
  return bytes.indexOf(QUOTE, near);
}

function larger(one: number | null, other: number | null): number | null {
  return other === null ? one : Math.max(one ?? 0, other);
}

/** Returns a number as lenient services read it, in quotes too, rounded up; null for what limits nothing. */
function readCount(text: string): number | null {
  const value = Number(text);
  return text.trim() === "" || Number.isNaN(value) || value <= 0 ? null : Math.ceil(value);
}

/** Returns a member's name as some decoder could take it: without escapes, in lower case, and without bytes that it drops. */
function readLoosely(raw: string): string {
  if (/^[a-z_]+$/.test(raw)) return raw;
  const name = raw.replaceAll(/\\u([0-9a-f]{4})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return name.replaceAll(/[^\x21-\x7e]/g, "").toLowerCase();
}

function isDelimiter(byte: number): boolean {
  return (
    isSpace(byte) ||
    byte === COMMA ||
    byte === CLOSE_BRACE ||
    byte === CLOSE_BRACKET ||
    byte === COLON ||
    byte === QUOTE
  );
}
