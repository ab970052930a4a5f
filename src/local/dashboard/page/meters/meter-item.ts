import { element, withCopiedCommand } from "../elements.ts";
import type { Meter } from "./meter.ts";

/** As wide as it takes to be seen beside the round end. */
const LEAST_BAR = "0.3rem";

/** Shows a meter, with lines beneath it. */
export function meterItem(
  { name, wholeName, percent, assumed, used, tone }: Meter,
  lines: readonly string[],
): HTMLElement {
  // A bar of more than the limit is as long as what was spent, with a mark at the limit.
  const scale = Math.max(100, percent) / 100;
  // What is known fills the bar first.
  const known = Math.max(0, percent - assumed);
  return element(
    "li",
    { class: `meter ${tone}` },
    element("div", {}, element("span", { title: wholeName }, name), element("span", {}, used)),
    element(
      "div",
      {
        class: "bar",
        role: "meter",
        ariaLabel: wholeName,
        attributes: {
          "aria-valuenow": String(Math.min(100, Math.floor(percent))),
          "aria-valuetext": used,
        },
      },
      barPart(known / scale, "known"),
      barPart((percent - known) / scale, "assumed"),
      ...(scale > 1 ? [markAt(100 / scale)] : []),
    ),
    ...(scale > 1 ? [labelAt(100 / scale)] : []),
    ...lines.filter((line) => line !== "").map((line) => element("small", {}, ...withCopiedCommand(line))),
  );
}

function barPart(percent: number, name: string): HTMLElement {
  const part = element("span", { class: name });
  part.style.width = `${percent}%`;
  // Only nothing has no bar. A guess looks no larger than it is.
  if (percent > 0 && name === "known") part.style.minWidth = LEAST_BAR;
  return part;
}

function markAt(percent: number): HTMLElement {
  const mark = element("span", { class: "limit" });
  mark.style.left = `${percent}%`;
  return mark;
}

/** Says what the mark is. Near the end of the bar there is no room to its right. */
function labelAt(percent: number): HTMLElement {
  const label = element("small", { class: "limit-label" }, "↑ limit");
  label.style.marginInlineStart = `min(${percent}%, 100% - 3.5rem)`;
  return label;
}
