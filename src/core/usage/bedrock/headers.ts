import { readErrorName } from "../../http/bedrock/rejected-key.ts";
import type { JsonObject } from "../../json.ts";
import { asWord } from "../fields.ts";
import type { SaidInHeaders } from "../usage-format.ts";

/** The headers that count tokens, by what the metrics of a stream call the same. */
const COUNTS = {
  inputTokenCount: "x-amzn-bedrock-input-token-count",
  outputTokenCount: "x-amzn-bedrock-output-token-count",
  cacheReadInputTokenCount: "x-amzn-bedrock-cache-read-input-token-count",
  cacheWriteInputTokenCount: "x-amzn-bedrock-cache-write-input-token-count",
};

/** Reads what the headers of a response of Amazon Bedrock say of its usage, and of its error (docs/wire.md section 14). */
export function readBedrockHeaders(
  headers: { get(name: string): string | undefined },
  asked: string | null,
): SaidInHeaders {
  const counts: JsonObject = {};
  for (const [name, header] of Object.entries(COUNTS)) {
    const value = headers.get(header);
    if (value !== undefined && /^\d{1,12}$/.test(value)) counts[name] = Number(value);
  }
  return {
    counts,
    tier: asWord(headers.get("x-amzn-bedrock-service-tier")),
    errorType: asWord(readErrorName(headers)),
    asked,
  };
}
