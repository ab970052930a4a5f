import type { Mutant } from "./mutant.ts";

const HELD = { row: "limits", test: "test/daemon/limits.test.ts" };
const KEPT = { row: "limits", test: "test/core/limits/keep.test.ts" };
const KEPT_AT_GATE = { row: "limits", test: "test/proxy/keep.test.ts" };
const LOW = "src/core/limits/low-window.ts";
const READING = "src/core/limits/read-limits.ts";
const WARNINGS = "src/core/limits/limit-warnings.ts";
const LIMITS = "src/daemon/limits.ts";

/** Which response may replace another one unread. */
export const LIMIT_READINGS: readonly Mutant[] = [
  {
    ...HELD,
    without: "keeping a response with a limit that the next one does not have",
    file: READING,
    find: "&& !headers.has(policy.name)) return false;",
    replace: "&& !headers.has(policy.name)) continue;",
  },
  {
    ...HELD,
    without: "keeping a window of Codex when another takes its place",
    file: READING,
    find: "return headers.get(minutes) === earlier.get(minutes);",
    replace: "return headers.has(minutes) === earlier.has(minutes);",
  },
  {
    ...HELD,
    without: "keeping how long a refusal asked to wait",
    file: READING,
    find: "if (status === TOO_MANY) return false;",
    replace: "if (status === TOO_MANY - 1) return false;",
  },
  {
    ...HELD,
    without: "reading what is held before it is saved",
    file: LIMITS,
    find: "this.#timer = null;\n    this.#readAllHeld();",
    replace: "this.#timer = null;",
  },
  {
    ...HELD,
    without: "reading what is held when no command asks, to warn of it",
    file: LIMITS,
    find: "this.#reader ??= setTimeout(() => this.#readLate(), READ_AFTER_MS).unref();",
    replace: "",
  },
  {
    ...HELD,
    without: "keeping in the file at once that a limit was warned of",
    file: LIMITS,
    find: "if (warnings.length > 0 || resets !== known) this.#write();",
    replace: "if (resets !== known) this.#write();",
  },
  {
    ...HELD,
    without: "warning once of each share of a window",
    file: WARNINGS,
    find: "|| (window.warned !== undefined && window.warned.share >= share)) return [];",
    replace: ") return [];",
  },
  {
    ...HELD,
    without: "believing a lower value, after which a limit warns again",
    file: WARNINGS,
    find: "return isLower ? {} : { warned };",
    replace: "return { warned };",
  },
  {
    ...HELD,
    without: "ignoring that extra usage is rejected where an account has none",
    file: WARNINGS,
    find: 'if (name !== "overage") add(',
    replace: "add(",
  },
  {
    ...KEPT,
    without: "waiting for the window that resets last",
    file: LOW,
    find: "(low === null || resetsAt > low.resetsAt))",
    replace: "low === null)",
  },
  {
    ...KEPT,
    without: "letting pass what is not known, or has reset",
    file: LOW,
    find: "resetsAt === null || resetsAt <= now ||",
    replace: "resetsAt === null ||",
  },
  {
    ...KEPT,
    without: "letting a tool pass where extra usage is used up",
    file: LOW,
    find: "|| NOT_KEPT.has(window)) continue;",
    replace: ") continue;",
  },
  {
    ...KEPT,
    without: "refusing nothing while exactly the share is left",
    file: LOW,
    find: "leftPercent < keep &&",
    replace: "leftPercent <= keep &&",
  },
  {
    ...KEPT_AT_GATE,
    without: "believing the last response before a request is judged",
    file: LIMITS,
    find: "if (held !== undefined) this.#readHeld(account, held);",
    replace: "",
  },
  {
    ...KEPT_AT_GATE,
    without: "asking what is left of a fallback's account",
    file: "src/proxy/sender.ts",
    find: "(judgeLimits(decision, choice, this.#parts) ??",
    replace: "(judgeLimits({ policy: null }, choice, this.#parts) ??",
  },
  {
    ...KEPT_AT_GATE,
    without: "letting free requests pass",
    file: "src/core/decide/decide.ts",
    find: "return policy === null || !isBraked(policy, choice.route) ? null : limits.judge(",
    replace: "return policy === null ? null : limits.judge(",
  },
  {
    ...KEPT_AT_GATE,
    without: "an event of status 400 in place of a throttle on a WebSocket",
    file: "src/core/refusals/refusal.ts",
    find: "retry && usual !== 429 ? usual : 400;",
    replace: "retry ? usual : 400;",
  },
];
