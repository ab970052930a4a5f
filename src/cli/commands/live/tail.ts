import { followDaemon } from "../../../adapters/control-socket.ts";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import { findControlPath } from "../../../daemon/control/find-path.ts";
import { isSought, SOUGHT, type Sought } from "../../../core/ledger/spend.ts";
import type { Period } from "../../../core/ledger/period.ts";
import { isAdmitted, isWanted, type RecordFilter } from "../../../core/ledger/record-filter.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { costOf } from "../../../core/price/cost.ts";
import { missedCostOf } from "../../../core/price/missed.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { toSnakeCase } from "../../../core/text/snake-case.ts";
import { isRecord, type FeedEntry } from "../../../daemon/record-feed.ts";
import { daemonStatus } from "../../../daemon/running-daemon.ts";
import type { Command } from "../../command.ts";
import {
  filterOf,
  filterOptions,
  readCalendar,
  readPeriod,
  zoneOptions,
  type ZoneArguments,
} from "../../ledger/period-options.ts";
import { noteSimilarTool } from "../../known-tools.ts";
import { loadConfig } from "../../load-config.ts";
import { documentCost } from "../../prices/cost-document.ts";
import { documentMiss } from "../../prices/miss-document.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { explainAbsence } from "../../service/explain-absence.ts";
import { EXIT, hasColours, note, print } from "../../terminal/console.ts";
import {
  fillColumns,
  fitToRows,
  headLine,
  rowLine,
  rowLines,
  type FixedColumn,
} from "../../terminal/fixed-columns.ts";
import { Footer } from "../../terminal/footer.ts";
import { inTone } from "../../terminal/styles.ts";
import { nameLastSession } from "../../ledger/last-session.ts";
import { readLastRecords } from "../../ledger/last-records.ts";
import { recordsOfPeriod } from "../../ledger/records-of-period.ts";
import {
  columnsOf,
  dayOf,
  describeRecord,
  describeRefusal,
  describeRunningRequest,
  timeOf,
  type RequestRow,
} from "./request-row.ts";
import { Follower, ShownRecords } from "./follow.ts";
import { readRunning } from "./running.ts";
import { Dearest } from "./tail/dearest.ts";

interface TailArguments extends RecordFilter, ZoneArguments {
  config?: string | undefined;
  lines?: number | undefined;
  since?: string | undefined;
  until?: string | undefined;
  outcome?: Sought | undefined;
  dearest: boolean;
  follow: boolean;
  json: boolean;
  cost: boolean;
}

const USUAL_LINES = 10;
/** In which `--dearest` looks. */
const USUAL_PERIOD = "7d";
/** Columns are fitted to so many rows at most. */
const MOST_FITTED = 200;
/** Who looks for these wants to know why. */
const WITH_REASONS: ReadonlySet<Sought> = new Set(["failed", "refused", "problem"]);
/** How often the running requests on the screen are renewed. */
const RENEW_MS = 1_000;
/** How many of them are shown at most. */
const MOST_RUNNING = 8;

