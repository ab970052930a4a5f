import { element } from "../elements.ts";
import type { Sums } from "../feed-types.ts";
import { formatCount } from "../numbers.ts";

/** Names that other programs choose are shortened. */
const MOST_CHARACTERS = 40;
/** How many models without a price are named. */
const MOST_NAMED = 2;

/** Says why a cost is a lower bound, below the chart; nothing of one that is exact. */
export function whyAtLeast({ cost_is_exact: isExact, partial, absent, unpriced }: Sums): HTMLElement[] {
  if (isExact) return [];
  const models = [...new Set(unpriced.map(({ model }) => model ?? "an unknown model"))];
  const named = models.slice(0, MOST_NAMED).map((name) => name.slice(0, MOST_CHARACTERS));
  const names =
    models.length > MOST_NAMED ? [...named, `${formatCount(models.length - MOST_NAMED)} more`] : named;
  const uncounted = partial + absent;
  const reasons = [
    ...(uncounted === 0
      ? []
      : [
          `${formatCount(uncounted)} ${uncounted === 1 ? "request has" : "requests have"} no final token counts`,
        ]),
    ...(models.length === 0 ? [] : [`not all prices are known of ${names.join(", ")}`]),
  ];
  const sentence = `≥ means at least: ${reasons.join(", and ")}.`;
  return reasons.length === 0 ? [] : [element("p", { class: "remark why" }, sentence)];
}
