import type { Mutant } from "./mutant.ts";

const E8 = { row: "E8", test: "test/faults/e8-files-others-may-write.test.ts" };
const E8_FILE = { row: "E8", test: "test/adapters/trust/trusted-file.test.ts" };
const E8_GROUP = { row: "E8", test: "test/adapters/trust/group-members.test.ts" };
const E8_COMMAND = { row: "E8", test: "test/adapters/trust/inspect-command.test.ts" };
const E8_JOURNAL = { row: "E8", test: "test/connect/journal/journal.test.ts" };
const E8_SERVICE = { row: "E8", test: "test/cli/service/install.test.ts" };

const EXPOSURE = "src/adapters/trust/exposure.ts";
const GROUP = "src/adapters/trust/group-members.ts";
const COMMAND = "src/adapters/trust/inspect-command.ts";
const KEYS = "src/adapters/key-sources.ts";
const START = "src/daemon/start.ts";

/** Rules on files that others may write: E8. */
export const TRUST: readonly Mutant[] = [
  {
    row: "E8",
    test: "test/adapters/imported-prices.test.ts",
    without: "refusing imported prices that others may change",
    file: "src/adapters/price-table/imported-table.ts",
    find: '(await readTrustedFile(path, "us", MAX_BYTES)).text',
    replace: '(await import("node:fs")).readFileSync(path, "utf8")',
  },
  {
    ...E8,
    without: "refusing what a group may write",
    file: EXPOSURE,
    find: "if (isOpenTo(step, WRITABLE_BY_GROUP, trusted)) loose.push(step);",
    replace: "",
  },
  {
    ...E8,
    without: "accepting the group that only its user is in",
    file: EXPOSURE,
    find: "const [member] = others ?? [];",
    replace: "const [member = group] = others ?? [];",
  },
  {
    ...E8,
    without: "counting those whose primary group it is",
    file: GROUP,
    find: "[...new Set([...listed, ...primary])]",
    replace: "[...listed]",
  },
  {
    ...E8,
    without: "counting those whom the group lists",
    file: GROUP,
    find: "[...new Set([...listed, ...primary])]",
    replace: "primary",
  },
  {
    ...E8,
    without: "refusing what an unknown group may write",
    file: EXPOSURE,
    find: "if (others === null) {",
    replace: "if (false) {",
  },
  {
    ...E8,
    without: "noticing access control lists",
    file: EXPOSURE,
    find: "if (!list) return null;",
    replace: "return null;",
  },
  {
    ...E8,
    without: "following links on the path",
    file: EXPOSURE,
    find: "names.unshift(...namesOf(target));",
    replace: "return { steps, target: null };",
  },
  {
    ...E8,
    without: "examining the directories of a file",
    file: EXPOSURE,
    find: "for (const step of steps) {",
    replace: "for (const step of steps.slice(-1)) {",
  },
  {
    ...E8,
    without: "trying a refused configuration again when its directory may have changed",
    file: "src/adapters/config-file/read.ts",
    find: "if (own.isUnusable || managed.isUnusable) return invalid(broken, true);",
    replace: "if (own.isUnusable || managed.isUnusable) return invalid(broken);",
  },
  {
    ...E8,
    without: "examining the directory of the state",
    file: START,
    find: "await refuseExposed(state, `the directory of tollkeeper's state, ${state}`);",
    replace: "",
  },
  {
    ...E8,
    without: "examining the file of NODE_EXTRA_CA_CERTS",
    file: START,
    find: "if (path !== null) await",
    replace: "if (path === name) await",
  },
  {
    ...E8,
    without: "examining the directories above the ledger",
    file: "src/adapters/ledger-file.ts",
    find: "await refuseExposed(directory, `the ledger directory ${directory}`);",
    replace: "",
  },
  {
    ...E8,
    without: "examining the directories above the control socket",
    file: "src/adapters/control-socket/directory.ts",
    find: "await refuseExposed(directory, `the directory of the control socket, ${directory}`);",
    replace: "",
  },
  {
    ...E8,
    without: "examining the directories above listen.socket",
    file: "src/adapters/unix-socket/guarded-directory.ts",
    find: "await refuseExposed(directory, `${NAME}, ${directory}`);",
    replace: "",
  },
  {
    ...E8,
    without: "refusing state files that others can write",
    file: "src/adapters/state-file.ts",
    find: "if (self !== undefined && (uid !== self || (mode & WRITABLE_BY_OTHERS) !== 0))",
    replace: "if (uid !== self && mode === 0)",
  },
  {
    ...E8,
    without: "naming exposed key commands in config check",
    file: "src/cli/commands/config.ts",
    find: "found.ok ? await findExposedSources(found.config) : []",
    replace: "found.ok ? [found.config].flatMap((): Problem[] => []) : []",
  },
  {
    ...E8,
    without: "the command that closes a key command in doctor",
    file: "src/cli/doctor/checks/keys.ts",
    find: "if (exposure !== null) return exposedFinding(key, exposure);",
    replace: "",
  },
  {
    ...E8,
    without: "what others can change in doctor",
    file: "src/cli/doctor/checks/exposed-files.ts",
    find: "[failure(exposure.describe(`${name}, ${path}`), exposure.command)]",
    replace: "[]",
  },
  {
    ...E8_FILE,
    without: "noticing that another file was put in the place of the one that was read",
    file: "src/adapters/trust/trusted-file.ts",
    find: "if (followed.target?.ino !== stats.ino || followed.target.dev !== stats.dev)",
    replace: "if (false)",
  },
  {
    ...E8_FILE,
    without: "examining a file again after it was read",
    file: "src/adapters/trust/trusted-file.ts",
    find: "const stats = await handle.stat();\n    await refuseDistrusted(path, stats, trusted);",
    replace: "const stats = await handle.stat();",
  },
  {
    ...E8_GROUP,
    without: "not knowing who is in a group that contains a group",
    file: GROUP,
    find: "records.every((record) => record !== null && !/^NestedGroups: *\\S/m.test(record))",
    replace: "records.length > 0",
  },
  {
    ...E8_GROUP,
    without: "counting those whom another group with the same number lists",
    file: GROUP,
    find: "[named, ...parseGroups(all)]",
    replace: "[named]",
  },
  {
    ...E8_GROUP,
    without: "not knowing who is in a group with a password",
    file: GROUP,
    find: "if (hasPassword || (!isComplete && !isOurs))",
    replace: "if (!isComplete && !isOurs)",
  },
  {
    ...E8,
    without: "not knowing who is in a group that a directory service may list",
    file: GROUP,
    find: '["passwd", "group", "initgroups"]',
    replace: '["passwd"]',
  },
  {
    ...E8_GROUP,
    without: "counting those of all groups with a number on macOS",
    file: GROUP,
    find: "names.map((one) => run(DSCL",
    replace: "names.slice(0, 1).map((one) => run(DSCL",
  },
  {
    ...E8_GROUP,
    without: "not knowing who is in a group where the system does not tell",
    file: GROUP,
    find: "if (first === null || all === null || passwd === null) return null;",
    replace:
      'if (first === null || all === null || passwd === null) return { name: "", listed: [], accounts: [], isComplete: true, hasPassword: false };',
  },
  {
    ...E8_COMMAND,
    without: "refusing key commands that others can change",
    file: "src/adapters/key-sources/key-command.ts",
    find: "if (exposure !== null) throw canBeChanged(exposure);",
    replace: "",
  },
  {
    ...E8_COMMAND,
    without: "examining the interpreter of a script",
    file: COMMAND,
    find: "[program, ...interpreter, ...args.flatMap(pathIn)]",
    replace: "[program, ...args.flatMap(pathIn)]",
  },
  {
    ...E8_COMMAND,
    without: "examining the files that arguments name",
    file: COMMAND,
    find: "[program, ...interpreter, ...args.flatMap(pathIn)]",
    replace: "[program, ...interpreter]",
  },
  {
    ...E8_COMMAND,
    without: "examining the path of a key file",
    file: KEYS,
    find: "if (exposure !== null)\n      throw unsafe(exposure.describe(`key file ${path}`), `close it with: ${exposure.command}`);",
    replace: "",
  },
  {
    ...E8_JOURNAL,
    without: "refusing a journal that others can write",
    file: "src/connect/journal/journal.ts",
    find: "if (self !== undefined && (uid !== self || (mode & WRITABLE_BY_OTHERS) !== 0)) {",
    replace: "if (uid !== self && mode === 0) {",
  },
  {
    ...E8_SERVICE,
    without: "refusing to write the service's files where others can change them",
    file: "src/cli/service/execute-plan.ts",
    find: "for (const path of filesWritten(steps))",
    replace: "for (const path of filesWritten([]))",
  },
];
