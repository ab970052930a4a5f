import assert from "node:assert/strict";
import * as fc from "fast-check";
import { BudgetBook } from "../../src/core/budget/book.ts";
import { BudgetClock } from "../../src/core/budget/clock.ts";
import type { Budget } from "../../src/core/budget/budget.ts";
import type { BudgetSettings } from "../../src/core/budget/gauges.ts";
import type { Reservation } from "../../src/core/budget/running.ts";
import { encodeState, NO_STATE, parseState } from "../../src/core/budget/state.ts";
import { zonedCalendar } from "../../src/core/ledger/calendar.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { budgetRequest, budgetsFrom, settingsFor } from "../helpers/budget/budget-book.ts";
import { tokens, usageRecord } from "../helpers/ledger/usage-record.ts";
import { countNaively } from "./budget-reference.ts";
import { property, type Property } from "./property.ts";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

/** Times just before windows turn, some of them in nights in which clocks change. */
const STARTS = [
  ["Europe/Berlin", "2026-10-24T21:58:00Z"],
  ["Europe/Berlin", "2026-10-25T00:20:00Z"],
  ["Europe/Berlin", "2026-03-29T00:40:00Z"],
  ["Europe/Berlin", "2026-11-30T22:50:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T14:40:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T15:10:00Z"],
  ["America/New_York", "2028-02-29T23:00:00Z"],
  ["UTC", "2026-12-31T23:30:00Z"],
] as const;

const budget = fc
  .record({
    limit: fc.oneof(
      fc.constantFrom(0, 0.001, 0.01, 0.5, 20).map((usd) => ({ usd })),
      fc.record({
        tokens: fc.constantFrom(0, 100, 5_000, 1e6),
        class: fc.constantFrom(undefined, "input", "cacheRead", "output"),
      }),
    ),
    window: fc.oneof(
      fc.constantFrom("hour", "day", "week", "month").map((per) => ({ per })),
      fc.constantFrom(1, 2, 24, 25, 200).map((rolling) => ({ rolling })),
    ),
    unpriced: fc.constantFrom("dearest", "allow"),
    action: fc.constantFrom("refuse", "refuse", "warn"),
    warn: fc.subarray([0.1, 0.5, 0.8, 1]),
  })
  .map(
    ({ limit, window, ...rest }) =>
      JSON.parse(JSON.stringify({ ...limit, ...window, ...rest })) as Record<string, unknown>,
  );

/** Those that count alike are refused, so each list has one budget of a kind. */
const budgets = fc.uniqueArray(budget, {
  maxLength: 3,
  selector: ({ ["usd"]: usd, ["per"]: per, ["rolling"]: rolling, ["class"]: tokenClass }) =>
    `${usd !== undefined} ${String(per)} ${String(rolling)} ${String(tokenClass)}`,
});

const sections = fc.record({
  budgets,
  tools: fc.record({ codex: budgets.map((list) => ({ budgets: list })) }),
  groups: fc.record({ odd: budgets.map((list) => ({ budgets: list })) }),
  keys: fc.record({ default: budgets.map((list) => ({ budgets: list })) }),
  projects: fc.record({ "/p": budgets.map((list) => ({ budgets: list })) }),
});

const count = fc.constantFrom(0, 1, 3, 999, 20_000);

const request = fc.record({
  kind: fc.constantFrom("final", "final", "final", "absent", "billed", "background", "rejected", "free"),
  tool: fc.constantFrom("codex", "zed"),
  project: fc.constantFrom("/p", null),
  key: fc.constantFrom("default", "other"),
  upstream: fc.constantFrom("default", "default", "local", "sandbox"),
  model: fc.constantFrom("plain", "dear", "nobody", null),
  counts: fc.record({ input_uncached: count, cache_read: count, output: count }),
  size: fc.nat(9_000),
});
type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

type Step =
  | { do: "begin"; request: Request }
  | { do: "end"; which: number }
  | { do: "fetch"; which: number }
  | { do: "move"; by: number }
  | { do: "turn"; which: number; by: number }
  | { do: "restart" | "recount"; seed: number }
  | { do: "reload"; factor: number }
  | { do: "reset"; which: number }
  | { do: "lift"; minutes: number };

