import { ModelReader } from "./model-reader.ts";
import { OPEN_BRACE, OPEN_BRACKET, QUOTE, StrictJsonReader } from "./strict-json.ts";

/** More models than any batch asks for: each is kept. */
const MAX_MODELS = 100;

/** How deep the members of a request of the batch are: `{"requests": [{"params": …`. */
const IN_BATCH = 1;
const IN_LIST = 2;
const IN_REQUEST = 3;

/** What each member of a request of the batch begins with. */
const MEMBERS = { custom_id: QUOTE, params: OPEN_BRACE } as const;

/**
 * Reads which models a batch of Anthropic's asks for (docs/wire.md section 13), in any chunking, so that the upstream will read the same. The
 * `params` of each request are read as the body of a single message is, by a {@link ModelReader}. Around them it accepts strict JSON only, with the
 * members that the API has, each once: what else a service may read there is not known.
 */
export class BatchReader extends StrictJsonReader {
  readonly #models = new Map<string, number>();
  #entry = 0;
  #hasRequests = false;
  /** The members that the request has so far. */
  readonly #members = new Set<string>();
  /** What the next value has to begin with, and what is said if it does not; null where any may. */
  #next: { byte: number; fault: string } | null = null;
  /** Reads the params; null outside of these. */
  #params: ModelReader | null = null;
  /** The chunk that is being read, where it begins in the body, and up to where the params have it. */
  #chunk: Buffer = Buffer.alloc(0);
  #chunkFrom = 0;
  #readTo = 0;

  /** The models, each with the index of the first request that names it. */
  get models(): ReadonlyMap<string, number> {
    return this.#models;
  }

  override feed(bytes: Buffer): void {
    this.#chunk = bytes;
    this.#chunkFrom = this.bytes;
    super.feed(bytes);
    if (this.#params !== null) this.#readParams(this.#params, this.bytes);
    this.#chunk = Buffer.alloc(0);
  }

  /** Ends the body. Returns what is wrong with it as a whole; null when each of its requests names one model. */
  finish(): string | null {
    if (this.fault !== null) return this.fault;
    if (this.endsAt === null) return "the body is not complete JSON";
    return this.#models.size === 0 ? "the batch has no requests" : null;
  }

  protected wantsNames(): boolean {
    return this.depth === IN_BATCH || this.depth === IN_REQUEST;
  }

  protected takeName(raw: Buffer | null): void {
    if (this.depth !== IN_BATCH && this.depth !== IN_REQUEST) return;
    const name = raw?.toString("latin1") ?? "";
    if (this.depth === IN_BATCH) return this.#takeList(name);
    if (name !== "custom_id" && name !== "params")
      return this.fail(`${this.#where} has a member besides "custom_id" and "params"`);
    if (this.#members.has(name)) return this.fail(`${this.#where} has two "${name}"`);
    this.#members.add(name);
    this.#next = { byte: MEMBERS[name], fault: `"${name}" of ${this.#where} is of the wrong type` };
  }

  #takeList(name: string): void {
    if (name !== "requests") return this.fail(`the batch has a member besides "requests"`);
    if (this.#hasRequests) return this.fail(`the batch has two "requests"`);
    this.#hasRequests = true;
    this.#next = { byte: OPEN_BRACKET, fault: `"requests" is not a list` };
  }

  protected beginValue(byte: number): boolean {
    if (this.depth === IN_LIST && byte !== OPEN_BRACE) this.fail(`${this.#where} is not an object`);
    if (this.#next !== null && byte !== this.#next.byte) this.fail(this.#next.fault);
    this.#next = null;
    return false;
  }

  protected takeValue(): void {}

  protected override afterOpen(offset: number): void {
    if (this.depth !== IN_REQUEST + 1) return;
    this.#params = new ModelReader(true);
    this.#readTo = offset;
  }

  protected override afterClose(offset: number): void {
    if (this.depth === IN_REQUEST && this.#params !== null) this.#endParams(this.#params, offset + 1);
    else if (this.depth === IN_LIST) this.#endRequest();
  }

  #readParams(params: ModelReader, to: number): void {
    params.feed(this.#chunk.subarray(this.#readTo - this.#chunkFrom, to - this.#chunkFrom));
    this.#readTo = to;
  }

  #endParams(params: ModelReader, to: number): void {
    this.#readParams(params, to);
    this.#params = null;
    const fault = params.finish();
    if (fault !== null) return this.fail(`the params of ${this.#where}: ${fault}`);
    const { model = "" } = params.place ?? {};
    if (!this.#models.has(model)) this.#models.set(model, this.#entry);
    if (this.#models.size > MAX_MODELS) this.fail(`the batch names more than ${MAX_MODELS} models`);
  }

  #endRequest(): void {
    if (!this.#members.has("params")) return this.fail(`${this.#where} has no "params"`);
    this.#members.clear();
    this.#entry += 1;
  }

  get #where(): string {
    return describeEntry(this.#entry);
  }
}

/** Names a request of a batch by its index. */
export function describeEntry(index: number): string {
  return `requests[${index}]`;
}
