import type { RunningRequest } from "../../../core/ledger/running-request.ts";
import { isPaidByTool } from "../../../core/plans/names.ts";
import { element } from "./elements.ts";
import type { FeedEntry, Running, UsageReport } from "./feed-types.ts";
import { readFeed, readRecords } from "./feeds.ts";
import { nothingYet } from "./frame/empty.ts";
import { LiveCosts } from "./live/live-costs.ts";
import {
  ENDED_HEADS,
  endedCells,
  rewrite,
  rowOf,
  RUNNING_HEADS,
  runningCells,
  tableOf,
  toneOfEnded,
  toneOfRunning,
  type Cells,
  type Found,
} from "./live/live-rows.ts";
import { endOf, paceOf } from "./live/pace.ts";
import { Progress } from "./live/progress.ts";
import { RunningCosts } from "./live/running-costs.ts";
import { formatCount, formatDollars } from "./numbers.ts";
import { openRecord } from "./record.ts";
import { dayRow } from "./table.ts";
import { dayOf, TIME_ZONE } from "./times.ts";
import { costOf } from "./usage-sums.ts";

/** How many that ended before the page was opened are shown. */
const LAST_RECORDS = 20;
const SKELETON_ROWS = 8;
/** How many requests that have ended are kept. */
const MOST_ENDED = 200;
/** "Pause" would be what refuses requests. */
const HOLD = "Hold the list";
const GO_ON = "Go on";

