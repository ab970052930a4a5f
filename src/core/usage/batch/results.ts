import type { JsonObject } from "../../json.ts";
import { asObject, asText } from "../fields.ts";
import { MESSAGES_FORMAT } from "../messages.ts";
import type { MeterReading } from "../reading.ts";
import { TEXT_BYTES, type TypedFormat, type UsageCollector } from "../usage-format.ts";
import { BatchSets } from "./batch-sets.ts";
import { LINES } from "./lines.ts";

/** The results of one of Anthropic's batches: a line for each request, in any order (docs/wire.md section 13). */
export const BATCH_RESULTS_FORMAT: TypedFormat = {
  ...LINES,
  event: { result: { type: TEXT_BYTES, message: MESSAGES_FORMAT.body } },
  createCollector: ({ inputIncludesCache }) => new ResultsCollector(inputIncludesCache),
};

class ResultsCollector implements UsageCollector {
  readonly hasContent = false;
  readonly isFinished = false;
  readonly #setup: { inputIncludesCache: boolean };
  readonly #sets = new BatchSets();

  constructor(inputIncludesCache: boolean) {
    this.#setup = { inputIncludesCache };
  }

  addBody(): void {}

  addEvent(_type: string, { result }: JsonObject): void {
    const { type, message } = asObject(result);
    // All others are not billed (https://platform.claude.com/docs/en/build-with-claude/batch-processing).
    if (asText(type) !== "succeeded") return;
    const collector = MESSAGES_FORMAT.createCollector(this.#setup);
    collector.addBody(asObject(message));
    this.#sets.add(collector.toReading(true, false));
  }

  toReading(isWhole: boolean): MeterReading {
    return this.#sets.toReading(isWhole);
  }
}
