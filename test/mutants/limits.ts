import type { Mutant } from "./mutant.ts";

const HELD = { row: "limits", test: "test/daemon/limits.test.ts" };
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
    find: "if (warnings.length > 0) this.#write();",
    replace: "",
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
];
