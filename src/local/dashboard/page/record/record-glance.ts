import type { UsageRecord } from "../../../../core/ledger/record.ts";
import type { RunningRequest } from "../../../../core/ledger/running-request.ts";
import { tokensOfModel } from "../../../../core/usage/batch/model-tokens.ts";
import { card, element } from "../elements.ts";
import { formatCount, formatSeconds, formatShare } from "../numbers.ts";
import { formatSpeed, speedOf } from "../requests/speed.ts";

/** Shows the figures of a request: its tokens and its times. What is not known is a dash. */
export function recordGlance(record: UsageRecord | RunningRequest): HTMLElement {
  const { ttft_ms: ttft, duration_ms: took } = record;
  const isEnded = "outcome" in record;
  const tokens = isEnded ? tokensOfModel(record) : record.tokens;
  const mark = isEnded && record.usage === "partial" ? "≥" : "";
  const speed = isEnded ? formatSpeed(speedOf(record)) : "";
  return element(
    "section",
    { class: "glance even", attributes: { "aria-label": "the request at a glance" } },
    card(
      "Tokens in",
      tokens === null ? "–" : `${mark}${formatCount(tokens.input_total)}`,
      tokens === null ? "" : `${formatShare(tokens.cache_read, tokens.input_total) || "0%"} from cache`,
    ),
    card("Tokens out", tokens === null ? "–" : `${mark}${formatCount(tokens.output)}`),
    card("First token", ttft === null ? "–" : formatSeconds(ttft)),
    card(isEnded ? "Took" : "Age", formatSeconds(took), speed === "" ? "" : `${speed} tokens a second`),
  );
}
