import { countOf } from "./fields.ts";
import type { Fields } from "./json-scan.ts";
import type { Flag } from "./reading.ts";

/** Amazon Bedrock's own count, in `message_stop` (usage.md section 3). */
export const BEDROCK_METRICS = "amazon-bedrock-invocationMetrics";

const INPUTS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
const OUTPUTS = ["output_tokens", "completion_tokens"];
/** No service says more; what comes on top of it is not kept, so that a stream cannot make it grow for ever. */
const MAX_NAMES = 64;

/**
 * The usage object of a Messages stream as it stands: the numbers are cumulative, so each one replaces the last, 0
 * included (usage.md section 2, accumulation). What is null, or no count where one stood, replaces nothing.
 */
export class MergedUsage {
  readonly flags = new Set<Flag>();
  #fields = new Map<string, unknown>();
  #hasStarted = false;
  #hasLastOutput = false;

  /** The merged object, under the service's own names. */
  get fields(): Fields {
    return Object.fromEntries(this.#fields);
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
    const before = this.#inputs();
    this.#merge(usage);
    this.#hasLastOutput ||= OUTPUTS.some((name) => countOf(usage[name]) !== null);
    const isEmptied = sum(before) > 0 && sum(this.#inputs()) === 0;
    if (!isEmptied || this.#fields.has("iterations")) return;
    // Gateways write zeros where they know nothing; only a compaction empties all three, and it lists iterations.
    for (const [name, value] of before) this.#fields.set(name, value);
    this.flags.add("delta_zero_placeholder");
  }

  /** Takes Bedrock's metrics, when there are any. */
  takeMetrics(metrics: Fields): void {
    if (Object.keys(metrics).length === 0) return;
    this.#fields.set(BEDROCK_METRICS, metrics);
    this.#hasLastOutput ||= countOf(metrics["outputTokenCount"]) !== null;
    this.flags.add("bedrock_invocation_metrics");
  }

  /** Drops all counts: another message begins. */
  forget(): void {
    this.#fields.clear();
    this.#hasLastOutput = false;
  }

  #inputs(): [string, number][] {
    return INPUTS.flatMap((name): [string, number][] => {
      const count = countOf(this.#fields.get(name));
      return count === null ? [] : [[name, count]];
    });
  }

  #merge(usage: Fields): void {
    for (const [name, value] of Object.entries(usage)) {
      const losesCount = countOf(this.#fields.get(name)) !== null && countOf(value) === null;
      const hasRoom = this.#fields.size < MAX_NAMES || this.#fields.has(name);
      if (value !== null && !losesCount && hasRoom) this.#fields.set(name, value);
    }
  }
}

function sum(counts: [string, number][]): number {
  return counts.reduce((total, [, count]) => total + count, 0);
}
