import type { JsonObject } from "../../json.ts";
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
 * The merged usage object of a Messages stream. The counts are cumulative, so each one, even 0, replaces the one before
 * (docs/wire.md section 8). A null never replaces anything, and only a count replaces a count.
 */
export class MergedUsage {
  readonly flags = new Set<Flag>();
  #fields: JsonObject = {};
  #size = 0;
  #hasStarted = false;
  #hasLastOutput = false;

  /** The merged object, with the service's own names. */
  get fields(): JsonObject {
    return this.#fields;
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
    const before = INPUTS.map((name) => asCount(this.#fields[name]));
    this.#merge(usage);
    this.#hasLastOutput ||= OUTPUTS.some((name) => asCount(usage[name]) !== null);
    const isReset = sum(before) > 0 && sum(INPUTS.map((name) => asCount(this.#fields[name]))) === 0;
    if (!isReset || Object.hasOwn(this.#fields, "iterations")) return;
    // Some gateways send zeros for unknown counts. Only a compaction really resets all three, and that lists iterations.
    for (const [i, name] of INPUTS.entries()) if (before[i] !== null) this.#set(name, before[i]);
    this.flags.add("delta_zero_placeholder");
  }

  /** Merges Bedrock's metrics, when there are any. */
  mergeMetrics(metrics: JsonObject): void {
    if (Object.keys(metrics).length === 0) return;
    this.#set(BEDROCK_METRICS, metrics);
    this.#hasLastOutput ||= asCount(metrics["outputTokenCount"]) !== null;
    this.flags.add("bedrock_invocation_metrics");
  }

  /** Drops all counts, because another message begins. */
  reset(): void {
    this.#fields = {};
    this.#size = 0;
    this.#hasLastOutput = false;
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

function sum(counts: (number | null)[]): number {
  return counts.reduce<number>((total, count) => total + (count ?? 0), 0);
}
