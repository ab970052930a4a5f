import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { tokensPerSecond } from "../../../../core/ledger/times/tokens-per-second.ts";
import { formatCount } from "../numbers.ts";

/** Tokens a second; empty where that cannot be said. */
export function formatSpeed(speed: number | null): string {
  return speed === null ? "" : formatCount(Math.round(speed));
}

/** How fast the responses of a model were. */
interface ModelSpeed {
  model: string;
  /** Those of which the time to the first token is known. */
  requests: number;
  /** Milliseconds to the first token: the median. */
  firstMs: number;
  /** Milliseconds to the first token, which 95% of the requests were not above. */
  slowestMs: number;
  /** Tokens a second from the first one on: the median; null if it is known of no request. */
  perSecond: number | null;
}

/** Returns how fast each model was, the most used first. */
export function modelSpeeds(records: readonly UsageRecord[]): ModelSpeed[] {
  const byModel = new Map<string, UsageRecord[]>();
  for (const record of records) {
    if (record.ttft_ms === null) continue;
    const model = record.model ?? record.model_requested ?? "(no model)";
    byModel.set(model, [...(byModel.get(model) ?? []), record]);
  }
  return [...byModel]
    .map(([model, own]) => {
      const firsts = own.flatMap(({ ttft_ms: ttft }) => ttft ?? []);
      return {
        model,
        requests: own.length,
        firstMs: quantile(firsts, 0.5) ?? 0,
        slowestMs: quantile(firsts, 0.95) ?? 0,
        perSecond: quantile(
          own.flatMap((record) => tokensPerSecond(record) ?? []),
          0.5,
        ),
      };
    })
    .toSorted((one, other) => other.requests - one.requests);
}

/** The value that this share of the values is not above (nearest rank); null of none. */
function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
