import { countOf } from "../fields.ts";
import type { Fields } from "../json/json-scan.ts";
import type { Flag } from "../reading.ts";

/** Amazon Bedrock's own count, in `message_stop` (usage.md section 3). */
export const BEDROCK_METRICS = "amazon-bedrock-invocationMetrics";

const INPUTS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
const OUTPUTS = ["output_tokens", "completion_tokens"];
/** No service says more; what comes on top of it is not kept, so that a stream cannot make it grow for ever. */
const MAX_NAMES = 64;
/** What an assignment would make. */
const ORDINARY = { writable: true, enumerable: true, configurable: true };

/**
 * The usage object of a Messages stream as it stands: the numbers are cumulative, so each one replaces the last, 0
 * included (usage.md section 2, accumulation). What is null, or no count where one stood, replaces nothing.
 */
export class MergedUsage {
  readonly flags = new Set<Flag>();
  #fields: Fields = {};
  #size = 0;
  #hasStarted = false;
  #hasLastOutput = false;

  /** The merged object, under the service's own names. */
  get fields(): Fields {
    return this.#fields;
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** Has output been told after the start? What `message_start` says of it is where generation began. */
  get hasLastOutput(): boolean {
    return this.#hasLastOutput;
  }

  /** Takes the usage of `message_start`. One that comes again, after later numbers, is old news. */
  takeStart(usage: Fields): void {
    this.#hasStarted = true;
    if (!this.#hasLastOutput) this.#merge(usage);
  }

  /** Takes the usage of a `message_delta`, or of a whole body. */
  takeLast(usage: Fields): void {
    const before = INPUTS.map((name) => countOf(this.#fields[name]));
    this.#merge(usage);
    this.#hasLastOutput ||= OUTPUTS.some((name) => countOf(usage[name]) !== null);
    const isEmptied = sum(before) > 0 && sum(INPUTS.map((name) => countOf(this.#fields[name]))) === 0;
    if (!isEmptied || Object.hasOwn(this.#fields, "iterations")) return;
    // Gateways write zeros where they know nothing; only a compaction empties all three, and it lists iterations.
    for (const [i, name] of INPUTS.entries()) if (before[i] !== null) this.#set(name, before[i]);
    this.flags.add("delta_zero_placeholder");
  }

  /** Takes Bedrock's metrics, when there are any. */
  takeMetrics(metrics: Fields): void {
    if (Object.keys(metrics).length === 0) return;
    this.#set(BEDROCK_METRICS, metrics);
    this.#hasLastOutput ||= countOf(metrics["outputTokenCount"]) !== null;
    this.flags.add("bedrock_invocation_metrics");
  }

  /** Drops all counts: another message begins. */
  forget(): void {
    this.#fields = {};
    this.#size = 0;
    this.#hasLastOutput = false;
  }

  #merge(usage: Fields): void {
    for (const name in usage) {
      const value = usage[name];
      const losesCount = countOf(this.#fields[name]) !== null && countOf(value) === null;
      const hasRoom = this.#size < MAX_NAMES || Object.hasOwn(this.#fields, name);
      if (value !== null && !losesCount && hasRoom) this.#set(name, value);
    }
  }

  #set(name: string, value: unknown): void {
    if (!Object.hasOwn(this.#fields, name)) this.#size++;
    // Assigned, it would be the object's prototype.
    if (name === "__proto__") Object.defineProperty(this.#fields, name, { value, ...ORDINARY });
    else this.#fields[name] = value;
  }
}

function sum(counts: (number | null)[]): number {
  return counts.reduce<number>((total, count) => total + (count ?? 0), 0);
}
