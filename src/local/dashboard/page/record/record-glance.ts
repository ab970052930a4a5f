import type { UsageRecord } from "../../../../core/ledger/record.ts";
import type { RunningRequest } from "../../../../core/ledger/running-request.ts";
import { tokensOfModel } from "../../../../core/usage/batch/model-tokens.ts";
import { card, element } from "../elements.ts";
import { formatCount, formatSeconds, formatShare } from "../numbers.ts";
import { tokensPerSecond } from "../../../../core/ledger/times/tokens-per-second.ts";
import { formatSpeed } from "../requests/speed.ts";

/** Shows the figures of a request that are known: its tokens and its times. Null where there is only how long it took. */
export function recordGlance(record: UsageRecord | RunningRequest): HTMLElement | null {
  const { ttft_ms: ttft, duration_ms: took } = record;
  const isEnded = "outcome" in record;
  const tokens = isEnded ? tokensOfModel(record) : record.tokens;
  if (tokens === null && ttft === null) return null;
  const mark = isEnded && record.usage === "partial" ? "≥" : "";
  const speed = isEnded ? formatSpeed(tokensPerSecond(record)) : "";
  return element(
    "section",
    { class: "glance even", ariaLabel: "the request at a glance" },
    ...(tokens === null
      ? []
      : [
          card(
            "Tokens in",
            `${mark}${formatCount(tokens.input_total)}`,
            `${formatShare(tokens.cache_read, tokens.input_total) || "0%"} from cache`,
          ),
        ]),
    // While a request runs, services have not counted them yet.
    ...(tokens === null || !isEnded ? [] : [card("Tokens out", `${mark}${formatCount(tokens.output)}`)]),
    ...(ttft === null ? [] : [card("First token", formatSeconds(ttft))]),
    card(isEnded ? "Took" : "Age", formatSeconds(took), speed === "" ? "" : `${speed} tokens a second`),
  );
}
