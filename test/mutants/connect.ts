import type { Mutant } from "./mutant.ts";

const BACKUPS = { row: "connect", test: "test/connect/journal/backups.test.ts" };
const CHANGES = { row: "connect", test: "test/connect/journal/concurrent-changes.test.ts" };
const CONFLICTS = { row: "connect", test: "test/connect/conflicts.test.ts" };
const CONNECTION = { row: "connect", test: "test/connect/connection.test.ts" };
const INSTALLED = { row: "connect", test: "test/connect/installed.test.ts" };
const INTERRUPTED = { row: "connect", test: "test/connect/journal/interrupted.test.ts" };
const SECRETS = { row: "connect", test: "test/connect/secrets.test.ts" };
const STATUS_LINE = { row: "connect", test: "test/connect/status-line.test.ts" };
const MCP = { row: "connect", test: "test/cli/commands/connect-mcp.test.ts" };
const TARGET = { row: "connect", test: "test/connect/edit/target-file.test.ts" };
const UNDO = { row: "connect", test: "test/connect/edit/undo-settings.test.ts" };
const CODEX = { row: "connect", test: "test/tools/codex.test.ts" };
const SDK = { row: "connect", test: "test/tools/sdk.test.ts" };
const ACCOUNT = { row: "connect", test: "test/cli/commands/connect-account.test.ts" };
const RUN = { row: "connect", test: "test/cli/commands/run-account.test.ts" };
const OF_RUN = "src/cli/connect/account-of-run.ts";
const PAYING = "src/cli/connect/paying-account.ts";
const COMMIT = "src/connect/journal/commit.ts";

