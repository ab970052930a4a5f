import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { element } from "../elements.ts";
import { formatCount, formatSeconds } from "../numbers.ts";
import { formatSpeed, modelSpeeds } from "./speed.ts";

const HEADS = ["model", "requests", "first token", "slowest 5%", "tokens/s"];

/** Says for each model how soon the first token came, and how fast the others. It is folded, as the list says more. */
export function speedByModel(records: readonly UsageRecord[]): HTMLElement[] {
  const speeds = modelSpeeds(records);
  if (speeds.length === 0) return [];
  const rows = speeds.map(({ model, requests, firstMs, slowestMs, perSecond }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, model),
      ...[
        formatCount(requests),
        formatSeconds(firstMs),
        formatSeconds(slowestMs),
        formatSpeed(perSecond),
      ].map((text) => element("td", {}, text)),
    ),
  );
  const heads = HEADS.map((head) => element("th", { scope: "col" }, head));
  return [
    element(
      "details",
      { class: "speeds" },
      element("summary", {}, "Speed by model"),
      element(
        "div",
        { class: "scroll", tabIndex: 0, role: "group", ariaLabel: "speed by model" },
        element(
          "table",
          {},
          element("thead", {}, element("tr", {}, ...heads)),
          element("tbody", {}, ...rows),
        ),
      ),
      element(
        "p",
        { class: "remark" },
        "Medians of the requests below; of the slowest 5%, the one that came first.",
      ),
    ),
  ];
}
