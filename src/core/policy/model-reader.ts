import { withoutCollection } from "../http/gemini/model-path.ts";
import { matchesModel } from "./model-pattern.ts";
import { QUOTE, StrictJsonReader } from "./strict-json.ts";

/**
 * Members by which services take further models, to use instead: OpenRouter `models`, Anthropic and LiteLLM `fallbacks`, LiteLLM such as
 * `context_window_fallbacks`, and all in `extra_body`.
 */
const FURTHER_MODELS = /^(?:models|(?:\w+_)?fallbacks|extra_body)$/;

/**
 * Members in which services take models to use besides: the `model` of a tool, such as Anthropic's `advisor_20260301`, of OpenRouter's tools
 * in `parameters`, and of its plugins. Vercel's gateway takes `providerOptions.gateway.models`.
 */
const HOLDERS: ReadonlySet<string> = new Set(["tools", "plugins", "provideroptions"]);

/** Members of these that list models: `models`, `analysis_models`, `allowed_models`. */
const LISTED_MODELS = /(?:^|_)models$|^fallbacks$/;

/** How much deeper than its own name such a member has names that count. Properties of a function's parameters are deeper. */
const DEPTH_IN_HOLDER = 3;

const FIRST_OF_NULL = 0x6e;

/** How deep a request of Google's API can name a model besides its path: `requests[].model`. */
const DEPTH_IN_PATH = 3;

/** The same in a batch: `batch.inputConfig.requests.requests[].request.model`. */
export const DEPTH_IN_BATCH = 7;

/** Where the value of `model` stands in the body: offsets of its first byte, the quote, and of the byte after it. */
export interface ModelPlace {
  model: string;
  from: number;
  to: number;
}

/**
 * Reads the one `model` of a JSON request, in any chunking, so that the upstream will read the same: a body in which decoders
 * could find another one is at fault. JSON.parse takes the last of two members, others the first; Go's encoding/json also
 * takes `"Model"`. So it accepts strict JSON only: an object in UTF-8 with exactly one member called `model`, a string, and no member whose name
 * is another spelling of it. Where a group names models, those that tools and plugins name have to be among them.
 */
export class ModelReader extends StrictJsonReader {
  #place: ModelPlace | null = null;
  /** What the next value is: that of the name `model`, the `model` of a tool, or neither. */
  #next: "model" | "further" | null = null;
  /** How deep the names of the open members are that may hold models. */
  readonly #holders: number[] = [];
  readonly #only: readonly string[] | null;

  readonly #member: string;
  /** What each model that the body names has to be; null for a body that has to name one itself. */
  #inPath: { model: string; isReplaced: boolean; depth: number } | null = null;

  /**
   * @param only patterns of the models that tools may name, where it is a fault to name models for the service to choose from; null where
   * further models do not count
   * @param member another member to read in place of the model, by the same rules: a name without escapes, in lower case
   */
  constructor(only: readonly string[] | null, member = "model") {
    super();
    this.#only = only;
    this.#member = member;
  }

  /**
   * Returns a reader for a request of Google's API, whose model is in its path. There the body need not name one; but each that it names at
   * the top, in `generateContentRequest` or in one of the `requests` has to be that, as `models/NAME`.
   * @param isReplaced whether an alias takes the model's place in the path: then the body may name none, as it would contradict that
   * @param depth how deep names count
   */
  static ofPath(
    model: string,
    only: readonly string[] | null,
    isReplaced: boolean,
    depth = DEPTH_IN_PATH,
  ): ModelReader {
    const reader = new ModelReader(only);
    reader.#inPath = { model, isReplaced, depth };
    return reader;
  }

  /** The model, as soon as its value has been read. Another may follow, which is a fault. */
  get place(): ModelPlace | null {
    return this.#place;
  }

  /** Ends the body. Returns what is wrong with it as a whole; null when it names one model. */
  finish(): string | null {
    if (this.fault !== null) return this.fault;
    if (this.endsAt === null) return "the body is not complete JSON";
    return this.#place === null && this.#inPath === null ? `the body names no ${this.#member}` : null;
  }

  protected wantsNames(): boolean {
    return this.#isOfRequest || this.#isInHolder;
  }

  protected takeName(raw: Buffer | null): void {
    while ((this.#holders.at(-1) ?? 0) >= this.depth) this.#holders.pop();
    this.#next = raw === null ? null : this.#findMeaning(raw);
  }

  protected beginValue(byte: number): boolean {
    const next = this.#next;
    // A tool's member without a value names no model.
    if (next === "further" && byte === FIRST_OF_NULL) this.#next = null;
    else if (next !== null && byte !== QUOTE) this.fail(`the ${this.#member} is not a string`);
    return this.#next !== null;
  }

  protected takeValue(raw: Buffer | null, from: number, to: number): void {
    const next = this.#next;
    this.#next = null;
    if (raw === null) return this.fail(`the ${this.#member}'s name is too long`);
    const model = JSON.parse(`"${raw.toString()}"`) as string;
    if (next === "further") return this.#judge(model);
    if (this.#inPath !== null) return this.#compare(model, this.#inPath);
    if (this.#place !== null) return this.fail(`the body names two ${this.#member}s`);
    if (model === "" || /[\uD800-\uDFFF\uFFFD]/u.test(model))
      return this.fail(`the ${this.#member}'s name cannot be read`);
    this.#place = { model, from, to };
  }

  /** True where names are those of the request itself. */
  get #isOfRequest(): boolean {
    return this.depth <= (this.#inPath === null ? 1 : this.#inPath.depth);
  }

  get #isInHolder(): boolean {
    const holder = this.#holders.findLast((depth) => depth < this.depth);
    return holder !== undefined && this.depth <= holder + DEPTH_IN_HOLDER;
  }

  #findMeaning(raw: Buffer): "model" | "further" | null {
    const text = raw.toString("latin1");
    const meaning = this.#isOfRequest ? "model" : "further";
    if (text === this.#member) return meaning;
    const name = readLoosely(raw);
    if (name === this.#member) this.fail(`a member's name is another spelling of "${this.#member}"`);
    if (this.#only === null) return null;
    const listed = meaning === "model" ? FURTHER_MODELS : LISTED_MODELS;
    if (listed.test(name)) this.fail(`"${name}" may name other models`);
    if (HOLDERS.has(name.replace("_", ""))) this.#holders.push(this.depth);
    return null;
  }

  /** An alias does not count here: the service reads the model as it stands. */
  #judge(model: string): void {
    if (this.#only !== null && !matchesModel(this.#only, model))
      this.fail("a tool or a plugin names a model that the group does not allow");
  }

  #compare(named: string, { model, isReplaced }: { model: string; isReplaced: boolean }): void {
    if (isReplaced) return this.fail("the body repeats the model, for which there is an alias");
    if (withoutCollection(named) !== model) this.fail("the body names another model than the path");
  }
}

/** Returns a member's name as some decoder could take it: without escapes, in lower case, and without bytes that it drops. */
function readLoosely(raw: Buffer): string {
  const name = JSON.parse(`"${raw.toString("latin1")}"`) as string;
  return name.replaceAll(/[^\x21-\x7e]/g, "").toLowerCase();
}
