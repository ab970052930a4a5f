import { ASSUMED_CONTEXT, NO_SIZE, type BatchPart, type BodySize } from "../budget/budget-request.ts";
import { MAX_INPUT, MAX_OUTPUT } from "../budget/most-tokens.ts";
import { SizeReader } from "../budget/size-reader.ts";
import { BATCH_TIER } from "../usage/batch.ts";
import { ModelReader } from "./model-reader.ts";
import { OPEN_BRACE, OPEN_BRACKET, QUOTE, StrictJsonReader } from "./strict-json.ts";

/** More models than any batch asks for: each is kept. */
const MAX_MODELS = 100;

/** More kinds of requests than any batch has: each is kept, and priced by itself. */
const MAX_PARTS = 1_000;

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
  readonly #parts = new Map<string, BatchPart>();
  #entry = 0;
  #hasRequests = false;
  /** The members that the request has so far. */
  readonly #members = new Set<string>();
  /** What the next value has to begin with, and what is said if it does not; null where any may. */
  #next: { byte: number; fault: string } | null = null;
  /** Read the params; null outside of these. */
  #params: Params | null = null;
  /** The chunk that is being read, where it begins in the body, and up to where the params have it. */
  #chunk: Buffer = Buffer.alloc(0);
  #chunkFrom = 0;
  #readTo = 0;
  readonly #only: readonly string[];

  /** @param only as for {@link ModelReader} */
  constructor(only: readonly string[]) {
    super();
    this.#only = only;
  }

  /** The models, each with the index of the first request that names it. */
  get models(): ReadonlyMap<string, number> {
    return this.#models;
  }

  /** What all of its requests may spend, each as a single message would, at the price of a batch. */
  get size(): BodySize {
    const parts = [...this.#parts.values()];
    return {
      ...NO_SIZE,
      input: parts.reduce((sum, { input }) => sum + input, 0),
      output: parts.reduce((sum, { output }) => sum + output, 0),
      cachesLong: parts.some(({ cachesLong }) => cachesLong),
      tier: BATCH_TIER,
      speed: eitherOf(parts.map(({ speed }) => speed)),
      geo: eitherOf(parts.map(({ geo }) => geo)),
      parts,
    };
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
    this.#params = { models: new ModelReader(this.#only), sizes: new SizeReader() };
    this.#readTo = offset;
  }

  protected override afterClose(offset: number): void {
    if (this.depth === IN_REQUEST && this.#params !== null) this.#endParams(this.#params, offset + 1);
    else if (this.depth === IN_LIST) this.#endRequest();
  }

  #readParams({ models, sizes }: Params, to: number): void {
    const bytes = this.#chunk.subarray(this.#readTo - this.#chunkFrom, to - this.#chunkFrom);
    models.feed(bytes);
    sizes.feed(bytes);
    this.#readTo = to;
  }

  #endParams(params: Params, to: number): void {
    this.#readParams(params, to);
    this.#params = null;
    const fault = params.models.finish();
    if (fault !== null) return this.fail(`the params of ${this.#where}: ${fault}`);
    const { model = "" } = params.models.place ?? {};
    this.#addSize(model, params.sizes.size);
    if (!this.#models.has(model)) this.#models.set(model, this.#entry);
    if (this.#models.size > MAX_MODELS) this.fail(`the batch names more than ${MAX_MODELS} models`);
  }

  /** Adds what a request may spend to those for the same model on the same terms, whose prompts are less than twice as long, or as short. */
  #addSize(model: string, size: BodySize): void {
    const { cachesLong, speed, geo } = size;
    const input = Math.min(size.input + (size.previous === null ? 0 : ASSUMED_CONTEXT), MAX_INPUT);
    const output = Math.min(size.output, MAX_OUTPUT);
    const kind = JSON.stringify([model, cachesLong, speed, geo, Math.floor(Math.log2(input + 1))]);
    const part = this.#parts.get(kind) ?? { model, input: 0, output: 0, longest: 0, cachesLong, speed, geo };
    part.input += input;
    part.output += output;
    part.longest = Math.max(part.longest, input);
    this.#parts.set(kind, part);
    if (this.#parts.size > MAX_PARTS) this.fail(`the batch has more than ${MAX_PARTS} kinds of requests`);
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

/** What reads the params of a request. */
interface Params {
  models: ModelReader;
  sizes: SizeReader;
}

/** Returns the one value of those that are not null; all of them where there are several, which has no price that is known. */
function eitherOf(values: readonly (string | null)[]): string | null {
  const different = new Set(values.filter((value) => value !== null));
  return different.size === 0 ? null : [...different].join(" or ").slice(0, 96);
}

/** Names a request of a batch by its index. */
export function describeEntry(index: number): string {
  return `requests[${index}]`;
}
