import type { JsonObject } from "../../json.ts";
import { FallenCounts, readCounts } from "../fallen-counts.ts";
import { asCount } from "../fields.ts";
import type { Flag } from "../reading.ts";

/** The counts that Amazon Bedrock adds to `message_stop` (docs/wire.md section 9). */
export const BEDROCK_METRICS = "amazon-bedrock-invocationMetrics";

const INPUTS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
const OUTPUTS = ["output_tokens", "completion_tokens"];
/** Further members are dropped, so that a stream cannot grow the object without limit. No service sends that many. */
const MAX_NAMES = 64;
/** The attributes of a property created by assignment. */
const ASSIGNED = { writable: true, enumerable: true, configurable: true };

/**
 * The merged usage object of a Messages stream. The counts are cumulative, so each one replaces the one before (docs/wire.md
 * section 8). A null never replaces anything, and only a count replaces a count. {@link FallenCounts} says what a lower one does.
 */
export class MergedUsage {
  readonly #fallen = new FallenCounts();
  #hasMetrics = false;
  #fields: JsonObject = {};
  #size = 0;
  #hasStarted = false;
  #hasLastOutput = false;

  /** The merged object, with the service's own names. */
  get fields(): JsonObject {
    return this.#fields;
  }

  get flags(): readonly Flag[] {
    return this.#hasMetrics ? [...this.#fallen.flags, "bedrock_invocation_metrics"] : [...this.#fallen.flags];
  }

  /** As in {@link FallenCounts}. */
  get earlier(): FallenCounts["earlier"] {
    return this.#fallen.earlier;
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** True once an output count has arrived after `message_start`, whose own is only that of the start of generation. */
  get hasFinalOutput(): boolean {
    return this.#hasLastOutput;
  }

  /** Merges the usage of `message_start`. Ignored after later counts, when a gateway repeats it. */
  mergeStart(usage: JsonObject): void {
    this.#hasStarted = true;
    if (!this.#hasLastOutput) this.#merge(usage);
  }

  /** Merges the usage of a `message_delta`, or of a whole body. */
  mergeLater(usage: JsonObject): void {
    const inputs = readCounts(this.#fields, INPUTS);
    const outputs = readCounts(this.#fields, OUTPUTS);
    this.#merge(usage);
    // A compaction, and a fallback, start over, and list iterations.
    if (!Object.hasOwn(this.#fields, "iterations")) {
      this.#fallen.resolve(this.#fields, INPUTS, inputs);
      // The output of the start is preliminary.
      if (this.#hasLastOutput) this.#fallen.resolve(this.#fields, OUTPUTS, outputs);
    }
    this.#hasLastOutput ||= OUTPUTS.some((name) => asCount(usage[name]) !== null);
  }

  /** Merges Bedrock's metrics, when there are any. */
  mergeMetrics(metrics: JsonObject): void {
    if (Object.keys(metrics).length === 0) return;
    this.#set(BEDROCK_METRICS, metrics);
    this.#hasLastOutput ||= asCount(metrics["outputTokenCount"]) !== null;
    this.#hasMetrics = true;
  }

  /** Drops all counts, because another message begins. */
  reset(): void {
    this.#fields = {};
    this.#size = 0;
    this.#hasLastOutput = false;
    this.#fallen.reset();
  }

  #merge(usage: JsonObject): void {
    for (const name in usage) {
      const value = usage[name];
      const losesCount = asCount(this.#fields[name]) !== null && asCount(value) === null;
      const hasRoom = this.#size < MAX_NAMES || Object.hasOwn(this.#fields, name);
      if (value !== null && !losesCount && hasRoom) this.#set(name, value);
    }
  }

  #set(name: string, value: unknown): void {
    if (!Object.hasOwn(this.#fields, name)) this.#size++;
    // An assignment would set the object's prototype.
    if (name === "__proto__") Object.defineProperty(this.#fields, name, { value, ...ASSIGNED });
    else this.#fields[name] = value;
  }
}
