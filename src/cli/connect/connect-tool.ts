import { isDeepStrictEqual } from "node:util";
import { createKeychain } from "../../adapters/keychain.ts";
import { connectionsDirectory, currentHost } from "../../adapters/paths.ts";
import {
  readConnections,
  readConnectionState,
  type ConnectionId,
  type PreparedChange,
} from "../../connect/connection.ts";
import { Failure } from "../../core/failure.ts";
import { notifyDaemon } from "../../daemon/running-daemon.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { findForeignShell } from "../../tools/recipe/variables.ts";
import type { Account, ConnectableTool, Scope } from "../../tools/tool.ts";
import { findKeys } from "../dotfiles/find-keys.ts";
import { note, print } from "../terminal/console.ts";
import { displayLocation, displayPath } from "../terminal/format.ts";
import { describeConflict, describeException } from "./describe-conflict.ts";
import { adviseOnKey, planKeyMigration } from "./key-migration.ts";
import { isToolInstalled } from "./installed-tools.ts";
import { placeholderEndpoint, readToolHost } from "./local-endpoint.ts";
import { findObstacles } from "./payer/login-obstacles.ts";
import type { LocalDaemon } from "./locate-daemon.ts";
import { findOverriddenLogins, shellVariables, type OverriddenLogin } from "./overridden-logins.ts";
import { choosePayingAccount } from "./paying-account.ts";
import { requireServedApi } from "./reach/require-api.ts";
import { requireStoredKey } from "../keys/require-stored-key.ts";
import { confirmReplacement, notePathRisks } from "./status-line.ts";
import {
  confirmChange,
  printDryRun,
  showChanges,
  type ChangeOptions,
  type Decision,
} from "./tool-changes.ts";
import { prepareToolConnection, type ConnectionWishes } from "./tool-connection.ts";
import {
  inTense,
  keysOf,
  sayHowToChange,
  sayWhoPays,
  warnOfObstacles,
  type Tense,
} from "./payer/who-pays.ts";

export interface ConnectOptions extends ChangeOptions, ConnectionWishes {
  scope: Scope;
  /** Who pays; undefined asks, where there is a choice. */
  account?: Account | undefined;
}

/**
 * Connects one tool: shows the change, asks, and makes it.
 * @throws Failure, with none of the tool's files changed, when it cannot be connected
 */
export async function connectTool(
  tool: ConnectableTool,
  daemon: LocalDaemon,
  { scope, account, model, statusLine, mcp, isFirstParty, ...options }: ConnectOptions,
): Promise<Decision> {
  requireScope(tool, scope);
  requireReadableBlock(tool, scope);
  const id = connectionIdFor(tool.name, scope);
  const paying = await choosePayingAccount(tool, readToolHost(), id, { ...options, account });
  if (paying === null) {
    note("nothing was changed");
    return "declined";
  }
  if (paying.account === "key") {
    requireServedApi(tool, daemon);
    requireStoredKey(tool, tool.name, daemon);
  }
  const wishes = { model, statusLine, mcp, isFirstParty, account: paying.account };
  const connection = await prepareToolConnection(tool, daemon, id, wishes);
  const { baseUrl, plan, change, conflicts, replacedStatusLine, commit } = connection;
  const isHere = isToolInstalled(tool);
  if (!isHere)
    note(`note: ${tool.title} was not found on this machine: neither its program nor its settings`);
  const added = [statusLine === true && "--statusline", mcp === true && "--mcp"].filter(
    (one) => one !== false,
  );
  if (added.length > 0) notePathRisks(formatCommand(["tollkeeper", "connect", tool.name, ...added]));
  const described = conflicts
    .filter(({ effect }) => effect !== "login")
    .map((conflict) => describeConflict(conflict, id));
  const held = locateKeys(change);
  for (const { where, what, fix } of described) {
    if (!held.includes(where)) note(`warning: ${where} ${what}; ${fix}`);
  }
  for (const where of held) {
    note(`warning: ${where} looks like an API key; ${adviseOnKey(tool.name, daemon.config)}`);
  }
  const exception = describeException(conflicts, id);
  const keys = keysOf(daemon.config, tool.name);
  const payment = { tool, ...paying, keys, obstacles: findObstacles(conflicts, id) };
  const overridden =
    account === undefined ? await findOverriddenLogins(tool, shellVariables(plan), readToolHost()) : [];
  const say = (tense: Tense) => {
    if (tool.savedLogin !== undefined || account !== undefined) {
      for (const sentence of sayWhoPays(payment, tense)) print(sentence);
      if (exception !== "")
        print(`Requests that go elsewhere ${inTense(tense, "be paid", "are paid")} there.`);
    }
    for (const warning of warnOfObstacles(payment, tense)) note(warning);
  };
  if (change.isUnchanged) {
    print(`${tool.title} is already connected${exception}: ${baseUrl}`);
    say("does");
    for (const login of overridden) print(describeOverriddenLogin(tool, login, "does"));
    for (const sentence of sayHowToChange(tool, scope, paying.account)) print(sentence);
    if (options.isDryRun) printDryRun();
    return "done";
  }
  const tense = options.isDryRun ? "would" : "will";
  const migration = await planKeyMigration(change.keys, tool.name, daemon.config, createKeychain());
  showChanges(change, options);
  if (migration !== null) print(migration.description);
  for (const login of overridden) print(describeOverriddenLogin(tool, login, tense));
  const storeKey = migration?.store ?? null;
  if (replacedStatusLine !== null && !(await confirmReplacement(replacedStatusLine, options)))
    return "declined";
  // Without a question, what is said once it is done is enough.
  if (options.isDryRun || !options.isConfirmed) say(tense);
  const isConnected = ["connected", "changed"].includes(
    readConnectionState(connectionsDirectory(), id) ?? "gone",
  );
  const verb = isConnected ? "Change the connection of" : "Connect";
  const question = storeKey === null ? verb : `Move the key into the keychain, and ${verb.toLowerCase()}`;
  const decision = await confirmChange(`${question} ${tool.title}?`, options);
  if (decision !== "done") return decision;
  if (storeKey !== null) {
    await storeKey();
    await notifyDaemon("keys-changed");
  }
  await commit();
  printWrittenFiles(id);
  for (const remark of plan.remarks) print(remark);
  const option = scope === "user" ? "" : ` --scope ${scope}`;
  print(
    `${tool.title} is connected${exception === "" && !isHere ? ", for when it is installed" : exception}. To disconnect it, type: tollkeeper disconnect ${tool.name}${option}`,
  );
  say("does");
  return "done";
}

