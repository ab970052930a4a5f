import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { openLedger, readCheckpoint } from "../../src/adapters/ledger-file.ts";
import { closeDays } from "../../src/adapters/ledger-file/closed-days.ts";
import { loadPriceBook } from "../../src/adapters/price-table.ts";
import { Exporter } from "../../src/cli/export/exporter.ts";
import { parseExporterState } from "../../src/cli/export/exporter-state.ts";
import { firstState, senderOf } from "../../src/cli/export/open-exporter.ts";
import { checkConfig, type Config } from "../../src/core/config/config.ts";
import { UTC_CALENDAR } from "../../src/core/ledger/calendar.ts";
import { dayAt, dayFileName } from "../../src/core/ledger/day.ts";
import { BudgetKeeper } from "../../src/daemon/budgets/keeper.ts";
import { LedgerMetrics } from "../../src/daemon/metrics/ledger-metrics.ts";
import { RecordFeed } from "../../src/daemon/record-feed.ts";
import { Statusline } from "../../src/daemon/statusline.ts";
import type { MovableLedger } from "../../src/ports.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { ManualClock, MemoryLog } from "../helpers/gate/memory.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";
import { property, type Property } from "./property.ts";
import { withScratchDirectory } from "./scratch.ts";

const DAY_MS = 86_400_000;
const FIRST_LIMIT = 1_000_000_000;
/** Records of `usageRecord` have so many tokens. */
const TOKENS = 15;
const PRICES = { prices: {}, priceTable: null, upstreams: {} };

/** What happens on a machine with a ledger. What is not waited for goes on while the next steps happen. */
type Step =
  | { do: "write"; by: "us" | "another daemon"; count: number; sleptMs: number }
  | { do: "recount" | "look" | "ask" | "scrape" | "export" | "close days" | "midnight" | "suspend" | "turn" }
  | { do: "restart"; isKilled: boolean; isTorn: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      by: fc.constantFrom("us" as const, "us", "another daemon"),
      count: fc.integer({ min: 1, max: 40 }),
      // A day is longer than any request takes; its record goes to the file of the day before.
      sleptMs: fc.constantFrom(0, 0, 120_000, DAY_MS),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "recount" as const,
        "look",
        "ask",
        "scrape",
        "export",
        "close days",
        "midnight",
        "suspend",
        "turn",
        "turn",
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("restart" as const),
      isKilled: fc.boolean(),
      isTorn: fc.boolean(),
    }),
  },
);

function configOf(limit: number, price: number): Config {
  const budgets = [{ tokens: limit, per: "month" }];
  const checked = checkConfig({ budgets, prices: { "*": { input: price, output: price } } }, "/home/user");
  assert.ok(checked.ok);
  return checked.config;
}

/** The four that follow a ledger, of one daemon. */
interface Followers {
  ledger: MovableLedger;
  budgets: BudgetKeeper;
  statusline: Statusline;
  metrics: LedgerMetrics;
  exporter: Exporter;
}

/** A machine, and how many records there are of each day. */
class Machine {
  readonly #home: string;
  readonly #directory: string;
  readonly #clock = new ManualClock();
  readonly #log = new MemoryLog();
  readonly #written = new Map<string, number>();
  readonly #other: MovableLedger;
  #limit = FIRST_LIMIT;
  #pending: Promise<unknown>[] = [];
  #now!: Followers;

  constructor(home: string) {
    this.#home = home;
    this.#directory = join(home, "ledger");
    this.#other = this.#openLedger();
  }

