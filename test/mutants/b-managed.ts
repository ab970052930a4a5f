import type { Mutant } from "./mutant.ts";

const B10 = { row: "B10", test: "test/security/b10-managed-config.test.ts" };
const B10_BUDGETS = { row: "B10", test: "test/daemon/locked-budgets.test.ts" };
const B10_FILE = { row: "B10", test: "test/adapters/config-file/managed-file.test.ts" };
const B10_SANDBOX = { row: "B10", test: "test/adapters/trust/trusted-file.test.ts" };
const B10_MERGE = { row: "B10", test: "test/core/config/layers.test.ts" };

const FILE = "src/adapters/trust/exposure.ts";
const MANAGED = "src/core/config/managed.ts";
const LAYERS = "src/core/config/layers.ts";

/** Rules on the managed configuration file: B10. */
export const MANAGED_CONFIG: readonly Mutant[] = [
  {
    ...B10,
    without: "refusing a managed file that others can write",
    file: FILE,
    find: "if (!isOpenTo(step, WRITABLE_BY_GROUP | WRITABLE_BY_ALL, trusted)) return null;",
    replace: "return null;",
  },
  {
    ...B10,
    without: "refusing a managed file that is not root's",
    file: FILE,
    find: "if (uid === 0) return true;",
    replace: "return true;",
  },
  {
    ...B10,
    without: "refusing a managed file in a directory of others",
    file: FILE,
    find: "const found = findOwner(step, trusted) ?? findEveryone(step, trusted);",
    replace:
      "const found = step.isTarget ? (findOwner(step, trusted) ?? findEveryone(step, trusted)) : null;",
  },
  {
    ...B10_FILE,
    without: "refusing links of others",
    file: FILE,
    find: "steps.push({ place, stats, isTarget });",
    replace: "if (!isLink) steps.push({ place, stats, isTarget });",
  },
  {
    ...B10_FILE,
    without: "following links to the directories that they lead through",
    file: FILE,
    find: "names.unshift(...namesOf(target));",
    replace: "return { steps, target: null };",
  },
  {
    ...B10_SANDBOX,
    without: "telling root from the user in the service's sandbox",
    file: FILE,
    find: "return isInSandbox() && uid === overflowUid() && uid !== process.getuid?.();",
    replace: "return isInSandbox();",
  },
  {
    ...B10_FILE,
    without: "refusing a password in the managed file",
    file: "src/adapters/config-file/read.ts",
    find: "if (found.isManaged) issues.push({ ...found, message: SHARED_PASSWORD });",
    replace: "if (found.isManaged) return [];",
  },
  {
    ...B10,
    without: "leaving out what is locked",
    file: MANAGED,
    find: "own = without(own, found);",
    replace: "",
  },
  {
    ...B10,
    without: "leaving out what stands in the place of an object with a locked member",
    file: MANAGED,
    find: "if (length === locked.length || !isObject(value)) return path;",
    replace: "if (length === locked.length) return path;",
  },
  {
    ...B10_MERGE,
    without: "refusing locks that could be got round",
    file: MANAGED,
    find: "if (isWhole || (value !== undefined && !isObject(value)))",
    replace: "if (false)",
  },
  {
    ...B10_MERGE,
    without: "covering every name by a lock with *",
    file: MANAGED,
    find: "locked.flatMap((lock) => expand(lock, user))",
    replace: "locked",
  },
  {
    ...B10_MERGE,
    without: "knowing settings that only named tools have in a lock with *",
    file: "src/core/config/settings.ts",
    find: '[memberOf(schema, step), schema["additionalProperties"]]',
    replace: "[memberOf(schema, step)]",
  },
  {
    ...B10_MERGE,
    without: "refusing locks in a user's file",
    file: LAYERS,
    find: "if (!isObject(user) || !Object.hasOwn(user, LOCKED)) return { file: user, issues: [] };",
    replace: "return { file: user, issues: [] };",
  },
  {
    ...B10_MERGE,
    without: "refusing the user's own mistakes where something else is locked",
    file: LAYERS,
    find: "mistakes.has(identify(issue)) ||",
    replace: "",
  },
  {
    ...B10_MERGE,
    without: "defining members of a merged object instead of assigning them",
    file: MANAGED,
    find: "return Object.fromEntries([...merged, ...added]);",
    replace:
      "return [...merged, ...added].reduce<Record<string, unknown>>((all, [key, value]) => ((all[key] = value), all), {});",
  },
  {
    row: "B10",
    test: "test/core/budget/locked.test.ts",
    without: "keeping a lift from a locked budget",
    file: "src/core/budget/book.ts",
    find: "isLifted(this.#state.lifts, tool, now) && !this.#settings.isLocked(budget)",
    replace: "isLifted(this.#state.lifts, tool, now)",
  },
  {
    row: "B10",
    test: "test/core/budget/locked.test.ts",
    without: "finding the lock of a budget for all",
    file: "src/core/budget/budget.ts",
    find: 'scope.kind === "all" ? ["budgets"] : [',
    replace: 'scope.kind === "all" ? [] : [',
  },
  {
    ...B10_BUDGETS,
    without: "refusing to lift budgets that are all locked",
    file: "src/daemon/budgets/keeper.ts",
    find: "if (durationMs > 0 && first !== undefined && concerned.every(isLocked))",
    replace: "if (first !== undefined && durationMs < 0)",
  },
  {
    ...B10_BUDGETS,
    without: "refusing to reset a locked budget",
    file: "src/daemon/budgets/keeper.ts",
    find: 'if (budget !== undefined && this.#settings.isLocked(budget)) throw this.#explainLock(budget, "reset");',
    replace: "",
  },
  {
    ...B10_BUDGETS,
    without: "asking for the locks in force",
    file: "src/daemon/start.ts",
    find: "managed: () => source.status().managed,",
    replace: "managed: () => null,",
  },
];