/** `tollkeeper tail`: prints the last requests, and then each as it ends, until Ctrl-C is pressed. */
export const command: Command<TailArguments> = {
  builder: (yargs) =>
    filterOptions(zoneOptions(yargs))
      .option("config", { type: "string" })
      .option("lines", {
        alias: "n",
        type: "number",
        requiresArg: true,
        describe: `How many requests of the past to print first; default: ${USUAL_LINES}, or all with --since`,
      })
      .option("since", {
        type: "string",
        requiresArg: true,
        describe:
          "Print the requests of the past from there: 2h, today, yesterday, 2026-11-01 or 2026-11-01T09:30Z",
      })
      .option("until", {
        type: "string",
        requiresArg: true,
        describe: "Print the requests of the past up to then; needs --since and --no-follow",
      })
      .option("outcome", {
        choices: SOUGHT,
        requiresArg: true,
        describe:
          "Only requests that failed, were cut short, were refused by tollkeeper (problem: all three), or missed the cache",
      })
      .option("dearest", {
        type: "boolean",
        default: false,
        describe: `Print the dearest requests of the past, the dearest first, and follow none; period: ${USUAL_PERIOD}`,
      })
      .option("follow", {
        alias: "f",
        type: "boolean",
        default: true,
        describe: "Then print each request as it ends; --no-follow prints only those of the past",
      })
      .option("json", {
        type: "boolean",
        default: false,
        describe: "Print JSON lines: records, refused requests that have none, and notices",
      })
      .option("cost", {
        type: "boolean",
        default: false,
        describe: "With --json: add to each record what it cost, line by line",
      })
      .check(({ since, until, follow, dearest }) =>
        until === undefined || (since !== undefined && (!follow || dearest))
          ? true
          : '"--until" is for the past only: add "--since" and "--no-follow"',
      )
      .check(({ lines = 0 }) =>
        Number.isInteger(lines) && lines >= 0 ? true : '"--lines" takes a whole number, such as 20',
      ),
  handler: async (typed) => {
    const { config: file, json, dearest, outcome } = typed;
    const follow = typed.follow && !dearest;
    const entries = follow ? await followDaemon(await findControlPath()) : null;
    if (follow && entries === null) throw await explainAbsence();
    const status = await daemonStatus();
    const config = await loadConfig(file ?? status?.config.path);
    const directory = status?.ledger.directory ?? ledgerDirectory(config);
    const period = periodOf(typed);
    const given = await nameLastSession(typed, directory, period);
    const filter = filterOf(given);
    const hasCosts = !json || given.cost;
    const prices = hasCosts || dearest ? await loadPrices(config) : null;
    const printer =
      json || prices === null
        ? new JsonPrinter(hasCosts ? prices : null)
        : new LinePrinter(prices, { filter, outcome, follows: follow, hasDays: dearest });
    // The reader of a pipe, such as `head`, may close it at any time.
    process.stdout.once("error", () => process.exit());
    if (dearest && prices !== null && period !== undefined) {
      const records = recordsOfPeriod(directory, period);
      printer.printPast(await dearestOf(records, given, prices));
      return;
    }
    const shown = new ShownRecords();
    // Before the past is read, so that nothing is lost in between. To find the ends of a year's files takes long.
    const follower = entries === null ? null : new Follower(directory, shown);
    const found: UsageRecord[] = [];
    for await (const record of past(given, directory, period)) if (shown.remember(record)) found.push(record);
    printer.printPast(found);
    if (entries === null || follower === null) return;
    note("waiting for requests; stop with Ctrl-C");
    for (const capture of status?.captures ?? [])
      if (capture.state === "running")
        note(`${capture.tool} is captured; to stop, type: tollkeeper capture stop ${capture.tool}`);
    await noteSimilarTool(filter.tool, config);
    await printer.begin();
    for await (const followed of follower.follow(entries)) {
      if ("daemon" in followed) printer.say(DAEMON[followed.daemon]);
      else if (isShown(followed.entry, filter, outcome)) printer.print(followed.entry);
    }
  },
};

const DAEMON = {
  stopped: "the daemon has stopped; waiting for the next one",
  started: "the daemon has started",
};

/** Returns the period whose requests are printed first; undefined for the newest ones of any day. */
function periodOf(given: TailArguments): Period | undefined {
  const { since = given.dearest ? USUAL_PERIOD : undefined, until } = given;
  return since === undefined ? undefined : readPeriod({ since, until }, readCalendar(given));
}

/** Returns the requests of the past that are to be printed. */
async function* past(
  given: TailArguments,
  directory: string,
  period: Period | undefined,
): AsyncGenerator<UsageRecord> {
  const { lines, outcome } = given;
  const filter = filterOf(given);
  const isOfThese = (entry: FeedEntry) => isShown(entry, filter, outcome);
  if (period === undefined) {
    yield* await readLastRecords(directory, lines ?? USUAL_LINES, isOfThese);
    return;
  }
  const records: UsageRecord[] = [];
  for await (const record of recordsOfPeriod(directory, period)) {
    if (!isOfThese(record)) continue;
    records.push(record);
    if (lines !== undefined && records.length > 2 * lines) records.splice(0, records.length - lines);
  }
  yield* lines === undefined ? records : records.slice(Math.max(0, records.length - lines));
}

/** Returns the dearest of some requests that are to be printed, the dearest first. */
async function dearestOf(
  records: AsyncIterable<UsageRecord>,
  given: TailArguments,
  prices: PriceBook,
): Promise<UsageRecord[]> {
  const { lines = USUAL_LINES, outcome } = given;
  const filter = filterOf(given);
  const dearest = new Dearest(lines, prices);
  for await (const record of records) if (isShown(record, filter, outcome)) dearest.add(record);
  return dearest.list();
}

/** A refusal without a record has only a tool; a notice is about all. */
function isShown(entry: FeedEntry, filter: RecordFilter, outcome: Sought | undefined): boolean {
  if (isRecord(entry))
    return (outcome === undefined || isSought(entry, outcome)) && isWanted(filter, entry, entry);
  if ("notice" in entry) return true;
  if (outcome !== undefined && outcome !== "refused" && outcome !== "problem") return false;
  return isAdmitted(filter, (field) => (field === "tool" ? entry.tool : null));
}

/** Prints entries as they are, and with prices also what each record cost. */
class JsonPrinter {
  readonly #prices: PriceBook | null;

  constructor(prices: PriceBook | null) {
    this.#prices = prices;
  }

