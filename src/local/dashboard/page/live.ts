import type { RunningRequest } from "../../../core/ledger/running-request.ts";
import { costTable } from "./cost.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { explainRecord } from "./explain.ts";
import { element } from "./elements.ts";
import type { Cost, FeedEntry, Refusal, Running } from "./feed-types.ts";
import { FeedError, readFeed, readRecords } from "./feeds.ts";
import { formatCount, formatSeconds, formatShare } from "./numbers.ts";
import type { RowTone } from "./table.ts";

/** How many that ended before the page was opened are shown. */
const LAST_RECORDS = 20;
/** How many requests that have ended are kept. */
const MOST_ENDED = 200;

/** Names that say what a request used, and how it ended. */
type Cells = readonly [
  time: string,
  tool: string,
  model: string,
  input: string,
  cached: string,
  output: string,
  took: string,
  end: string,
];

const HEADS = ["time", "tool", "model", "tokens in", "cached", "out", "took", "end"];

/** What runs, and what has ended since the page was opened. It is kept while another view is shown. */
export class LiveView {
  readonly #ended: FeedEntry[] = [];
  #running: Running = { total: 0, requests: [] };
  #isPaused = false;
  #filter = "";
  readonly #runningBody = element("tbody");
  readonly #runningCaption = element("caption");
  /** By the request's id. */
  readonly #runningRows = new Map<string, HTMLElement>();
  readonly #endedBody = element("tbody");
  readonly #count = element("span", { attributes: { role: "status" } });
  readonly #pauseButton = element("button", { onclick: () => this.#togglePause() }, "Pause");
  readonly #details = element("dialog", { attributes: { "aria-label": "the whole record" } });
  readonly #element = this.#build();

  /** Shows itself in `parent`. */
  show(parent: HTMLElement): void {
    parent.replaceChildren(this.#element);
    this.#draw();
  }

  /** Adds the last records. Those that have come since are newer. */
  async loadLast(): Promise<void> {
    const known = new Set(this.#ended.map((entry) => ("id" in entry ? entry.id : "")));
    const records = await readRecords({ lines: String(LAST_RECORDS) });
    this.#ended.push(...records.filter(({ id }) => !known.has(id)).toReversed());
    if (this.#element.isConnected) this.#draw();
  }

  /** Adds what a feed has sent. */
  take(event: string, data: unknown): void {
    const isShown = !this.#isPaused && this.#element.isConnected;
    if (event === "running") {
      this.#running = data as Running;
      if (isShown) this.#drawRunning();
      return;
    }
    this.#ended.unshift(data as FeedEntry);
    this.#ended.length = Math.min(this.#ended.length, MOST_ENDED);
    if (isShown) this.#addEnded(data as FeedEntry);
  }

  #build(): HTMLElement {
    const input = element("input", { type: "search" });
    input.addEventListener("input", () => {
      this.#filter = input.value;
      this.#draw();
    });
    return element(
      "section",
      { class: "live" },
      element(
        "div",
        { class: "controls" },
        element("label", {}, "Tool or model ", input),
        this.#pauseButton,
        this.#count,
      ),
      tableOf(this.#runningCaption, this.#runningBody),
      tableOf(element("caption", {}, "Ended"), this.#endedBody),
      this.#details,
    );
  }

  #togglePause(): void {
    this.#isPaused = !this.#isPaused;
    this.#pauseButton.textContent = this.#isPaused ? "Go on" : "Pause";
    if (!this.#isPaused) this.#draw();
  }

  #draw(): void {
    this.#drawRunning();
    this.#endedBody.replaceChildren(...this.#ended.flatMap((entry) => this.#endedRows(entry)));
  }

  #drawRunning(): void {
    const { total, requests } = this.#running;
    this.#count.textContent = `${formatCount(total)} running${this.#isPaused ? ", paused" : ""}`;
    this.#runningCaption.textContent = total === 0 ? "Nothing is running" : "Running";
    const shown = requests.filter((request) => this.#isMeant(runningCells(request)));
    const ids = new Set(shown.map(({ id }) => id));
    for (const [id, row] of this.#runningRows) {
      if (ids.has(id)) continue;
      row.remove();
      this.#runningRows.delete(id);
    }
    shown.forEach((request, at) => this.#drawRunningRow(request, at));
  }

  /** Leaves the rows of those that go on where they are, so that a click on one, or the focus, is not lost. */
  #drawRunningRow(request: RunningRequest, at: number): void {
    const { id } = request;
    const cells = runningCells(request);
    const known = this.#runningRows.get(id);
    if (known !== undefined) {
      known
        .querySelectorAll("td")
        .forEach((cell, column) => (cell.textContent = toPrintable(cells[column + 1] ?? "")));
      return;
    }
    const open = () => this.#open(this.#running.requests.find((running) => running.id === id) ?? request);
    const row = rowOf(cells, open);
    this.#runningRows.set(id, row);
    this.#runningBody.insertBefore(row, this.#runningBody.children[at] ?? null);
  }

  /** Leaves the other rows as they are, so that one which somebody is about to click stays. */
  #addEnded(entry: FeedEntry): void {
    this.#endedBody.prepend(...this.#endedRows(entry));
    if (this.#endedBody.childElementCount > MOST_ENDED) this.#endedBody.lastElementChild?.remove();
  }

  /** Returns the row of an entry; none if the filter leaves it out. */
  #endedRows(entry: FeedEntry): HTMLElement[] {
    const cells = endedCells(entry);
    return this.#isMeant(cells) ? [rowOf(cells, () => this.#open(entry), toneOf(entry))] : [];
  }

  /** Returns whether the filter lets it through. */
  #isMeant([, tool, model]: Cells): boolean {
    return [tool, model].some((text) => text.toLowerCase().includes(this.#filter.toLowerCase()));
  }

  /** Shows all fields of an entry, and explains a record. */
  #open(entry: FeedEntry | RunningRequest): void {
    const fields = Object.entries(entry).filter(
      ([name, value]) => name !== "cost" && value !== null && value !== "",
    );
    const cost = element("div", { attributes: { "aria-live": "polite" } });
    const isEnded = "outcome" in entry;
    this.#details.replaceChildren(
      element("button", { class: "close", onclick: () => this.#details.close() }, "Close"),
      ...(isEnded ? explainRecord(entry).map((sentence) => element("p", {}, sentence)) : []),
      cost,
      element(
        "dl",
        {},
        ...fields.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, textOf(value))]),
      ),
    );
    this.#details.showModal();
    this.#details.scrollTop = 0;
    if (isEnded) void showCost(cost, entry.id);
  }
}

