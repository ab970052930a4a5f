import type { Config } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import { PLAN_TOOLS } from "../../core/plans/names.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { CONNECTABLE_TOOLS } from "../../tools/all.ts";
import { sdk } from "../../tools/sdk.ts";
import type { Account, ConnectableTool, Scope, ToolHost } from "../../tools/tool.ts";
import { isInteractive } from "../terminal/confirm.ts";
import { placeholderEndpoint } from "./local-endpoint.ts";
import { ACCOUNTS, accountInUse, askAccount, readAccount, requirePlan } from "./paying-account.ts";
import { hasSavedLogin } from "./saved-login.ts";
import type { SelectedTool } from "./select-tool.ts";

/** What decides who pays for a tool that `run` or `env` points at tollkeeper, in no file. */
interface RunWishes {
  /** `--account`; undefined leaves it to the tool's settings, the configuration or a question. */
  account: Account | undefined;
  /** Whether a person may be asked, if there is a terminal. */
  canAsk: boolean;
  /** Returns the command that was typed, with this account, and for this tool. */
  commandWith(account: Account, tool?: string): string;
}

/**
 * Returns the account that pays: the one that is asked for, else that of the tool's connection, else the plan if `plans` lists the tool. A tool
 * without a saved login has a key. Otherwise the person decides, as for `connect`.
 * @throws Failure where only a person can decide, and none can be asked or the input ends without an answer; where the tool's settings have
 * another account; and for a plan that may not pass
 */
export async function chooseAccountOfRun(
  { tool, name }: SelectedTool,
  { plans }: Pick<Config, "plans">,
  host: ToolHost,
  { account, canAsk, commandWith }: RunWishes,
): Promise<Account> {
  if (account === "plan" && tool === sdk) throw noPlanOfItsOwn(name, host, commandWith);
  if (account === "plan") requirePlan(tool, commandWith("key"));
  if (tool.savedLogin === undefined) return "key";
  const settings = await readSettings(tool, host);
  const isListed = plans.some((one) => one === tool.name);
  const known = account ?? settings?.chosen ?? (isListed ? "plan" : null);
  const isUndecided = known === null && (await hasSavedLogin(tool, host));
  if (isUndecided && !(canAsk && isInteractive())) throw undecided(tool, commandWith);
  const chosen = isUndecided ? await askAccount(tool) : (known ?? "key");
  if (chosen === null) throw undecided(tool, commandWith);
  if (chosen === "plan" && name !== tool.name) throw onlyUnderOwnName(tool, name, commandWith);
  if (settings !== null && settings.written !== chosen)
    throw settingsComeFirst(tool, settings, chosen, commandWith);
  if (chosen === "plan" && !isListed) throw notPermitted(tool, plans);
  return chosen;
}

/** The account in the tool's settings. They hold for what `run` starts, too. */
interface AccountInSettings {
  scope: Scope;
  written: Account;
  /** null where it was written by hand, and is no choice. See {@link accountInUse}. */
  chosen: Account | null;
}

/** Returns the account in the strongest settings that point at tollkeeper: a project's override the user's. */
export async function readSettings(tool: ConnectableTool, host: ToolHost): Promise<AccountInSettings | null> {
  for (const scope of ["project", "user"] as const) {
    if (!tool.scopes.includes(scope)) continue;
    const written = await readAccount(tool, host, scope);
    if (written === null) continue;
    const directory = scope === "project" ? host.directory : null;
    const chosen = await accountInUse(tool, host, { tool: tool.name, scope, directory });
    return { scope, written, chosen };
  }
  return null;
}

function undecided({ title }: ConnectableTool, commandWith: RunWishes["commandWith"]): Failure {
  const commands = ACCOUNTS.map((account) => `to have the ${account} pay, type: ${commandWith(account)}`);
  return new Failure(
    `${title} has a saved login, and tollkeeper cannot know who is to pay: your key or its plan`,
    commands.join("; "),
  );
}

/** A program that is not known has no plan, but may start a tool that has one. Flags are for the tool's own program alone. */
function noPlanOfItsOwn(name: string, host: ToolHost, commandWith: RunWishes["commandWith"]): Failure {
  const commands = CONNECTABLE_TOOLS.filter(
    (tool) =>
      tool.savedLogin !== undefined &&
      tool.environment(host, placeholderEndpoint(tool.name))?.flags.length === 0,
  ).map((tool) => `to have the plan of ${tool.title} pay, type: ${commandWith("plan", tool.name)}`);
  return new Failure(
    `tollkeeper knows no plan of ${name}, only those of ${PLAN_TOOLS.join(" and ")}`,
    [...commands, `to have the key pay, type: ${commandWith("key")}`].join("; "),
  );
}

/** The daemon takes a login only at the mark of the tool that it belongs to. */
function onlyUnderOwnName(
  tool: ConnectableTool,
  name: string,
  commandWith: RunWishes["commandWith"],
): Failure {
  return new Failure(
    `the plan of ${tool.title} pays only for requests under the name ${tool.name}, not ${name}`,
    `to have the plan pay, leave out: --tool ${name}; to have the key pay, type: ${commandWith("key")}`,
  );
}

/** Settings of Claude Code override its variables. Codex adds what its flags say to the provider in its settings. */
function settingsComeFirst(
  { name, title }: ConnectableTool,
  { scope, written }: AccountInSettings,
  chosen: Account,
  commandWith: RunWishes["commandWith"],
): Failure {
  const option = scope === "user" ? [] : ["--scope", scope];
  const connect = formatCommand(["tollkeeper", "connect", name, ...option, "--account", chosen]);
  return new Failure(
    `the settings of ${title} have the address at which its ${written} pays, and no command can override that for one run`,
    `to have the ${chosen} pay from now on, type: ${connect}; to have the ${written} pay, type: ${commandWith(written)}`,
  );
}

function notPermitted({ name, title }: ConnectableTool, plans: Config["plans"]): Failure {
  const permit = formatCommand(["tollkeeper", "config", "set", "plans", JSON.stringify([...plans, name])]);
  return new Failure(
    `tollkeeper does not let the plan of ${title} pass: "plans" in its configuration does not list ${name}`,
    `to let it pass, type: ${permit}; or to have the plan pay from now on: tollkeeper connect ${name} --account plan`,
  );
}
