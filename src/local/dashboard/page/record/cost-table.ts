import { isOwnUpstream, isPlanUpstream } from "../../../../core/plans/names.ts";
import { boundOf, describeCost, type Charged } from "../cost.ts";
import { element, withCommand } from "../elements.ts";
import type { Cost, CostLine } from "../feed-types.ts";
import { formatCompact, formatCount } from "../numbers.ts";
import { nameClass } from "./class-words.ts";
import { reasonsForCost } from "./reasons.ts";

/** Shows what a request cost, line by line. */
export function costTable(cost: Cost, record: Charged): HTMLElement {
  if (cost.lines.length === 0)
    return element(
      "div",
      {},
      element("p", {}, `Cost: ${describeCost(cost, record)}${originOf(cost, record)}.`),
      ...why(cost, record),
    );
  return lineTable("Cost", cost, record);
}

/** Shows what a request that the tool itself paid would have cost with a key, line by line. */
export function worthTable(worth: Cost, record: Charged): HTMLElement {
  if (worth.lines.length === 0) return element("p", {}, `Worth: ${describeCost(worth, record)}.`);
  return lineTable(
    isOwnUpstream(record.upstream) ? "Paid with an own key" : "Worth with a key",
    worth,
    record,
  );
}

/** Why a cost is not known, or is only a part. */
function why(cost: Cost, record: Charged): HTMLElement[] {
  return reasonsForCost(cost, record).map((reason) => element("p", {}, ...withCommand(reason)));
}

function lineTable(title: string, cost: Cost, record: Charged): HTMLElement {
  const { lines, amount_usd: amount } = cost;
  const dollars = [...lines.map((line) => line.amount_usd), ...(amount === null ? [] : [amount])];
  // All have as many decimals as the longest, so that their points are in one line.
  const digits = Math.max(2, ...dollars.map((one) => one.split(".")[1]?.length ?? 0));
  const write = (one: string) => withDigits(one, digits);
  const rows = lines.map((line) =>
    row([nameClass(line.class), formatCount(line.count), priceOf(line), write(line.amount_usd)]),
  );
  const total = amount === null ? "unknown" : `${boundOf(cost)}${write(amount)}`;
  return element(
    "div",
    { class: "table" },
    element(
      "table",
      { class: "cost" },
      element("caption", {}, `${title} (${sourcesOf(cost, record.model)} prices)`),
      element("thead", {}, row(["", "count", "price", "amount"])),
      element("tbody", {}, ...rows),
      element("tfoot", {}, row(["total", "", "", total])),
    ),
    ...why(cost, record),
  );
}

function originOf({ from }: Cost, { tokens, upstream }: Charged): string {
  if (from === "free" && tokens !== null && isPlanUpstream(upstream)) return ", because the tool's plan paid";
  if (from === "free" && tokens !== null && isOwnUpstream(upstream))
    return ", because the tool's own key paid";
  if (from === "billed") return ", which the service says that it charged";
  return from === "free" ? ", because nothing was charged" : "";
}

/** How providers of the price table write themselves. */
const PROVIDERS: Readonly<Record<string, string>> = {
  anthropic: "Anthropic",
  aws: "AWS",
  azure: "Azure",
  deepseek: "DeepSeek",
  google: "Google",
  groq: "Groq",
  mistral: "Mistral",
  openai: "OpenAI",
  openrouter: "OpenRouter",
  "x-ai": "xAI",
};

/** Whose prices they are, and of which model, where the record names another one. */
function sourcesOf({ lines }: Cost, own: string | null): string {
  const names = lines.map(({ source, model }) => {
    const name = Object.hasOwn(PROVIDERS, source) ? (PROVIDERS[source] ?? source) : source;
    return model === own ? name : `${name} (${model})`;
  });
  return [...new Set(names)].join(" and ");
}

function withDigits(dollars: string, digits: number): string {
  const [whole, part = ""] = dollars.split(".");
  return `$${whole}.${part.padEnd(digits, "0")}`;
}

function priceOf({ usd, per, factors }: CostLine): string {
  const times = factors.map(({ what, value }) => ` × ${value} (${what})`);
  const unit = per === 1 ? "each" : `per ${formatCompact(per)}`;
  return `${withDigits(usd, 2)} ${unit}${times.join("")}`;
}

function row([name = "", ...cells]: readonly string[]): HTMLElement {
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, name),
    ...cells.map((cell) => element("td", {}, cell)),
  );
}
