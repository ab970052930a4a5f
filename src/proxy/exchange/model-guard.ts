import type { Decision } from "../../core/decide/decision.ts";
import { withCollection } from "../../core/http/gemini/model-path.ts";
import { GOOGLE_MODEL } from "../../core/http/routes.ts";
import type { Dialect } from "../../core/usage/reading.ts";
import { DEPTH_IN_BATCH, ModelReader } from "../../core/policy/model-reader.ts";
import { replaceModelInBody } from "./replace-model-in-body.ts";

/** After the object a client may send white space; more than this is no client's. */
const MAX_TAIL_BYTES = 1024;

/**
 * Lets a body pass whose model has chosen the upstream, but holds its last brace back until the whole body was read and names
 * that model only. Without it the upstream has nothing that it could execute: no complete JSON, and not the end of the request.
 */
export class ModelGuard {
  readonly #reader: ModelReader;
  readonly #tail: Buffer[] = [];
  #tailBytes = 0;
  #offset = 0;
  /** The value that is sent in place of the model's; null to send that. */
  readonly #alias: Buffer | null;

  /**
   * @param reader as far as the peek got; the body passes from its first byte all the same
   * @param alias the model to send in place of the one that was read; null to change nothing
   */
  constructor(reader: ModelReader, alias: string | null) {
    this.#reader = reader;
    this.#alias = alias === null ? null : Buffer.from(JSON.stringify(alias));
  }

  /** By how many bytes the body that is sent is longer than the client's. */
  get addedBytes(): number {
    const { place } = this.#reader;
    return this.#alias === null || place === null ? 0 : this.#alias.length - (place.to - place.from);
  }

  /** Takes the next chunk. Returns what may be sent of it; null once the body is at fault. */
  pass(chunk: Buffer): Buffer | null {
    const from = this.#offset;
    this.#offset += chunk.length;
    const unread = this.#offset - this.#reader.bytes;
    if (unread > 0) this.#reader.feed(chunk.subarray(chunk.length - unread));
    if (this.#reader.fault !== null) return null;
    const { endsAt } = this.#reader;
    if (endsAt === null || endsAt >= this.#offset) return this.#withAlias(chunk, from);
    const at = Math.max(0, endsAt - from);
    this.#tail.push(chunk.subarray(at));
    this.#tailBytes += chunk.length - at;
    return this.#tailBytes > MAX_TAIL_BYTES ? null : this.#withAlias(chunk.subarray(0, at), from);
  }

  #withAlias(chunk: Buffer, from: number): Buffer {
    const { place } = this.#reader;
    if (this.#alias === null || place === null) return chunk;
    return replaceModelInBody(chunk, from, place, this.#alias);
  }

  /** Ends the body. Returns what was held back; null when the body is at fault. */
  finish(): Buffer | null {
    return this.fault === null ? Buffer.concat(this.#tail) : null;
  }

  /** As {@link ModelGuard.pass} and {@link ModelGuard.finish}, for a body that has arrived as a whole. */
  passWhole(body: Buffer): Buffer | null {
    const passed = this.pass(body);
    const tail = passed === null ? null : this.finish();
    return passed === null || tail === null ? null : Buffer.concat([passed, tail]);
  }

  /** What is wrong with the body, once {@link ModelGuard.pass} or {@link ModelGuard.finish} has returned null. */
  get fault(): string | null {
    if (this.#tailBytes > MAX_TAIL_BYTES) return "too much white space follows the JSON object";
    return this.#reader.finish();
  }
}

/**
 * How deep a body can name a model besides the path, where that is not as deep as in all others of Google's API. Bedrock passes
 * `additionalModelRequestFields` on to the model.
 */
const DEPTHS: Partial<Record<Dialect, number>> = { batch: DEPTH_IN_BATCH, messages: 1, bedrock: 2 };

/** Returns what reads a body as it passes, so that it names the model that has decided something and no other; null where none has. */
export function guardModel(
  { isBound, choice, policy, model, alias }: Decision,
  reader: ModelReader | null,
): ModelGuard | null {
  if (!isBound || model === null) return null;
  const { route } = choice;
  if (route.api === "bedrock" || route.path.startsWith(GOOGLE_MODEL)) {
    const depth = DEPTHS[route.dialect];
    const named = ModelReader.ofPath(model, policy?.models?.patterns ?? null, alias !== null, depth);
    return new ModelGuard(named, null);
  }
  // Interactions name a model as the record does, all others as a path.
  const isLong = route.api === "gemini" && reader?.place?.model !== model;
  const spelled = alias !== null && isLong ? withCollection(alias) : alias;
  return reader === null ? null : new ModelGuard(reader, spelled);
}
