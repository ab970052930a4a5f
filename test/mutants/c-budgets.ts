import type { Mutant } from "./mutant.ts";

const C11 = { row: "C11", test: "test/security/c11-spent-budget.test.ts" };

/** Where a tool is known by its process only, or a project has a budget. */
const C11_PROCESS = { row: "C11", test: "test/proxy/client/rules-by-process.test.ts" };

/** Rules on what budgets and pauses refuse: C11. */
export const BUDGETS: readonly Mutant[] = [
  {
    ...C11_PROCESS,
    without: "waiting for the process where the configuration names tools",
    file: "src/core/decide/decide.ts",
    find: "(settings.namesTools || standing.pauses.namesTools) &&",
    replace: "standing.pauses.namesTools &&",
  },
  {
    ...C11_PROCESS,
    without: "waiting for the process where a tool is paused",
    file: "src/core/decide/decide.ts",
    find: "(settings.namesTools || standing.pauses.namesTools) &&",
    replace: "settings.namesTools &&",
  },
  {
    ...C11_PROCESS,
    without: "waiting for the project where one has a budget",
    file: "src/core/decide/decide.ts",
    find: "if (settings.hasProjectBudgets && client.peer.isProjectPending) return NEEDS_PROJECT;",
    replace: "",
  },
  {
    ...C11,
    without: "refusing what is paused",
    file: "src/core/decide/decide.ts",
    find: "if (paused !== null) return refuse(client.refusal ?? paused, null);",
    replace: "void paused;",
  },
  {
    ...C11,
    without: "asking the budgets",
    file: "src/core/policy/tool-policy.ts",
    find: 'return policy !== null && policy.hasBudgets && spend === "count";',
    replace: 'return policy !== null && policy.hasBudgets && spend === "never";',
  },
  {
    ...C11,
    without: "letting through what never spends",
    file: "src/core/policy/tool-policy.ts",
    find: 'return policy !== null && policy.hasBudgets && spend === "count";',
    replace: "return policy !== null && policy.hasBudgets && spend.length > 0;",
  },
  {
    ...C11,
    without: "what running requests are reserved for",
    file: "src/core/budget/gauge.ts",
    find: "const used = this.spent(now) + this.reserved;",
    replace: "const used = this.spent(now);",
  },
  {
    ...C11,
    without: "a limit of how many are reserved for by what is usual",
    file: "src/core/budget/running.ts",
    find: "lower < input + output && gauge.usual < MAX_USUAL;",
    replace: "lower < input + output && MAX_USUAL > 0;",
  },
  {
    ...C11,
    without: "what an abandoned request was reserved for",
    file: "src/core/budget/kept-reservation.ts",
    find: 'reserved_output: usage === "pending" || (outcome === "cut" && !isTold) ? reserved.output : null,',
    replace: 'reserved_output: usage === "pending" && isTold ? reserved.output : null,',
  },
  {
    row: "C11",
    test: "test/core/budget/counting.test.ts",
    without: "what an abandoned request asked for at another price",
    file: "src/core/price/charge.ts",
    find: "tier: tier ?? record.reserved_tier ?? null,",
    replace: "tier,",
  },
  {
    ...C11,
    without: "asking for each attempt",
    file: "src/proxy/sender.ts",
    find: "if (refusal !== null) throw new RefusalError(refusal);",
    replace: "void refusal;",
  },
  {
    ...C11,
    without: "doubting a clock that leaps ahead",
    file: "src/core/budget/clock.ts",
    find: "else if (isLeap) this.#doubtedSince = monotonic;",
    replace: "else if (isLeap) this.#time = wall;",
  },
  {
    ...C11,
    without: "counting what is dated later than a clock that was set back",
    file: "src/core/budget/gauge.ts",
    find: "return start >= this.#window.start && !isForgiven;",
    replace: "return start >= this.#window.start && start <= now && !isForgiven;",
  },
];
