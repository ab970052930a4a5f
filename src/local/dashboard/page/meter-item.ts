import { element, withCommand } from "./elements.ts";
import type { Meter } from "./meters.ts";

/** Shows a meter, with sentences beneath it. */
export function meterItem(
  { name, percent, assumed, used, tone }: Meter,
  ...sentences: readonly string[]
): HTMLElement {
  const shown = Math.min(100, percent);
  // What is known fills the bar first.
  const known = Math.max(0, Math.min(shown, percent - assumed));
  return element(
    "li",
    { class: `meter ${tone}` },
    element("div", {}, element("span", {}, name), element("span", {}, used)),
    element(
      "div",
      {
        class: "bar",
        attributes: {
          role: "meter",
          "aria-label": name,
          "aria-valuemin": "0",
          "aria-valuemax": "100",
          "aria-valuenow": String(shown),
          "aria-valuetext": used,
        },
      },
      barPart(known, "known"),
      barPart(shown - known, "assumed"),
    ),
    element(
      "small",
      {},
      ...sentences
        .filter((sentence) => sentence !== "")
        .flatMap((sentence, at) => [at === 0 ? "" : ". ", ...withCommand(sentence)]),
    ),
  );
}

function barPart(percent: number, name: string): HTMLElement {
  const part = element("span", { class: name });
  part.style.width = `${percent}%`;
  return part;
}
