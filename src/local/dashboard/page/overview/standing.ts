import { card, element } from "../elements.ts";
import type { Status } from "../feed-types.ts";
import { assumedIn, describeCourse } from "./course.ts";
import type { Forecast } from "./forecast.ts";
import { meterItem } from "../meter-item.ts";
import { budgetMeters, limitMeters } from "../meters.ts";
import { formatChange, formatDollars } from "../numbers.ts";

/** As many bars as have room. The view `health` has all. */
const MOST_METERS = 4;

const MONTH = new Intl.DateTimeFormat(undefined, { month: "long" });

/** Shows what was spent today and this month, what the month will have cost, and what is left of budgets and limits. */
export function standing(forecast: Forecast, status: Status | null, now: Date): HTMLElement {
  const { today, yesterday, month } = forecast;
  const course = describeCourse(forecast, status === null ? 0 : assumedIn(status));
  return element(
    "section",
    { class: "standing", attributes: { "aria-label": "today and this month" } },
    card("Today", formatSpent(today), `yesterday: ${formatSpent(yesterday)}`),
    card(
      MONTH.format(now),
      formatSpent(month),
      ...(course === "" ? [] : [course]),
      ...besideLastMonth(forecast, now),
    ),
    ...(status === null ? [] : left(status)),
  );
}

/** What last month cost, and until the same day. */
function besideLastMonth({ month, lastMonth, lastMonthByNow }: Forecast, now: Date): string[] {
  if (lastMonth.usd === 0) return [];
  const name = MONTH.format(new Date(now.getFullYear(), now.getMonth() - 1, 1));
  const change = formatChange(month.usd, lastMonthByNow.usd);
  return [
    ...(change === "" ? [] : [`${name} until the same day: ${formatSpent(lastMonthByNow)} (${change})`]),
    `${name}: ${formatSpent(lastMonth)}`,
  ];
}

function formatSpent({ usd, isExact }: Forecast["today"]): string {
  return `${isExact ? "" : "≥"}${formatDollars(usd)}`;
}

/** What of budgets and limits is used, the fullest first. */
function left(status: Status): HTMLElement[] {
  const meters = [...budgetMeters(status), ...limitMeters(status)].toSorted(
    (one, other) => other.percent - one.percent,
  );
  if (meters.length === 0) return [];
  const more = meters.length - MOST_METERS;
  return [
    element(
      "div",
      { class: "card meters" },
      element("h2", {}, "Budgets and limits"),
      element(
        "ul",
        {},
        ...meters.slice(0, MOST_METERS).map((meter) => meterItem(meter, meter.next, meter.assumption)),
      ),
      ...(more > 0
        ? [element("a", { class: "more", href: "#/health" }, `All ${meters.length} in health`)]
        : []),
    ),
  ];
}
