import { parsePeriod, type Period } from "../../../core/ledger/period.ts";
import type { Calendar } from "../../../core/ledger/calendar.ts";
import type { Span } from "../../../core/digest/usual-spending.ts";
import { reportOptions, type Command, type ReportArguments } from "../../command.ts";
import {
  readCalendar,
  readPeriod,
  zoneOf,
  zoneOptions,
  type ZoneArguments,
} from "../../ledger/period-options.ts";
import { loadConfig } from "../../load-config.ts";
import { print, printJson } from "../../terminal/console.ts";
import { WrongUsage } from "../../wrong-usage.ts";
import { toDocument } from "./digest/document.ts";
import { readDigest } from "./digest/read-digest.ts";
import { renderDigest } from "./digest/render.ts";

interface DigestArguments extends ReportArguments, ZoneArguments {
  weekly: boolean;
  today: boolean;
  day?: string | undefined;
}

/** `tollkeeper digest`: a short text on the last whole day or week, or on today so far. Reads the ledger's files, and asks a running daemon for budgets. */
export const command: Command<DigestArguments> = {
  alone: { json: false, weekly: false, today: false },
  builder: (yargs) =>
    zoneOptions(reportOptions(yargs))
      .option("weekly", {
        type: "boolean",
        default: false,
        describe: "About the last whole week, Monday to Sunday, instead of yesterday",
      })
      .option("today", {
        type: "boolean",
        default: false,
        describe: "About today so far, instead of yesterday",
      })
      .option("day", {
        type: "string",
        describe: "About this day, such as 2026-11-28, instead of yesterday",
      }),
  handler: async (given) => {
    const { config, json, weekly, today, day } = given;
    if (Number(weekly) + Number(today) + Number(day !== undefined) > 1)
      throw new WrongUsage("--weekly, --today and --day exclude each other", "type one of them");
    const span: Span = weekly ? "week" : "day";
    const calendar = readCalendar(given);
    const period = day === undefined ? namedPeriod(span, today, calendar) : readDay(day, calendar);
    const digest = await readDigest(await loadConfig(config), {
      span,
      period,
      calendar,
      zone: zoneOf(given),
    });
    if (json) printJson(toDocument(digest));
    else print(renderDigest(digest, process.stdout.columns || Infinity));
  },
};

function namedPeriod(span: Span, isToday: boolean, calendar: Calendar): Period {
  if (isToday) return parsePeriod({ since: "today", until: undefined }, Date.now(), calendar);
  const word = span === "day" ? "yesterday" : "last week";
  return parsePeriod({ since: word, until: word }, Date.now(), calendar);
}

/** @throws WrongUsage for what is not a day that is over */
function readDay(day: string, calendar: Calendar): Period {
  const advice = "type a day that is over, such as: --day 2026-11-28";
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day))
    throw new WrongUsage(`cannot read --day ${JSON.stringify(day)}`, advice);
  const period = readPeriod({ since: day, until: day }, calendar);
  if (period.until === null) throw new WrongUsage(`${day} is not over`, advice);
  return period;
}