  async start(): Promise<void> {
    const [clock, log, directory] = [this.#clock, this.#log, this.#directory];
    const feed = new RecordFeed();
    const ledger = feed.publishing(this.#openLedger());
    const parts = { feed, ledger, clock, log };
    const statePath = join(this.#home, "budgets.json");
    const config = configOf(this.#limit, 1);
    const path = join(this.#home, "otlp.json");
    const metricsPath = join(this.#home, "metrics.json");
    this.#now = {
      ledger,
      budgets: await BudgetKeeper.open({ ...parts, statePath, managed: () => null }, config),
      statusline: new Statusline({
        ...parts,
        budgets: { percentFor: () => null },
        limits: { describe: () => [] },
        failing: () => [],
        pauses: { nameFor: () => "" },
        source: { current: () => config },
      }),
      metrics: await LedgerMetrics.open({ path: metricsPath, clock, log }, directory, PRICES),
      exporter: await openExporter(directory, path),
    };
  }

  async do(one: Step): Promise<void> {
    const { ledger, budgets, statusline, metrics, exporter } = this.#now;
    switch (one.do) {
      case "write":
        return this.#write(one.by === "us" ? ledger : this.#other, one.count, one.sleptMs);
      case "recount":
        this.#limit += 1;
        return this.#leave(budgets.use(configOf(this.#limit, this.#limit - FIRST_LIMIT)));
      case "look":
        return this.#leave(budgets.look());
      case "ask":
        this.#clock.advance(1_000);
        return this.#leave(statusline.answer(null));
      case "scrape":
        return this.#leave(metrics.count());
      case "export":
        return exporter.sendAll();
      case "close days":
        return this.#leave(this.#closeDays(400));
      case "midnight":
        this.#clock.advance(DAY_MS);
        return;
      case "suspend":
        this.#clock.wallMs += 120_000;
        return;
      case "turn":
        return new Promise((resolve) => setTimeout(resolve, 15));
      case "restart":
        return this.#restart(one);
    }
  }

  /** Asserts that all of them have the same records as the ledger. */
  async check(): Promise<void> {
    await Promise.all(this.#pending);
    this.#pending = [];
    const all = [...this.#written.values()].reduce((sum, count) => sum + count, 0);
    const { budgets, metrics, exporter } = this.#now;
    // The first waits for a count that may have begun before the last records.
    await budgets.look();
    await budgets.look();
    assert.equal(budgets.describe().budgets[0]?.spent, String(all * TOKENS), "budgets");
    const today = this.#written.get(dayAt(this.#clock.now())) ?? 0;
    await waitUntil("the status line to know today's requests", async () =>
      (await this.#today()) === today ? true : null,
    );
    assert.equal(await this.#today(), today, "status line");
    await metrics.count();
    const counted = metrics.describe().find(({ name }) => name === "tollkeeper.requests")?.points ?? [];
    const requests = [...counted].reduce((sum, { value }) => sum + Number(value), 0);
    assert.equal(requests, all, "metrics");
    await exporter.sendAll();
    assert.equal(exporter.counts.sent, all, "export");
  }

  /** Deletes days after everything has been counted: their sums stay. */
  async retain(): Promise<void> {
    await this.#closeDays(1);
  }

  close(): void {
    this.#now.ledger.close();
    this.#other.close();
  }

  async #today(): Promise<number> {
    this.#clock.advance(1_000);
    const { today, isWhole } = await this.#now.statusline.answer(null);
    return isWhole ? today.requests : -1;
  }

  #write(ledger: MovableLedger, count: number, sleptMs: number): void {
    const ts = new Date(this.#clock.now() - sleptMs).toISOString();
    // Monotonic, so that it does not have the time for which the machine slept.
    ledger.append(Array.from({ length: count }, () => usageRecord({ ts, duration_ms: 80 })));
    const day = ts.slice(0, 10);
    this.#written.set(day, (this.#written.get(day) ?? 0) + count);
  }

  async #restart({ isKilled, isTorn }: { isKilled: boolean; isTorn: boolean }): Promise<void> {
    await Promise.all(this.#pending);
    this.#pending = [];
    this.#now.ledger.close();
    if (!isKilled) await this.#now.metrics.close();
    const today = join(this.#directory, dayFileName(dayAt(this.#clock.now())));
    if (isTorn) fs.appendFileSync(today, '{"v":2,"id":"', { mode: 0o600 });
    await this.start();
  }

  #closeDays(retainDays: number): Promise<unknown> {
    const closing = { directory: this.#directory, retainDays, now: this.#clock.now(), limits: [] };
    return closeDays(closing, UTC_CALENDAR);
  }

  #leave(going: Promise<unknown>): void {
    this.#pending.push(going);
  }

  #openLedger(): MovableLedger {
    const [clock, log] = [this.#clock, this.#log];
    return openLedger({ directory: this.#directory, retainDays: 400, clock, log, onNewDay: () => {} });
  }
}

/** An exporter to a receiver that accepts everything. */
async function openExporter(directory: string, path: string): Promise<Exporter> {
  const checkpoint = readCheckpoint(path, (value) => parseExporterState(value)) ?? {
    cursor: { days: {}, since: null },
    state: firstState(),
  };
  const config = {
    endpoint: { origin: "http://127.0.0.1", basePath: "", isPlain: true },
    headers: {},
    plainHttp: false,
    intervalMs: 1_000,
    signals: ["records" as const],
    trace: false,
    machine: null,
    user: null,
    resource: {},
  };
  const accept = { verdict: { kind: "accepted" }, body: Buffer.alloc(0) };
  return new Exporter({
    config,
    directory,
    path,
    checkpoint,
    sender: senderOf(config, checkpoint.state),
    receiver: { send: () => Promise.resolve(accept), close: () => {} } as never,
    prices: await loadPriceBook(PRICES),
    readLimits: () => [],
    onStatus: () => {},
    isOver: new AbortController().signal,
  });
}

async function follow(home: string, steps: readonly Step[]): Promise<void> {
  const machine = new Machine(home);
  await machine.start();
  try {
    for (const one of steps) await machine.do(one);
    await machine.check();
    await machine.retain();
    await machine.check();
  } finally {
    machine.close();
  }
}

/** The property of everything that follows a ledger. */
export const FOLLOWERS: readonly Property[] = [
  property(
    "followers of the ledger: budgets, status line, metrics and export count each record once, whoever writes, sleeps, restarts and recounts",
    { batch: 4 },
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) =>
      withScratchDirectory((home) => follow(home, steps)),
    ),
  ),
];
