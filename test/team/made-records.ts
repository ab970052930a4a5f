import { checkConfig, priceSettingsOf, type PriceSettings } from "../../src/core/config/config.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { extraTokens, tokens, usageRecord } from "../helpers/ledger/usage-record.ts";

/** The prices and upstreams of every simulated machine. */
export const PRICES = pricesOf({
  prices: { "house-*": { input: 3, output: 15 } },
  upstreams: {
    openai: { baseUrl: "https://api.openai.com/v1" },
    anthropic: { baseUrl: "https://api.anthropic.com/v1", discount: 12.5 },
  },
});

function pricesOf(file: object): PriceSettings {
  const result = checkConfig(file, "/home/ada");
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return priceSettingsOf(result.config);
}

const TOOLS = ["codex", "claude-code", "aider", "opencode", "my-script"];
const MODELS = ["gpt-5.4", "claude-sonnet-5", "claude-haiku-4-5", "house-1", "nobody-knows"];

/** Numbers that look random and are the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Returns the record of a request of any kind: streams, errors, refusals, cut ones, the sandbox's, ones with billed extra sets. */
export function makeRecord(random: (below: number) => number, id: string, ts: string): UsageRecord {
  const pick = <Item>(items: readonly Item[]) => items[random(items.length)] as Item;
  const model = pick(MODELS);
  const set = {
    input_uncached: random(5_000),
    cache_read: random(90_000),
    cache_write: random(2_000),
    output: random(3_000),
  };
  const base = {
    id,
    ts,
    tool: pick(TOOLS),
    upstream: pick(["openai", "anthropic"]),
    model,
    model_requested: model,
  };
  const rest = {
    duration_ms: random(90_000) + 0.25,
    ttft_ms: random(4_000) + 0.5,
    response_id: `resp_${id}`,
  };
  switch (random(20)) {
    case 0:
      return usageRecord({ ...base, ...rest, outcome: "error", status: 529, tokens: null, usage: "absent" });
    case 1:
      return usageRecord({
        ...base,
        ...rest,
        outcome: "rejected",
        status: 400,
        tokens: null,
        usage: "absent",
      });
    case 2:
      return usageRecord({
        ...base,
        ...rest,
        outcome: "cut",
        cut_by: "client",
        usage: "partial",
        tokens: tokens(set),
      });
    case 3:
      return usageRecord({
        ...base,
        ...rest,
        outcome: "cut",
        cut_by: "upstream",
        usage: "absent",
        tokens: null,
      });
    case 4:
      return usageRecord({ ...base, ...rest, upstream: "sandbox", tokens: tokens(set) });
    case 5:
      return usageRecord({
        ...base,
        ...rest,
        tokens: tokens(set),
        extra: [
          extraTokens({ type: "advisor_message", model: pick(MODELS), billable: true, output: random(500) }),
        ],
      });
    case 6:
      return usageRecord({ ...base, ...rest, billed_usd: `0.0${random(100_000)}`, tokens: tokens(set) });
    default:
      return usageRecord({ ...base, ...rest, tokens: tokens(set) });
  }
}