/** Changing tools' files, keeping what was there, and taking it back. */
export const CONNECT: readonly Mutant[] = [
  {
    ...RUN,
    without: "asking who pays before `run` starts a tool that is signed in",
    file: OF_RUN,
    find: "const isUndecided = known === null && (await hasSavedLogin(tool, host));",
    replace: "const isUndecided = known === undefined && (await hasSavedLogin(tool, host));",
  },
  {
    ...RUN,
    without: "refusing an account that the tool's settings override",
    file: OF_RUN,
    find: "if (settings !== null && settings.written !== chosen)",
    replace: "if (settings !== null && settings.written !== settings.written)",
  },
  {
    ...RUN,
    without: "removing what takes the login's place from what `run` starts",
    file: "src/cli/connect/environment.ts",
    find: "[...new Set([...conflicts, ...inEnvironment])]",
    replace: "conflicts",
  },
  {
    ...RUN,
    without: "naming a plan that may not pass before the tool starts",
    file: OF_RUN,
    find: 'if (chosen === "plan" && !isListed) throw',
    replace: 'if (chosen === "plan" && isListed) throw',
  },
  {
    ...RUN,
    without: "saying whose login the variables of an unknown program take the place of",
    file: "src/cli/connect/overridden-logins.ts",
    find: 'effect === "login")',
    replace: 'effect === "statusline")',
  },
  {
    ...RUN,
    without: "telling that the key was chosen with `connect`",
    file: "src/cli/connect/overridden-logins.ts",
    find: 'if (settings?.chosen === "key" || ',
    replace: "if (",
  },
  {
    row: "connect",
    test: "test/cli/commands/paying.test.ts",
    without: "warning in a shell that has what comes before a saved login",
    file: "src/cli/connect/overridden-logins.ts",
    find: "isOwnCredential(value) ? [[name, value]] : []",
    replace: "isOwnCredential(value) ? [] : [[name, value]]",
  },
  {
    ...ACCOUNT,
    without: "asking who pays for a tool that is signed in",
    file: PAYING,
    find: '(isSignedIn ? null : "key")',
    replace: '"key"',
  },
  {
    ...ACCOUNT,
    without: "taking a login in a variable for one",
    file: "src/cli/connect/saved-login.ts",
    find: 'variable !== null && (host.env[variable] ?? "") !== ""',
    replace: "variable === file.name",
  },
  {
    ...ACCOUNT,
    without: "keeping the account of a connected tool",
    file: PAYING,
    find: "return isChosen ? account : null;",
    replace: "return isChosen ? null : account;",
  },
  {
    ...ACCOUNT,
    without: "taking a key's address that was written by hand for no choice",
    file: PAYING,
    find: "readConnectionState(connectionsDirectory(), id) !== null",
    replace: "readConnectionState(connectionsDirectory(), id) !== undefined",
  },
  {
    ...ACCOUNT,
    without: "leaving out our credential where the plan pays",
    file: "src/tools/claude-code.ts",
    find: 'if (account === "key") return [',
    replace: 'if (account !== "key" || !isToken) return [',
  },
  {
    ...ACCOUNT,
    without: "warning of what takes the place of a plan's login",
    file: "src/cli/connect/list-tools.ts",
    find: 'effect === "elsewhere" || effect === "login"',
    replace: 'effect === "elsewhere"',
  },
  {
    ...ACCOUNT,
    without: "telling that the plan pays only once nothing takes the place of its login",
    file: "src/cli/connect/payer/who-pays.ts",
    find: "if (payment.obstacles.length > 0) return [];",
    replace: "",
  },
  {
    ...ACCOUNT,
    without: "the setting that lets a plan pass",
    file: "src/cli/connect/tool-connection.ts",
    find: 'account === "plan" ? await permitPlan(tool, daemon) : null',
    replace: 'account === "plan" ? await permitPlan(tool, daemon).then(() => null) : null',
  },
  {
    ...ACCOUNT,
    without: "handing over a list that another tool has an item in",
    file: COMMIT,
    find: "return { ...setting, depth: Math.min(setting.depth, ...depths) };",
    replace: "return depths.length < 0 ? setting : { ...setting };",
  },
  {
    ...BACKUPS,
    without: "a backup that no later one is written over",
    file: "src/connect/journal/backups.ts",
    find: `if (!fs.existsSync(path) || fs.readFileSync(path, "utf8") === text) return name;`,
    replace: "if (path !== text) return name;",
  },
  {
    ...BACKUPS,
    without: "keeping the backup of a file that could not be restored",
    file: "src/connect/journal/backups.ts",
    find: "fs.existsSync(path) && !isRestored(plan, backup, path)",
    replace: "!fs.existsSync(path) && !isRestored(plan, backup, path)",
  },
  {
    ...BACKUPS,
    without: "removing the backup of a connection that failed",
    file: COMMIT,
    find: "removeNewBackups(directory, pending, former);",
    replace: "",
  },
  {
    ...BACKUPS,
    without: "handing over a file that another tool has settings in",
    file: COMMIT,
    find: "transferOwnership(directory, id, plans);",
    replace: "",
  },
  {
    ...SECRETS,
    without: "redacting keys in a backup",
    file: "src/connect/journal/backups.ts",
    find: "const redacted = redactSecrets(original, change.secrets);",
    replace: "const redacted = original;",
  },
  {
    ...SECRETS,
    without: "keeping no real key in the journal",
    file: "src/connect/edit/apply-settings.ts",
    find: `if (findKeys(keyPath, value).length > 0) return "key";`,
    replace: "",
  },
  {
    ...SECRETS,
    without: "refusing to overwrite a login",
    file: "src/connect/edit/apply-settings.ts",
    find: `if (!holdsSecret(keyPath, value) && isHarmless) return "value";`,
    replace: `if (value !== undefined) return "value";`,
  },
  {
    ...INTERRUPTED,
    without: "the journal before the files",
    file: COMMIT,
    find: "replaceJournal(directory, former, pending);\n  writeAll(plans, () => revertJournal(directory, pending, former));",
    replace:
      "writeAll(plans, () => revertJournal(directory, pending, former));\n  replaceJournal(directory, former, pending);",
  },
  {
    ...INTERRUPTED,
    without: "undoing the connection before one that was interrupted",
    file: "src/connect/journal/file-plan.ts",
    find: "return isBetter ? other : result;",
    replace: "return isBetter ? result : result;",
  },
  {
    ...CHANGES,
    without: "disconnecting only what has not been connected again",
    file: COMMIT,
    find: "requireCurrent(directory, journal.identity, journal);\n  plans.forEach(writeChange);",
    replace: "plans.forEach(writeChange);",
  },
  {
    ...CHANGES,
    without: "leaving the journal of another process alone",
    file: COMMIT,
    find: "if (!isCurrent(directory, identity, pending)) return;",
    replace: "",
  },
  {
    ...TARGET,
    without: "rolling back the files that were written before one that cannot be",
    file: COMMIT,
    find: "const isRolledBack = done.map(rollBack).every((isDone) => isDone);",
    replace: "const isRolledBack = done.length >= 0;",
  },
  {
    ...TARGET,
    without: "leaving a file alone that changed after it was read",
    file: "src/connect/edit/target-file.ts",
    find: "if (isUnchanged) return;",
    replace: "if (isUnchanged || path !== realPath || existing !== undefined) return;",
  },
  {
    ...TARGET,
    without: "the mode of a file",
    file: "src/connect/edit/target-file.ts",
    find: "existing === null ? NEW_FILE : existing.stats.mode & 0o7777",
    replace: "NEW_FILE",
  },
  {
    ...TARGET,
    without: "refusing a file with hard links",
    file: "src/connect/edit/target-file.ts",
    find: "if (nlink > 1) {",
    replace: "if (nlink > Infinity) {",
  },
  {
    ...UNDO,
    without: "what a person has changed since",
    file: "src/connect/edit/undo-record.ts",
    find: "if (isAnyFine === true || isEqual(value, ours)) return true;",
    replace: "if (isAnyFine !== null || isEqual(value, ours)) return true;",
  },
  {
    ...UNDO,
    without: "a file that was there before, even if it is empty now",
    file: "src/connect/edit/undo-settings.ts",
    find: "if (before === null && isEmpty) return",
    replace: "if (isEmpty) return",
  },
  {
    ...UNDO,
    without: "a null that was there before",
    file: "src/connect/edit/undo-settings.ts",
    find: `const becomesNull = written.before === "null" && outermost.length === written.depth;`,
    replace: `const becomesNull = written.before === "null" && outermost.length < 0;`,
  },
  {
    ...CONNECTION,
    without: "the first backup when a tool is connected again",
    file: COMMIT,
    find: "record === null ? saveBackup(directory, id, plan) : record.backup",
    replace: "saveBackup(directory, id, plan) ?? record?.backup ?? null",
  },
  {
    ...STATUS_LINE,
    without: "leaving a status line of the user's own",
    file: "src/connect/status-line.ts",
    find: "if (!(isWanted ?? isOwnStatusLine(present))) return { plan, replaced: null };",
    replace: "if (!(isWanted ?? present !== undefined)) return { plan, replaced: null };",
  },
  {
    ...INSTALLED,
    without: "telling programs of Windows from a tool",
    file: "src/connect/installed.ts",
    find: `directory !== "" && !(isWsl(env) && WINDOWS_DRIVE.test(directory))`,
    replace: `directory !== "" && !(isWsl(env) && WINDOWS_DRIVE.test(home))`,
  },
  {
    ...CONFLICTS,
    without: "the settings that override those of the user",
    file: "src/tools/recipe/layers.ts",
    find: "for (const { source, top } of layers.toReversed()) {",
    replace: "for (const { source, top } of layers) {",
  },
  {
    ...SDK,
    without: "a base URL of tollkeeper's, with the mark of a tool on any port",
    file: "src/tools/recipe/layers.ts",
    find: String.raw`/^\/t\/[\w.-]+/.test(path) || `,
    replace: "",
  },
  {
    ...SDK,
    without: "placeholders and local tokens, which are no conflict",
    file: "src/tools/recipe/layers.ts",
    find: "value.startsWith(PLACEHOLDER_PREFIX) || looksLikeLocalToken(value)",
    replace: "looksLikeLocalToken(value)",
  },
  {
    ...CODEX,
    without: "a base URL that overrides ours",
    file: "src/tools/recipe/layers.ts",
    find: "if (found === null || leadsHere(found.value, endpoint)) return [];",
    replace: "if (found === null || leadsHere(found.value, endpoint) || endpoint !== null) return [];",
  },
  {
    ...MCP,
    without: "taking off an MCP server that the user has edited",
    file: "src/connect/edit/undo-record.ts",
    find: "if (isMcpServer === true && isOwnMcpServer(value)) return true;",
    replace: "",
  },
  {
    ...MCP,
    without: "leaving alone an MCP server of the user's own",
    file: "src/connect/mcp-server.ts",
    find: "if (present !== undefined && !isOurs)",
    replace: "if (present === null)",
  },
  {
    ...MCP,
    without: "keeping the options of an MCP server",
    file: "src/tools/recipe/mcp-server.ts",
    find: "isOurs ? words.slice(words.indexOf(COMMAND) + 1) : usual",
    replace: "usual",
  },
];
