import { withoutCollection } from "../http/gemini/model-path.ts";
import { QUOTE, StrictJsonReader } from "./strict-json.ts";

/** Members by which services take further models, to use instead: OpenRouter `models`, LiteLLM `fallbacks` and all in `extra_body`. */
const FURTHER_MODELS: ReadonlySet<string> = new Set(["models", "fallbacks", "extra_body"]);

/** How deep a request of Google's API can name a model besides its path: `requests[].model`. */
const DEPTH_IN_PATH = 3;

/** Where the value of `model` stands in the body: offsets of its first byte, the quote, and of the byte after it. */
interface ModelPlace {
  model: string;
  from: number;
  to: number;
}

/**
 * Reads the one `model` of a JSON request, in any chunking, so that the upstream will read the same: a body in which decoders
 * could find another one is at fault. JSON.parse takes the last of two members, others the first; Go's encoding/json also
 * takes `"Model"`. So it accepts strict JSON only: an object in UTF-8 with exactly one member called `model`, a string, and no member whose name
 * is another spelling of it.
 */
export class ModelReader extends StrictJsonReader {
  #place: ModelPlace | null = null;
  /** True for the value that belongs to the name `model`. */
  #isModel = false;
  readonly #isOnly: boolean;

  readonly #member: string;
  /** What each model that the body names has to be; null for a body that has to name one itself. */
  #inPath: { model: string; isReplaced: boolean } | null = null;

  /**
   * @param isOnly whether it is a fault to name further models for the service to choose from
   * @param member another member to read in place of the model, by the same rules: a name without escapes, in lower case
   */
  constructor(isOnly: boolean, member = "model") {
    super();
    this.#isOnly = isOnly;
    this.#member = member;
  }

  /**
   * Returns a reader for a request of Google's API, whose model is in its path. There the body need not name one; but each that it names at
   * the top, in `generateContentRequest` or in one of the `requests` has to be that, as `models/NAME`.
   * @param isReplaced whether an alias takes the model's place in the path: then the body may name none, as it would contradict that
   */
  static ofPath(model: string, isOnly: boolean, isReplaced: boolean): ModelReader {
    const reader = new ModelReader(isOnly);
    reader.#inPath = { model, isReplaced };
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
    return this.depth <= (this.#inPath === null ? 1 : DEPTH_IN_PATH);
  }

  protected takeName(raw: Buffer | null): void {
    this.#isModel = raw !== null && this.#isModelName(raw);
  }

  protected beginValue(byte: number): boolean {
    if (this.#isModel && byte !== QUOTE) this.fail(`the ${this.#member} is not a string`);
    return this.#isModel;
  }

  protected takeValue(raw: Buffer | null, from: number, to: number): void {
    this.#isModel = false;
    if (raw === null) return this.fail(`the ${this.#member}'s name is too long`);
    const model = JSON.parse(`"${raw.toString()}"`) as string;
    if (this.#inPath !== null) return this.#compare(model, this.#inPath);
    if (this.#place !== null) return this.fail(`the body names two ${this.#member}s`);
    if (model === "" || /[\uD800-\uDFFF\uFFFD]/u.test(model))
      return this.fail(`the ${this.#member}'s name cannot be read`);
    this.#place = { model, from, to };
  }

  #isModelName(raw: Buffer): boolean {
    const text = raw.toString("latin1");
    if (text === this.#member) return true;
    const name = readLoosely(raw);
    if (name === this.#member) this.fail(`a member's name is another spelling of "${this.#member}"`);
    if (this.#isOnly && FURTHER_MODELS.has(name)) this.fail(`"${name}" may name other models`);
    return false;
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
