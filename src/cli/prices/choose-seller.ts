import type { Config } from "../../core/config/config.ts";
import { SANDBOX_UPSTREAM } from "../../core/config/names.ts";
import { APIS, type Api } from "../../core/http/api.ts";
import { explainDecision, NOTHING_STANDS } from "../../core/decide/explain.ts";
import { prepareSettings } from "../../core/decide/settings.ts";
import type { PriceBook } from "../../core/price/price-book.ts";
import { findMaker } from "../../core/price/price-table.ts";

/** A model, who asks for it (null: any tool), and when, in milliseconds since 1970. */
export interface Wanted {
  model: string;
  tool: string | null;
  at: number;
}

/**
 * Returns the name of the upstream that serves a model; null when none does. Which one it is may depend on the API: an upstream
 * without a list of models would be sent any. Then it is the one on the API of the model's maker, before others that have a price.
 */
export function chooseSeller(config: Config, prices: PriceBook, { model, tool, at }: Wanted): string | null {
  if (Object.keys(config.upstreams).length === 0) return SANDBOX_UPSTREAM;
  const settings = prepareSettings(config);
  const chosen = orderApis(findMaker(prices.table, model)).flatMap((api) =>
    explainDecision(settings, { tool, api, model }, NOTHING_STANDS)
      .verdicts.filter(({ isChosen }) => isChosen)
      .map(({ upstream }) => upstream.name),
  );
  return chosen.find((name) => prices.find(name, model, at) !== null) ?? chosen[0] ?? null;
}

/** The API of the maker comes first: only models of Anthropic are asked for on `messages` before the others. */
function orderApis(maker: string | null): readonly Api[] {
  const others = APIS.filter((api) => api !== "messages");
  return maker === "anthropic" ? ["messages", ...others] : [...others, "messages"];
}