/** What runs, and what has ended since the page was opened. It is kept while another view is shown. */
export class LiveView {
  readonly #ended: FeedEntry[] = [];
  #running: Running = { total: 0, requests: [] };
  #isHeld = false;
  /** Whether the requests that ended before are known. */
  #isLoaded = false;
  #filter = "";
  /** What today cost, as {@link costOf} writes it; empty until that is known. */
  #today = "";
  /** The local day of the newest row. */
  #newestDay = "";
  /** Whether rows have headings for their days. */
  #hasDays = false;
  readonly #runningBody = element("tbody");
  readonly #runningCaption = element("caption");
  /** By the request's id. */
  readonly #runningRows = new Map<string, HTMLElement>();
  readonly #endedBody = element("tbody");
  readonly #endedCaption = element("caption");
  /** The row of each entry that was last drawn. */
  readonly #endedRowOf = new WeakMap<FeedEntry, HTMLElement>();
  readonly #costs = new LiveCosts((entry) => this.#redrawEnded(entry));
  readonly #runningCosts = new RunningCosts();
  readonly #progress = new Progress();
  /** Rows to come, so that nothing jumps once the last requests are read. */
  readonly #skeleton = element(
    "div",
    { class: "skeleton", ariaHidden: "true" },
    ...Array.from({ length: SKELETON_ROWS }, () => element("div")),
  );
  readonly #count = element("span", { role: "status" });
  readonly #holdButton = element("button", { onclick: () => this.#toggleHold() }, HOLD);
  /** What there is to do with requests: to filter them, and to have them stay. */
  readonly #choices = element("div", { class: "choices" });
  readonly #tables = element("div", { class: "scroll" });
  readonly #empty = nothingYet("Nothing is running", true);
  readonly #element = this.#build();

  /** Shows itself in `parent`. */
  show(parent: HTMLElement): void {
    parent.replaceChildren(this.#element);
    this.#draw();
    void this.#readToday();
  }

  /** Whether rows stay as they are, because a person reads them. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  async #readToday(): Promise<void> {
    const report = await readFeed<UsageReport>("usage", {
      by: "tool",
      since: "today",
      timezone: TIME_ZONE,
    }).catch(() => null);
    if (report === null) return;
    this.#today = costOf(report.total);
    this.#nameRunning();
  }

  /** Adds the last records. Those that have come since are newer. */
  async loadLast(): Promise<void> {
    const known = new Set(this.#ended.map((entry) => ("id" in entry ? entry.id : "")));
    const records = await readRecords({ lines: String(LAST_RECORDS) });
    this.#ended.push(...records.filter(({ id }) => !known.has(id)).toReversed());
    this.#dropOldest();
    this.#isLoaded = true;
    if (this.#element.isConnected) this.#draw();
  }

  /** Adds what a feed has sent. */
  take(event: string, data: unknown): void {
    const isShown = !this.#isHeld && this.#element.isConnected;
    if (event === "running") {
      this.#running = data as Running;
      this.#progress.look(this.#running.requests, Date.now());
      if (!isShown) return;
      this.#drawRunning();
      this.#sayPace();
      // As this comes each second, no timer is needed.
      if (document.hidden) return;
      void this.#costs.read(this.#ended);
      void this.#runningCosts.read(this.#running.requests, this.#ended);
      return;
    }
    this.#ended.unshift(data as FeedEntry);
    const dropped = this.#dropOldest();
    if (isShown) this.#addEnded(data as FeedEntry, dropped);
  }

  /** Keeps the newest {@link MOST_ENDED}, and returns the others. */
  #dropOldest(): FeedEntry[] {
    return this.#ended.splice(MOST_ENDED);
  }

  #build(): HTMLElement {
    const input = element("input", { type: "search" });
    input.addEventListener("input", () => {
      this.#filter = input.value;
      this.#draw();
    });
    this.#choices.append(element("label", {}, "Tool or model ", input), this.#holdButton);
    this.#tables.append(
      element(
        "div",
        { class: "now" },
        tableOf(this.#runningCaption, RUNNING_HEADS, this.#runningBody, "two-lines running"),
      ),
      tableOf(this.#endedCaption, ENDED_HEADS, this.#endedBody, "two-lines"),
      this.#skeleton,
    );
    return element(
      "section",
      { class: "live" },
      element("div", { class: "controls" }, this.#count, this.#choices),
      this.#tables,
    );
  }

  #toggleHold(): void {
    this.#isHeld = !this.#isHeld;
    this.#holdButton.textContent = this.#isHeld ? GO_ON : HOLD;
    if (!this.#isHeld) this.#draw();
  }

  #draw(): void {
    this.#drawRunning();
    let day = "";
    const shown = this.#ended.flatMap((entry) =>
      this.#endedRows(entry).map((row) => [localDay(entry), row] as const),
    );
    // A heading says of which day a time is, unless all are of today.
    this.#hasDays = shown.some(([its]) => its !== dayOf(new Date()));
    this.#newestDay = shown[0]?.[0] ?? "";
    this.#endedBody.replaceChildren(
      ...shown.flatMap(([its, row]) => {
        if (!this.#hasDays || its === day) return [row];
        day = its;
        return [dayRow(its, ENDED_HEADS.length), row];
      }),
    );
    this.#nameEnded();
  }

  #drawRunning(): void {
    const { total, requests } = this.#running;
    this.#runningCaption.textContent = total === 0 ? "Nothing is running" : "Running";
    this.#nameRunning();
    this.#showWhatThereIs();
    // The oldest first: what hangs is at the top, and new ones do not move the others.
    const shown = requests
      .filter((request) => this.#isMeant(runningCells(request, this.#found(request))))
      .toSorted((one, other) => Date.parse(one.ts) - Date.parse(other.ts));
    const ids = new Set(shown.map(({ id }) => id));
    for (const [id, row] of this.#runningRows) {
      if (ids.has(id)) continue;
      row.remove();
      this.#runningRows.delete(id);
    }
    shown.forEach((request, at) => this.#drawRunningRow(request, at));
  }

  /** Says how many run, what they cost at least until now, and what today cost. */
  #nameRunning(): void {
    const { total, requests } = this.#running;
    const costs = requests
      .filter(({ upstream }) => !isPaidByTool(upstream))
      .map((request) => this.#runningCosts.of(request, this.#ended) ?? 0);
    const dollars = costs.reduce((sum, cost) => sum + cost, 0);
    this.#count.textContent = [
      `${formatCount(total)} running${dollars === 0 ? "" : `, ≥${formatDollars(dollars)} so far`}`,
      ...(this.#today === "" ? [] : [`today ${this.#today}`]),
      ...(this.#isHeld ? ["on hold"] : []),
    ].join(" · ");
  }

  /** Without any request there is nothing to filter, but something to do. */
  #showWhatThereIs(): void {
    const isEmpty = this.#ended.length + this.#running.total === 0;
    if (!isEmpty || !this.#isLoaded) this.#empty.remove();
    // It stays where it is, and so does the focus in it.
    else if (this.#empty.parentElement === null) this.#tables.before(this.#empty);
    this.#choices.hidden = isEmpty;
    this.#tables.hidden = isEmpty && this.#isLoaded;
    this.#skeleton.hidden = this.#isLoaded;
  }

  /** Leaves the rows of those that go on where they are, so that a click on one, or the focus, is not lost. */
  #drawRunningRow(request: RunningRequest, at: number): void {
    const { id } = request;
    const found = this.#found(request);
    const cells = runningCells(request, found);
    const tone = toneOfRunning(request, found);
    const known = this.#runningRows.get(id);
    if (known !== undefined) return rewrite(known, cells, tone);
    const open = () => openRecord(this.#running.requests.find((running) => running.id === id) ?? request);
    const row = rowOf(cells, { onclick: open, id }, tone);
    this.#runningRows.set(id, row);
    this.#runningBody.insertBefore(row, this.#runningBody.children[at] ?? null);
  }

  #found(request: RunningRequest): Found {
    return {
      cost: this.#runningCosts.of(request, this.#ended),
      soFar: this.#progress.soFar(request),
      quietMs: this.#progress.quietFor(request, Date.now()),
    };
  }

  /** Leaves the other rows as they are, so that one which somebody is about to click stays. */
  #addEnded(entry: FeedEntry, dropped: readonly FeedEntry[]): void {
    for (const one of dropped) this.#endedRowOf.get(one)?.remove();
    const oldest = this.#endedBody.lastElementChild;
    // The heading of a day whose last row has gone.
    if (oldest?.className === "day") oldest.remove();
    const [row] = this.#endedRows(entry);
    if (row === undefined) return;
    const isFirst = this.#endedBody.childElementCount === 0;
    if (isFirst || this.#newestDay !== localDay(entry)) return this.#draw();
    if (this.#hasDays) this.#endedBody.firstElementChild?.after(row);
    else this.#endedBody.prepend(row);
    this.#nameEnded();
  }

  #nameEnded(): void {
    this.#showWhatThereIs();
    const noneEnded = this.#isLoaded ? "No request has ended yet" : "Reading the last requests…";
    const none = this.#ended.length === 0 ? noneEnded : "No request matches";
    this.#endedCaption.textContent = this.#endedBody.childElementCount > 0 ? "Ended" : none;
    this.#sayPace();
  }

  /** Says beside the heading what those that ended cost a minute. */
  #sayPace(): void {
    const isMeant = (entry: FeedEntry) => this.#filter === "" || this.#isMeant(endedCells(entry));
    this.#endedCaption.dataset["pace"] = paceOf(this.#ended, isMeant, Date.now());
  }

  /** Returns the row of an entry; none if the filter leaves it out. */
  #endedRows(entry: FeedEntry): HTMLElement[] {
    const cells = endedCells(entry);
    if (!this.#isMeant(cells)) return [];
    const row = rowOf(
      cells,
      { onclick: () => openRecord(entry), id: "id" in entry ? entry.id : null },
      toneOfEnded(entry),
    );
    this.#endedRowOf.set(entry, row);
    return [row];
  }

  #redrawEnded(entry: FeedEntry): void {
    const row = this.#endedRowOf.get(entry);
    if (row !== undefined) rewrite(row, endedCells(entry), toneOfEnded(entry));
  }

  /** Returns whether the filter lets it through. */
  #isMeant([, tool, model]: Cells): boolean {
    return [tool, model].some((text) => text.toLowerCase().includes(this.#filter.toLowerCase()));
  }
}

function localDay(entry: FeedEntry): string {
  return dayOf(new Date(endOf(entry)));
}