/** Asks what a request cost. */
async function showCost(parent: HTMLElement, id: string): Promise<void> {
  try {
    const { cost } = await readFeed<{ cost: Cost }>("cost", { record: id });
    parent.replaceChildren(costTable(cost));
  } catch (error) {
    const reason = error instanceof FeedError ? error.message : "no daemon answers";
    parent.replaceChildren(element("p", {}, `Cost: not known, because ${reason}.`));
  }
}

function rowOf([time, ...cells]: Cells, onclick: () => void, tone: RowTone = ""): HTMLElement {
  return element(
    "tr",
    { class: tone },
    element("th", { attributes: { scope: "row" } }, element("button", { class: "link", onclick }, time)),
    ...cells.map((cell) => element("td", {}, cell)),
  );
}

function tableOf(caption: HTMLElement, body: HTMLElement): HTMLElement {
  const heads = HEADS.map((head) => element("th", { attributes: { scope: "col" } }, head));
  return element("table", {}, caption, element("thead", {}, element("tr", {}, ...heads)), body);
}

/** Texts without quotes. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function timeOf(iso: string): string {
  return new Date(iso).toLocaleTimeString();
}

function usedCells({ tokens }: RunningRequest): [string, string, string] {
  if (tokens === null) return ["", "", ""];
  const { input_total: input, cache_read: cached, output } = tokens;
  return [formatCount(input), formatShare(cached, input), formatCount(output)];
}

function runningCells(request: RunningRequest): Cells {
  const { ts, tool, model, model_requested: requested, duration_ms: age, ttft_ms: ttft } = request;
  const state = ttft === null ? "waiting" : "streaming";
  return [timeOf(ts), tool, model ?? requested ?? "", ...usedCells(request), formatSeconds(age), state];
}

function endedCells(entry: FeedEntry): Cells {
  if ("notice" in entry) return [timeOf(entry.ts), "", "", "", "", "", "", entry.notice];
  if ("refused" in entry) return refusalCells(entry);
  const {
    ts,
    tool,
    model,
    model_requested: requested,
    duration_ms: took,
    outcome,
    status,
    error_type: type,
  } = entry;
  const end = [status ?? "", outcome === "rejected" ? "refused" : outcome, type ?? ""].join(" ").trim();
  return [timeOf(ts), tool, model ?? requested ?? "", ...usedCells(entry), formatSeconds(took), end];
}

function refusalCells({ ts, tool, status, refused, method, path }: Refusal): Cells {
  return [
    timeOf(ts),
    tool ?? "unknown",
    "",
    "",
    "",
    "",
    "",
    `${status} refused (${refused}): ${method} ${path}`,
  ];
}

function toneOf(entry: FeedEntry): RowTone {
  if ("notice" in entry) return "warning";
  if ("refused" in entry) return "failure";
  if (entry.outcome === "error" || entry.outcome === "failed" || entry.outcome === "rejected")
    return "failure";
  return entry.outcome === "cut" ? "warning" : "";
}
