import type { Mutant } from "./mutant.ts";

const SESSIONS = { row: "page", test: "test/local/dashboard/page/listed-session.test.ts" };

/** What the dashboard says in words, and what it puts first. */
export const PAGE_WORDS: readonly Mutant[] = [
  {
    row: "page",
    test: "test/local/dashboard/page/sought-requests.test.ts",
    without: "all that did not complete among the problems",
    file: "src/core/ledger/spend.ts",
    find: 'return sought === "problem" ? how !== null : how === sought;',
    replace: 'return sought === "problem" ? how === "failed" : how === sought;',
  },
  {
    row: "page",
    test: "test/local/dashboard/page/reasons.test.ts",
    without: "saying that a cost is a part because something has no price",
    file: "src/local/dashboard/page/record/reasons.ts",
    find: 'amount === null ? "No cost is known" : "It may have cost more"',
    replace: '"No cost is known"',
  },
  {
    row: "page",
    test: "test/local/dashboard/page/later.test.ts",
    without: "loading a part again that could not be loaded",
    file: "src/local/dashboard/page/later.ts",
    find: "await known.catch(() => loading.delete(name));",
    replace: "await known.catch(() => {});",
  },
  {
    row: "page",
    test: "test/local/dashboard/page/miss-words.test.ts",
    without: "saying nothing of a miss that cost at least nothing more",
    file: "src/local/dashboard/page/record/miss-words.ts",
    find: "return !isExact && Number(worth ?? cost) === 0;",
    replace: "return false;",
  },
  {
    row: "page",
    test: "test/local/dashboard/page/requests.test.ts",
    without: "leaving out columns in which no row has anything",
    file: "src/local/dashboard/page/requests/request-columns.ts",
    find: "return columns.filter((column) => LASTING.includes(column.head) || has(column));",
    replace: "return columns.filter((column) => LASTING.includes(column.head) || has(column) || true);",
  },
  {
    ...SESSIONS,
    without: "an hour before midnight without dates",
    file: "src/local/dashboard/page/sessions/session-words.ts",
    find: "if (end.getDate() !== start.getDate()) return `${HOUR.format(start)} – ${HOUR.format(end)}`;",
    replace: "",
  },
  {
    ...SESSIONS,
    without: "the dearest model of a session first",
    file: "src/local/dashboard/page/sessions/listed-session.ts",
    find: "other.dollars - one.dollars || other.requests - one.requests",
    replace: "other.requests - one.requests",
  },
  {
    row: "page",
    test: "test/local/dashboard/page/meters.test.ts",
    without: "leaving out when a spent budget will be spent",
    file: "src/local/dashboard/page/meters/budget-meters.ts",
    find: "spentAt === null || percent >= 100 ? [] :",
    replace: "spentAt === null ? [] :",
  },
  {
    row: "page",
    test: "test/local/dashboard/page/health-verdict.test.ts",
    without: "saying that upstreams were not contacted",
    file: "src/local/dashboard/page/health/verdict.ts",
    find: "if (wrong.length + open.length + unused === 0)",
    replace: "if (wrong.length + open.length === 0)",
  },
  {
    row: "page",
    test: "test/local/dashboard/page/verdict.test.ts",
    without: "silence about models of few requests",
    file: "src/local/dashboard/page/overview/verdict.ts",
    find: 'if ([one, other].some(({ requests }) => requests < FEWEST)) return "";',
    replace: "",
  },
];