/** Says whose saved login the variables in the shell's start-up file take the place of. */
function describeOverriddenLogin(
  connected: ConnectableTool,
  { tool: { title }, variable, isRefused }: OverriddenLogin,
  tense: Tense,
): string {
  const what = isRefused
    ? `tollkeeper ${inTense(tense, "refuse", "refuses")} what ${title} asks in new terminals: ${variable} takes the place of its plan's login`
    : `in new terminals your key ${inTense(tense, "pay", "pays")} for ${title}, not the plan that it is signed in with: ${variable} comes before its login`;
  return `Note that ${what}. To keep its plan, do not connect ${connected.title}. For one program, type:\n  tollkeeper run -- COMMAND`;
}

/** Returns the ID of a tool's connection; in the scope `project`, for the working directory. */
export function connectionIdFor(tool: string, scope: Scope): ConnectionId {
  return { tool, scope, directory: scope === "project" ? process.cwd() : null };
}

function requireScope({ title, name, scopes }: ConnectableTool, scope: Scope): void {
  if (scopes.includes(scope)) return;
  const commands = scopes.map((known) => `tollkeeper connect ${name} --scope ${known}`);
  const hint =
    scopes.length === 0
      ? `to see what to enter by hand, type: tollkeeper connect ${name} --print`
      : `connect it with: ${commands.join("; or: ")}`;
  throw new Failure(`${title} has no settings that connect can change with --scope ${scope}`, hint);
}

/** A tool that follows variables is connected by a block in the shell's start-up file. @throws Failure for a shell that cannot read it */
function requireReadableBlock({ title, name, plan }: ConnectableTool, scope: Scope): void {
  const host = readToolHost();
  const shell = findForeignShell(host.env);
  if (
    shell === null ||
    plan(host, placeholderEndpoint(name), scope).files.every(({ format }) => format !== "sh")
  )
    return;
  throw new Failure(
    `${title} is connected by variables, and connect cannot write them in the language of your shell, ${shell}; nothing was changed`,
    `to see the variables, type: tollkeeper connect ${name} --print; or for one run: tollkeeper run --tool ${name} -- COMMAND`,
  );
}

/** Returns the location of everything in the changed files that looks like a real key. */
function locateKeys({ changes }: PreparedChange): string[] {
  const { home } = currentHost();
  return changes.flatMap(({ path, after }) =>
    findKeys(after ?? "", []).map(({ line, name }) => {
      return displayLocation(`${displayPath(path, home)}:${line}`, name);
    }),
  );
}

function printWrittenFiles(id: ConnectionId): void {
  const { home } = currentHost();
  const connection = readConnections(connectionsDirectory()).find((one) => isDeepStrictEqual(one.id, id));
  for (const { path, backup, isRedacted } of connection?.files ?? []) {
    const label = isRedacted ? "backup, without its keys" : "backup";
    const copy = backup === null ? "" : `; ${label}: ${displayPath(backup, home)}`;
    print(`wrote ${displayPath(path, home)}${copy}`);
  }
}
