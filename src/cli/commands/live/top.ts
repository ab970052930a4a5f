import { followDaemon } from "../../../adapters/control-socket.ts";
import { findControlPath } from "../../../daemon/control/find-path.ts";
import { RecentActivity } from "../../../core/ledger/recent-activity.ts";
import { isRecord } from "../../../daemon/record-feed.ts";
import type { Command } from "../../command.ts";
import { loadConfig } from "../../load-config.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { explainAbsence, requireDaemon } from "../../service/explain-absence.ts";
import { hasColours, printStyled } from "../../terminal/console.ts";
import { Screen } from "../../terminal/screen.ts";
import { recordsOfPeriod } from "../../ledger/records-of-period.ts";
import { Follower, ShownRecords } from "./follow.ts";
import { readLimits, readRunning } from "./running.ts";
import { renderTop, SORTINGS, type Sorting, type TopState } from "./top-frame.ts";

const REFRESH_MS = 1_000;
const HOUR_MS = 3_600_000;
/** A request that ended in the last hour may have arrived so long before. */
const LONGEST_MS = 3 * HOUR_MS;

const [ENTER, ESCAPE, BACKSPACE] = ["\r", "\u001b", "\u007f"];

/** `tollkeeper top`: shows what each tool does, until `q` is pressed. Without a terminal it prints that once. */
export const command: Command<{ config?: string | undefined }> = {
  builder: (yargs) => yargs.option("config", { type: "string" }),
  handler: async ({ config: file }) => {
    const entries = await followDaemon(await findControlPath());
    if (entries === null) throw await explainAbsence();
    const { config, ledger, listening } = await requireDaemon();
    const activity = new RecentActivity(await loadPrices(await loadConfig(file ?? config.path)));
    const shown = new ShownRecords();
    const follower = new Follower(ledger.directory, shown);
    const period = { since: Date.now() - LONGEST_MS, until: null };
    for await (const record of recordsOfPeriod(ledger.directory, period))
      if (shown.remember(record)) activity.add(record);
    const view = new TopScreen(activity, listening[0] ?? "");
    if (!process.stdout.isTTY) {
      await view.print();
      process.exit();
    }
    view.open();
    for await (const followed of follower.follow(entries)) {
      if ("daemon" in followed) view.isDaemonGone = followed.daemon === "stopped";
      else if (isRecord(followed.entry)) activity.add(followed.entry);
      else if ("notice" in followed.entry) view.notice = followed.entry;
    }
  },
};

/** The screen with its keys. */
class TopScreen {
  isDaemonGone = false;
  /** The newest. */
  notice: { ts: string; notice: string } | null = null;
  readonly #activity: RecentActivity;
  readonly #address: string;
  #sorting: Sorting = "cost";
  #filter = "";
  #isTyping = false;
  #isPaused = false;
  #screen: Screen | null = null;
  #state: TopState | null = null;

  constructor(activity: RecentActivity, address: string) {
    this.#activity = activity;
    this.#address = address;
  }

  /** Prints it once. */
  async print(): Promise<void> {
    const state = { ...(await this.#look()), footer: "" };
    printStyled(
      renderTop(state, { columns: Infinity, rows: Infinity, isColoured: false }).join("\n").trimEnd(),
    );
  }

  /** Takes the terminal over, and renews what is on it. */
  open(): void {
    this.#screen = new Screen({ onKey: (key) => this.#press(key), onResize: () => this.#draw() });
    const renew = async () => {
      if (!this.#isPaused) this.#state = await this.#look();
      this.#draw();
    };
    void renew();
    setInterval(() => void renew(), REFRESH_MS);
  }

  async #look(): Promise<TopState> {
    const [{ total, requests }, limits] = await Promise.all([readRunning(), readLimits()]);
    const now = Date.now();
    return {
      address: this.#address,
      now,
      ...this.#activity.summarise(now, requests),
      running: requests,
      runningTotal: total,
      limits,
      notice: this.notice !== null && now - Date.parse(this.notice.ts) < HOUR_MS ? this.notice.notice : null,
      ...this.#choices(),
    };
  }

  /** What the keys have chosen. */
  #choices() {
    return {
      sorting: this.#sorting,
      filter: this.#filter,
      footer: this.#footer(),
      isWrong: this.isDaemonGone,
    };
  }

  #footer(): string {
    if (this.#isTyping) return `filter by tool or model: ${this.#filter}_  (Enter: keep, Esc: clear)`;
    if (this.isDaemonGone) return "the daemon has stopped; waiting for the next one; q: quit";
    const filter = this.#filter === "" ? "filter" : `filter: ${this.#filter}`;
    return `q: quit   s: sort by ${this.#sorting}   /: ${filter}   p: ${this.#isPaused ? "go on" : "pause"}`;
  }

  #press(key: string): void {
    if (this.#isTyping) this.#type(key);
    else if (key === "q") this.#screen?.close();
    else if (key === "s")
      this.#sorting = SORTINGS[(SORTINGS.indexOf(this.#sorting) + 1) % SORTINGS.length] ?? "cost";
    else if (key === "/") this.#isTyping = true;
    else if (key === "p" || key === " ") this.#isPaused = !this.#isPaused;
    else if (key === ESCAPE) this.#filter = "";
    this.#draw();
  }

  #type(key: string): void {
    if (key === ENTER) this.#isTyping = false;
    else if (key === ESCAPE) {
      this.#filter = "";
      this.#isTyping = false;
    } else if (key === BACKSPACE) this.#filter = this.#filter.slice(0, -1);
    else if (/^[\w.:/@+-]$/.test(key)) this.#filter += key;
  }

  #draw(): void {
    if (this.#screen === null || this.#state === null) return;
    const { columns, rows } = this.#screen;
    const state = { ...this.#state, ...this.#choices() };
    this.#screen.draw(renderTop(state, { columns, rows, isColoured: hasColours() }));
  }
}
