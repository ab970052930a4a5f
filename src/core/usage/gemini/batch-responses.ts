import { isObject, type JsonObject } from "../../json.ts";
import { BATCH_TIER } from "../batch.ts";
import { BatchSets } from "../batch/batch-sets.ts";
import { LINES } from "../batch/lines.ts";
import type { MeterReading } from "../reading.ts";
import { createReading, toUsageState, type TypedFormat, type UsageCollector } from "../usage-format.ts";
import { readResponse, ResponseSum, RESULT } from "./batch.ts";
import { readModalities } from "./usage.ts";

/**
 * The file with the responses of one of Google's batches: a line for each request, in any order, with its response or its error
 * (docs/wire.md section 13).
 */
export const BATCH_RESPONSES_FORMAT: TypedFormat = {
  ...LINES,
  event: RESULT,
  createCollector: () => new ResponsesCollector(),
};

/**
 * Adds up a file in two ways. Sets tell the sizes of prompts apart, by which text is priced. The sum tells sound and pictures apart, which have
 * prices of their own.
 */
class ResponsesCollector implements UsageCollector {
  readonly hasContent = false;
  readonly isFinished = false;
  readonly #sets = new BatchSets();
  readonly #sum = new ResponseSum();
  #hasMedia = false;

  addBody(): void {}

  addEvent(_type: string, { response }: JsonObject): void {
    if (!isObject(response)) return;
    const reading = readResponse(response);
    this.#sum.add(reading);
    this.#sets.add(reading);
    if (reading.model === null) this.#sets.addUnknown();
    this.#hasMedia ||= hasMedia(reading);
  }

  toReading(isWhole: boolean): MeterReading {
    if (!this.#hasMedia) return this.#sets.toReading(isWhole);
    const { tokens, model, usage, flags, calls, smallest, largest, isComplete } = this.#sum;
    return {
      ...createReading(
        isWhole ? "completed" : "cut",
        toUsageState(tokens, isWhole && isComplete && model !== null, flags),
      ),
      model,
      service_tier: BATCH_TIER,
      tokens,
      server_tools: calls,
      raw_usage: usage,
      smallest_prompt: smallest,
      largest_prompt: largest,
      flags: [...flags],
    };
  }
}

/** Kinds of tokens that may have a price of their own. */
const MEDIA = ["AUDIO", "IMAGE", "VIDEO"];

function hasMedia({ raw_usage: usage }: MeterReading): boolean {
  const kinds = usage === null ? [] : Object.values(readModalities(usage) ?? {});
  return kinds.some((told) => MEDIA.some((medium) => (told[medium] ?? 0) > 0));
}
