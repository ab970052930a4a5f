import type { Mutant } from "./mutant.ts";

const ADMISSION = { row: "budgets", test: "test/core/budget/admission.test.ts" };
const COUNTING = { row: "budgets", test: "test/core/budget/counting.test.ts" };
const WARNINGS = { row: "budgets", test: "test/core/budget/warnings.test.ts" };
const WINDOWS = { row: "budgets", test: "test/core/budget/windows.test.ts" };

/** How budgets count, reserve, open and warn, beyond what C11 refuses. */
export const BUDGET_COUNTS: readonly Mutant[] = [
  {
    ...ADMISSION,
    without: "eight requests before a tool's usual cost is believed",
    file: "src/core/budget/recent-requests.ts",
    find: "recent.requests.length < ENOUGH",
    replace: "recent.requests.length < 2",
  },
  {
    ...ADMISSION,
    without: "one dear request in ten",
    file: "src/core/budget/recent-requests.ts",
    find: "Math.ceil(shares.length * 0.9) - 1",
    replace: "shares.length - 1",
  },
  {
    ...ADMISSION,
    without: "the size of a request as the most that is reserved",
    file: "src/core/budget/recent-requests.ts",
    find: "part >= whole ? WHOLE : Math.ceil((part * WHOLE) / whole)",
    replace: "Math.ceil((part * WHOLE) / Math.max(1, whole))",
  },
  {
    ...ADMISSION,
    without: "the size of a request's input as the most that is reserved for it, in dollars",
    file: "src/core/budget/recent-requests.ts",
    find: "part >= whole ? WHOLE : Number((part * BigInt(WHOLE) + whole - 1n) / whole)",
    replace: "Number((part * BigInt(WHOLE) + whole - 1n) / whole)",
  },
  {
    ...ADMISSION,
    without: "the end of a reservation",
    file: "src/core/budget/running.ts",
    find: "    gauge.reserved -= amount;\n",
    replace: "",
  },
  {
    ...ADMISSION,
    without: "reserving by the new budgets after a reload",
    file: "src/core/budget/book.ts",
    find: "this.#running.moveTo((request) => this.#gauges.for(request));",
    replace: "",
  },
  {
    ...ADMISSION,
    without: "a limit to the output that a request can ask for",
    file: "src/core/budget/estimate.ts",
    find: "Math.min(size.output, MAX_OUTPUT)",
    replace: "size.output",
  },
  {
    ...ADMISSION,
    without: "the end of a lift",
    file: "src/core/budget/state.ts",
    find: "return now >= from - SET_BACK_MS && now < until;",
    replace: "return now >= from - SET_BACK_MS && until > 0;",
  },
  {
    ...ADMISSION,
    without: "ending a lift when the clock is set back",
    file: "src/core/budget/state.ts",
    find: "return now >= from - SET_BACK_MS && now < until;",
    replace: "return from > 0 && now < until;",
  },
  {
    ...ADMISSION,
    without: "forgiving what was dated ahead of the clock when a budget was reset",
    file: "src/core/budget/gauge.ts",
    find: "const isForgiven = reset !== null && reset.at <= now && start > now && start <= reset.ahead;",
    replace: "const isForgiven = false;",
  },
  {
    ...ADMISSION,
    without: "counting once what ended while the ledger was read again",
    file: "src/core/budget/book.ts",
    find: "for (const record of since) this.add(record);",
    replace: "",
  },
  {
    ...ADMISSION,
    without: "reading the ledger once more after a reset",
    file: "src/core/budget/book.ts",
    find: "this.#version += 1;\n    this.#applyResets();",
    replace: "this.#applyResets();",
  },
  {
    ...ADMISSION,
    without: "finding the opening of a rolling budget again when more is spent",
    file: "src/core/budget/gauge.ts",
    find: "last?.window === this.#window && last.spent === spent && last.amount === amount",
    replace: "last?.window === this.#window && last.amount === amount",
  },
  {
    ...COUNTING,
    without: "counting nothing of the sandbox",
    file: "src/core/budget/spent.ts",
    find: "if (record.upstream === SANDBOX_UPSTREAM) return spent;",
    replace: "",
  },
  {
    ...COUNTING,
    without: "what calls of tools without a price are assumed to cost",
    file: "src/core/budget/spent.ts",
    find: "priceOf(calls, ASSUMED_CALL, 0)",
    replace: "priceOf(0, ASSUMED_CALL, 0)",
  },
  {
    ...COUNTING,
    without: "counting a background response by its fetch instead of its size",
    file: "src/core/budget/background-counts.ts",
    find: "return [{ request: { record: creation, source: creation }, sign: -1n }, counted(creation, fetch)];",
    replace: "return [counted(creation, fetch)];",
  },
  {
    ...COUNTING,
    without: "a limit to the background responses that wait for a fetch",
    file: "src/core/budget/background-counts.ts",
    find: "if (records.size > MAX_WAITING && oldest !== undefined)",
    replace: "if (records.size > Infinity && oldest !== undefined)",
  },
  {
    ...WARNINGS,
    without: "one warning for each share in a window",
    file: "src/core/budget/warnings.ts",
    find: "one.budget === budget.id && one.share === share && now >= one.from && now < one.until",
    replace: "one.budget === budget.id && one.share === share && now >= one.until",
  },
  {
    ...WARNINGS,
    without: "a share that is spent exactly",
    file: "src/core/budget/warnings.ts",
    find: "spent * 10n ** BigInt(scale) >= amount * digits",
    replace: "spent * 10n ** BigInt(scale) > amount * digits",
  },
  {
    ...WARNINGS,
    without: "warnings that outlive a restart",
    file: "src/core/budget/state.ts",
    find: "JSON.stringify({ v: VERSION, lifts, resets, warned })",
    replace: "JSON.stringify({ v: VERSION, lifts, resets, warned: warned.slice(warned.length) })",
  },
  {
    ...WINDOWS,
    without: "one window for the hour that comes twice",
    file: "src/core/budget/windows.ts",
    find: "while (calendar.hourOf(until) === hour) until += QUARTER_MS;",
    replace: "until = start + HOUR_MS;",
  },
  {
    ...WINDOWS,
    without: "counting in a rolling window for its whole length",
    file: "src/core/budget/windows.ts",
    find: "return this.cellOf(cell) + this.#stepMs + this.#lengthMs;",
    replace: "return this.cellOf(cell) + this.#lengthMs;",
  },
];