/** Mostly forward, by what matters to windows; sometimes back. */
const move = fc.constantFrom(
  1,
  61_000,
  7 * MINUTE,
  31 * MINUTE,
  61 * MINUTE,
  25 * 60 * MINUTE,
  8 * DAY,
  -3 * MINUTE,
  -70 * MINUTE,
  -2 * DAY,
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: request.map((one): Step => ({ do: "begin", request: one })) },
  { weight: 6, arbitrary: fc.nat(9).map((which): Step => ({ do: "end", which })) },
  { weight: 2, arbitrary: fc.nat(9).map((which): Step => ({ do: "fetch", which })) },
  { weight: 5, arbitrary: move.map((by): Step => ({ do: "move", by })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(9), fc.constantFrom(-1, 0, 1))
      .map(([which, by]): Step => ({ do: "turn", which, by })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("restart", "recount"), fc.nat())
      .map(([what, seed]): Step => ({ do: what as "restart", seed })),
  },
  { weight: 1, arbitrary: fc.constantFrom(1, 3).map((factor): Step => ({ do: "reload", factor })) },
  { weight: 1, arbitrary: fc.nat(5).map((which): Step => ({ do: "reset", which })) },
  { weight: 1, arbitrary: fc.constantFrom(10, 90).map((minutes): Step => ({ do: "lift", minutes })) },
);

function recordOf(
  { kind, tool, project, key, upstream, model, counts, size }: Request,
  now: number,
): UsageRecord {
  const record = usageRecord({
    ts: new Date(now).toISOString(),
    tool,
    project,
    key,
    upstream,
    model,
    model_requested: null,
    tokens: tokens(counts),
    bytes_in: size,
    bytes_out: 2 * size,
  });
  switch (kind) {
    case "absent":
      return { ...record, outcome: "cut", usage: "absent", spend: "never", tokens: null };
    case "billed":
      return { ...record, billed_usd: "0.0123" };
    case "background":
      return { ...record, outcome: "queued", usage: "pending", spend: "attach_by_response_id", tokens: null };
    case "rejected":
      return { ...record, outcome: "rejected", usage: "absent", spend: "never", tokens: null, status: 402 };
    case "free":
      return { ...record, usage: "none", spend: "never", tokens: null };
    default:
      return record;
  }
}

/** The tools of the group have names of odd length. */
const groupOf = (tool: string) => (tool.length % 2 === 1 ? "odd" : "even");

/** Returns items in another order, which the seed decides. */
function shuffle<Item>(items: readonly Item[], seed: number): Item[] {
  const keyed = items.map((item, at) => ({ item, order: Math.sin(seed + at * 7919) }));
  return keyed.sort((a, b) => a.order - b.order).map(({ item }) => item);
}

interface Running {
  reservation: Reservation | null;
  /** What it will leave. */
  record: UsageRecord;
}

/** A book, everything that it was told, and the clock. */
class Trial {
  readonly #zone: string;
  readonly #settings: BudgetSettings;
  #budgets: readonly Budget[];
  #now: number;
  #book: BudgetBook;
  readonly #records: UsageRecord[] = [];
  #running: Running[] = [];
  readonly #resets = new Map<string, number>();
  #lifted: { from: number; until: number } | null = null;
  /** Warnings of windows of the calendar since the clock was set back last. */
  readonly #warned = new Set<string>();
  /** Whether the clock was set back since the book was made. */
  #isSetBack = false;

  constructor([zone, start]: (typeof STARTS)[number], parts: Record<string, unknown>) {
    this.#zone = zone;
    this.#settings = settingsFor(parts, { calendar: zonedCalendar(zone), groupOf });
    this.#budgets = this.#settings.budgets;
    this.#now = Date.parse(start);
    this.#book = this.#makeBook(0);
  }