  print(entry: FeedEntry): void {
    const priced =
      this.#prices === null || !isRecord(entry) ? entry : { ...entry, ...priceFields(entry, this.#prices) };
    print(JSON.stringify(priced));
  }

  printPast(records: readonly UsageRecord[]): void {
    for (const record of records) this.print(record);
  }

  begin(): Promise<void> {
    return Promise.resolve();
  }

  say(sentence: string): void {
    note(sentence);
  }
}

/** What a record cost, line by line, and what it cost more than a hit if it missed the cache. */
function priceFields(record: UsageRecord, prices: PriceBook): object {
  return toSnakeCase({
    cost: documentCost(costOf(record, prices)),
    missed: documentMiss(record, missedCostOf(record, prices)),
  }) as object;
}

/** What is printed, and in which order. */
interface Printed {
  filter: RecordFilter;
  outcome: Sought | undefined;
  follows: boolean;
  hasDays: boolean;
}

/** Prints a line for each entry; on a terminal with running requests below. */
class LinePrinter {
  readonly #prices: PriceBook;
  readonly #filter: RecordFilter;
  readonly #isTerminal = process.stdout.isTTY;
  readonly #isColoured = hasColours();
  readonly #footer = new Footer(process.stdout);
  readonly #outcome: Sought | undefined;
  #hasDays: boolean;
  /** As the columns are wide. */
  #past: readonly RequestRow[] = [];
  #isFirst = true;
  #isHeadPrinted = false;

  /** What goes on in a pipe has no head, because each of its lines is a request. In another order than that of time, rows have days. */
  constructor(prices: PriceBook, { filter, outcome, follows, hasDays }: Printed) {
    this.#prices = prices;
    this.#filter = filter;
    this.#hasDays = hasDays;
    this.#outcome = outcome;
    this.#isHeadPrinted = follows && !this.#isTerminal;
  }

  /** Prints requests of the past, to whose texts the columns are fitted. */
  printPast(records: readonly UsageRecord[]): void {
    this.#past = records.slice(-MOST_FITTED).map((record) => describeRecord(record, this.#prices));
    for (const record of records) this.print(record);
  }

  print(entry: FeedEntry): void {
    // The first request is the oldest one: if it is of today, all are.
    if (this.#isFirst) this.#hasDays ||= !isOfToday(entry.ts);
    this.#isFirst = false;
    if (!this.#isHeadPrinted) this.#printHead();
    if ("notice" in entry)
      return this.#write(
        inTone(`${timeOf(entry.ts)}  ${toPrintable(entry.notice)}`, "warning", this.#isColoured),
      );
    const row = isRecord(entry) ? describeRecord(entry, this.#prices) : describeRefusal(entry);
    const width = this.#width;
    for (const line of rowLines(this.#columns, width, row))
      this.#write(inTone(line, row.tone, this.#isColoured));
  }

  /** Shows running requests from now on. */
  async begin(): Promise<void> {
    // What runs has no outcome yet.
    if (!this.#isTerminal || this.#outcome !== undefined) return;
    process.once("SIGINT", () => {
      this.#footer.show([]);
      process.exit(EXIT.interrupted);
    });
    await this.#renew();
    setInterval(() => void this.#renew(), RENEW_MS).unref();
  }

  say(sentence: string): void {
    if (this.#isTerminal) this.#write(inTone(sentence, "faint", this.#isColoured));
    else note(sentence);
  }

  async #renew(): Promise<void> {
    const { requests } = await readRunning();
    const wanted = requests.filter((request) =>
      isAdmitted(this.#filter, (field) =>
        field === "model" ? (request.model ?? request.model_requested) : request[field],
      ),
    );
    const rows = wanted.slice(-MOST_RUNNING).map(describeRunningRequest);
    this.#footer.show(rows.map((row) => this.#line(row)));
  }

  #printHead(): void {
    this.#isHeadPrinted = true;
    this.#write(inTone(headLine(this.#columns, this.#width), "strong", this.#isColoured));
  }

  #line(row: RequestRow): string {
    return inTone(rowLine(this.#columns, this.#width, row), row.tone, this.#isColoured);
  }

  /** As wide as the terminal is now. */
  get #columns(): FixedColumn<RequestRow>[] {
    const areReasonsAsked =
      this.#isTerminal && this.#outcome !== undefined && WITH_REASONS.has(this.#outcome);
    const listed = { hasDays: this.#hasDays, areReasonsAsked };
    return fillColumns(fitToRows(columnsOf(listed, this.#width), this.#past), this.#width);
  }

  get #width(): number {
    return process.stdout.columns || Infinity;
  }

  #write(line: string): void {
    this.#footer.print(line);
  }
}

function isOfToday(ts: string): boolean {
  const [day, today] = [ts, new Date().toISOString()].map((time) => dayOf(time).slice(0, 10));
  return day === today;
}
