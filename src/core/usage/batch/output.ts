import type { JsonObject } from "../../json.ts";
import { CHAT_FORMAT } from "../chat.ts";
import { asCount, asObject } from "../fields.ts";
import type { MeterReading } from "../reading.ts";
import { RESPONSES_FORMAT } from "../responses.ts";
import type { TypedFormat, UsageCollector } from "../usage-format.ts";
import { BatchSets } from "./batch-sets.ts";
import { LINES } from "./lines.ts";

/** Of a status code. */
const NUMBER_BYTES = 16;

/**
 * The output file of one of OpenAI's batches: a line for each request that was carried out, in any order, with the body of its response
 * (docs/wire.md section 13). That is one of the Responses API, or of Chat Completions, completions or embeddings.
 */
export const BATCH_OUTPUT_FORMAT: TypedFormat = {
  ...LINES,
  event: { response: { status_code: NUMBER_BYTES, body: { ...CHAT_FORMAT.body, ...RESPONSES_FORMAT.body } } },
  createCollector: () => new OutputCollector(),
};

const SETUP = { inputIncludesCache: false };

class OutputCollector implements UsageCollector {
  readonly hasContent = false;
  readonly isFinished = false;
  readonly #sets = new BatchSets();

  addBody(): void {}

  addEvent(_type: string, { response }: JsonObject): void {
    const { status_code: status, body } = asObject(response);
    // A request that failed has an error in place of a response, or a response with its status, and is not billed.
    if (!isSuccess(status)) return;
    const fields = asObject(body);
    const format = fields["object"] === "response" ? RESPONSES_FORMAT : CHAT_FORMAT;
    const collector = format.createCollector(SETUP);
    collector.addBody(fields);
    const reading = collector.toReading(true, false);
    this.#sets.add(reading);
    if (reading.model === null || hasMedia(asObject(reading.raw_usage))) this.#sets.addUnknown();
  }

  toReading(isWhole: boolean): MeterReading {
    return this.#sets.toReading(isWhole);
  }
}

function isSuccess(status: unknown): boolean {
  return typeof status === "number" && status >= 200 && status < 300;
}

/** True where some of the tokens have a price of their own, which a set does not tell apart: of sound and pictures. */
function hasMedia(usage: JsonObject): boolean {
  return MEDIA.some(([details, name]) => (asCount(asObject(usage[details])[name]) ?? 0) > 0);
}

const MEDIA = [
  ["prompt_tokens_details", "audio_tokens"],
  ["input_tokens_details", "audio_tokens"],
  ["completion_tokens_details", "audio_tokens"],
  ["output_tokens_details", "audio_tokens"],
  ["completion_tokens_details", "image_tokens"],
  ["output_tokens_details", "image_tokens"],
] as const;