  do(one: Step): void {
    switch (one.do) {
      case "begin":
        this.#begin(one.request);
        break;
      case "end":
        this.#end(this.#running[one.which % Math.max(1, this.#running.length)]);
        break;
      case "fetch":
        this.#fetch(one.which);
        break;
      case "move":
        this.#now += one.by;
        if (one.by < 0) this.#setBack();
        break;
      case "turn":
        this.#turn(one.which, one.by);
        break;
      case "restart":
        // What runs is lost, as when the daemon is killed.
        this.#running = [];
        this.#book = this.#makeBook(one.seed);
        break;
      case "recount":
        this.#recount(one.seed);
        break;
      case "reload":
        this.#reload(one.factor);
        break;
      case "reset":
        this.#reset(one.which);
        break;
      case "lift":
        this.#lifted = { from: this.#now, until: this.#now + one.minutes * MINUTE };
        this.#book.lift("codex", this.#now, this.#lifted.until);
    }
    this.check();
  }

  check(): void {
    if (!this.#book.isWhole(this.#now)) {
      assert.ok(this.#isSetBack, "not whole");
      return this.#rebuild();
    }
    for (const gauge of this.#book.gauges) {
      assert.equal(gauge.spent(this.#now), this.#count(gauge.budget), gauge.budget.id);
      if (this.#running.length === 0) assert.equal(gauge.reserved, 0n);
      assert.ok(gauge.reserved >= 0n);
      const opens = gauge.opensAt(this.#now);
      if (opens !== null && opens > this.#now) {
        assert.ok(this.#count(gauge.budget, opens) < gauge.budget.amount, `opens ${gauge.budget.id}`);
        assert.ok(
          this.#count(gauge.budget, opens - 1) >= gauge.budget.amount,
          `opens early ${gauge.budget.id}`,
        );
      }
    }
  }

  /** Moves to where the window of a budget turns, or to a moment before or after. */
  #turn(which: number, by: number): void {
    const { gauges } = this.#book;
    const gauge = gauges[which % gauges.length];
    assert.ok(gauge !== undefined);
    this.#now = gauge.window(this.#now).until + by;
  }

  #setBack(): void {
    this.#isSetBack = true;
    this.#warned.clear();
  }

  /** A clock that was set back further than a book remembers needs another one. */
  #rebuild(): void {
    this.#running = [];
    this.#book = this.#makeBook(1);
    assert.ok(this.#book.isWhole(this.#now));
    this.check();
  }

  #count(one: Budget, now = this.#now): bigint {
    const resetAt = this.#resets.get(one.id) ?? null;
    return countNaively(one, this.#records, { now, zone: this.#zone, resetAt });
  }

  #makeBook(seed: number): BudgetBook {
    const state = parseState(encodeState(this.#book?.state ?? NO_STATE, this.#now));
    assert.ok(typeof state === "object");
    this.#isSetBack = false;
    const book = new BudgetBook({ ...this.#settings, budgets: this.#budgets }, state, this.#now);
    const needed = book.neededSince(this.#now);
    for (const record of shuffle(this.#records, seed)) {
      // A fetch may be of a response that was created earlier.
      if (Date.parse(record.ts) >= needed || record.method === "GET") book.add(record);
      else if (record.usage === "pending") book.add(record);
    }
    return book;
  }

  #begin(one: Request): void {
    const { tool, project, key, upstream, model, size } = one;
    const asked = budgetRequest({ tool, project, key, upstream, model, input: Math.ceil(size / 3) });
    const isLifted =
      tool === "codex" &&
      this.#lifted !== null &&
      this.#now >= this.#lifted.from - 5 * MINUTE &&
      this.#now < this.#lifted.until;
    // An upstream that takes no key costs nothing where the configuration has no price for the model.
    const isPriced = model === "plain" || model === "dear";
    const isFree = upstream === "sandbox" || (upstream === "local" && !isPriced);
    const refusing = this.#book.gauges.filter(
      ({ budget: { scope, action, amount }, budget: given, reserved }) =>
        (scope.kind === "all" || { tool, project, key, group: groupOf(tool) }[scope.kind] === scope.name) &&
        action === "refuse" &&
        this.#count(given) + reserved >= amount &&
        !(isFree && "usd" in given.limit && amount > 0n),
    );
    const refusedBy = this.#book.judge(asked, this.#now);
    assert.equal(refusedBy === null, refusing.length === 0 || isLifted);
    if (refusedBy !== null) {
      assert.equal(refusedBy.budget.id, refusing[0]?.budget.id);
      return;
    }
    const { reservation } = this.#book.reserve(asked, this.#now);
    this.#running.push({ reservation, record: recordOf(one, this.#now) });
  }

  #end(one: Running | undefined): void {
    if (one === undefined) return;
    this.#running = this.#running.filter((other) => other !== one);
    this.#records.push(one.record);
    for (const { budget: given, share, spent, until } of this.#book.settle(
      one.reservation,
      one.record,
      this.#now,
    )) {
      assert.equal(spent, this.#count(given));
      assert.ok(Number(spent) >= Number(given.amount) * share * 0.999);
      const warning = `${given.id} ${share} ${until} ${given.amount} ${this.#resets.get(given.id) ?? ""}`;
      assert.ok("rolling" in given.window || !this.#warned.has(warning), `twice: ${warning}`);
      this.#warned.add(warning);
    }
  }

  #fetch(which: number): void {
    const pending = this.#records.filter(({ usage }) => usage === "pending");
    const created = pending[which % Math.max(1, pending.length)];
    if (created === undefined) return;
    if (this.#records.some((one) => one.method === "GET" && one.response_id === created.response_id)) return;
    const record = usageRecord({
      ...created,
      id: `${created.id}-fetch`,
      ts: new Date(this.#now).toISOString(),
      tool: "curl",
      route: "/responses/{id}",
      method: "GET",
      outcome: "completed",
      usage: "final",
      tokens: tokens({ input_uncached: 77, output: 7 }),
    });
    this.#records.push(record);
    this.#book.settle(null, record, this.#now);
  }

  /** Reads all again while a request ends, as after prices have changed. */
  #recount(seed: number): void {
    const before = this.#records.length;
    this.#end(this.#running[0]);
    const later = seed % 2 === 0 ? [] : this.#records.splice(before);
    const read = this.#makeBook(seed).encode();
    this.#records.push(...later);
    this.#book.recount(JSON.parse(JSON.stringify(read)) as typeof read, later);
  }

  #reload(factor: number): void {
    this.#budgets = this.#settings.budgets.map((one) => ({ ...one, amount: one.amount * BigInt(factor) }));
    this.#book.reload({ ...this.#settings, budgets: this.#budgets }, this.#now);
  }

  /** Not after the clock was set back: what is dated ahead then cannot be told apart. */
  #reset(which: number): void {
    const latest = Math.max(0, ...this.#records.map(({ ts }) => Date.parse(ts)));
    const one = this.#budgets[which];
    if (one === undefined || latest >= this.#now || this.#running.length > 0) return;
    assert.ok(this.#book.reset(one.id, this.#now));
    this.#resets.set(one.id, this.#now);
  }
}

const clockStep = fc.record({
  passed: fc.constantFrom(0, 1, 999, 4_000, 30_000, 60_000, 61_000, 3_600_000),
  leap: fc.constantFrom(0, 0, 0, 0, 4_900, -4_900, 6_000, 3_600_000, -3_600_000, 40_000),
});

export const BUDGETS: readonly Property[] = [
  property(
    "budgets: what counts, refuses and opens is what all records say, whatever clock, restarts and reloads do",
    { batch: 40 },
    fc.property(
      fc.constantFrom(...STARTS),
      sections.filter((parts) => budgetsFrom(parts).length > 0),
      fc.array(step, { minLength: 5, maxLength: 60 }),
      (start, parts, steps) => {
        const trial = new Trial(start, parts);
        for (const one of steps) trial.do(one);
      },
    ),
  ),
  property(
    "budget clock: it is never ahead of the wall clock, runs on, and follows any time that lasts",
    { batch: 2000 },
    fc.property(fc.array(clockStep, { maxLength: 20 }), (steps) => {
      const clock = new BudgetClock(1e12, 0);
      let [wall, monotonic, last] = [1e12, 0, 1e12];
      for (const { passed, leap } of steps) {
        monotonic += passed;
        wall += passed + leap;
        const time = clock.read(wall, monotonic);
        assert.ok(time <= wall + 5_000);
        assert.ok(time === wall || time === last + passed, "neither of the clocks");
        if (leap > 5_000) assert.equal(time, Math.min(wall, last + passed));
        last = time;
      }
      clock.read(wall + 1, monotonic + 1);
      assert.equal(clock.read(wall + 60_001, monotonic + 60_001), wall + 60_001);
    }),
  ),
];
