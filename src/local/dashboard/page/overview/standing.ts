import { card, element } from "../elements.ts";
import type { Status, Sums } from "../feed-types.ts";
import { assumedIn, describeCourse } from "./course.ts";
import { firstDayOf, type Forecast } from "./forecast.ts";
import { budgetMeters } from "../meters/budget-meters.ts";
import { limitMeters } from "../meters/limit-meters.ts";
import { meterItem } from "../meters/meter-item.ts";
import type { Meter } from "../meters/meter.ts";
import { dateFormat, describeChange, formatDay, formatDollars } from "../numbers.ts";
import { isRecordedInPart } from "./recorded-since.ts";
import { startOfDay } from "../times.ts";
import { costOf } from "../usage-sums.ts";

/** As many bars as have room. The view `health` has all. */
const MOST_METERS = 4;
/** Percent. On a phone, what is used less has no bar, unless it warns. */
const MUCH_USED = 50;

const MONTH = dateFormat({ month: "long" });

/** What the cards say beside the sums of days. */
interface Beside {
  /** What yesterday came to by this time. */
  yesterdayByNow: Sums;
  /** The first local day that has a record; null if none has. */
  recordedSince: string | null;
  /** null where budgets and limits are not shown. */
  status: Status | null;
  /** Whether something is out of line today; null where that is not shown. */
  unusual: HTMLElement | null;
}

/** Shows what was spent today and this month, what the month will have cost, and what is left of budgets and limits. */
export function standing(forecast: Forecast, beside: Beside, now: Date): HTMLElement {
  const { today, month } = forecast;
  const { status, unusual, recordedSince } = beside;
  const course = describeCourse(forecast, status === null ? 0 : assumedIn(status));
  const todayCard = card("Today", formatSpent(today), besideYesterday(forecast, beside, now));
  if (unusual !== null) todayCard.append(unusual);
  return element(
    "section",
    { class: "standing", ariaLabel: "today and this month" },
    todayCard,
    card(MONTH.format(now), formatSpent(month), ...course, ...besideLastMonth(forecast, recordedSince, now)),
    ...(status === null ? [] : left(status)),
  );
}

/** What a phone has no room for. */
function detail(text: string): HTMLElement {
  return element("span", { class: "detail" }, text);
}

/** What yesterday cost by this time, and all of it. */
function besideYesterday(
  { today, yesterday }: Forecast,
  { yesterdayByNow: byNow, recordedSince }: Beside,
  now: Date,
): (string | HTMLElement)[] {
  const start = startOfDay(now, -1);
  if (isRecordedInPart(startOfDay(now), recordedSince)) return [sayRecorded(recordedSince)];
  if (isRecordedInPart(start, recordedSince))
    return [`yesterday: ${formatSpent(yesterday)}`, detail(", the first recorded day")];
  const change = describeChange(today.usd, Number(byNow.cost_usd), "yesterday by this time");
  if (change === "") return [`yesterday: ${formatSpent(yesterday)}`];
  return [change, detail(` (${costOf(byNow)}); all of yesterday ${formatSpent(yesterday)}`)];
}

/** What last month cost until the same day, and all of it. */
function besideLastMonth(
  { month, lastMonth, lastMonthByNow }: Forecast,
  recordedSince: string | null,
  now: Date,
): string[] {
  if (lastMonth.usd === 0) return [];
  const name = MONTH.format(firstDayOf(now));
  if (isRecordedInPart(firstDayOf(now), recordedSince))
    return [`${name}: ${formatSpent(lastMonth)}, ${sayRecorded(recordedSince)}`];
  const change = describeChange(month.usd, lastMonthByNow.usd, `${name} until the same day`);
  if (change === "") return [`${name}: ${formatSpent(lastMonth)}`];
  return [`${change} (${formatSpent(lastMonthByNow)}); all of ${name} ${formatSpent(lastMonth)}`];
}

function sayRecorded(since: string | null): string {
  return since === null ? "" : `recorded since ${formatDay(since)}`;
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
  const isOnPhoneOnly = meters.length <= MOST_METERS;
  const link = { class: `more${isOnPhoneOnly ? " on-phone" : ""}`, href: "#/health" };
  return [
    element(
      "div",
      { class: "card meters" },
      element("h2", {}, "Budgets and limits"),
      // All are there where no bar is left out.
      ...(isOnPhoneOnly && !meters.some(isLittleUsed)
        ? []
        : [element("a", link, `All ${meters.length} in health`)]),
      element("ul", {}, ...meters.slice(0, MOST_METERS).map(briefItem)),
    ),
  ];
}

/** What refuses has its sentence above every view, with what is assumed. */
function briefItem(meter: Meter): HTMLElement {
  const item = meterItem(meter, [meter.alarms.join(". ")]);
  if (isLittleUsed(meter)) item.classList.add("little");
  return item;
}

function isLittleUsed({ percent, tone }: Meter): boolean {
  return tone === "" && percent < MUCH_USED;
}
