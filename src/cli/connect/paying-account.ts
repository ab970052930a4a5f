import { connectionsDirectory } from "../../adapters/paths.ts";
import { readConnectionState, type ConnectionId } from "../../connect/connection.ts";
import { Failure } from "../../core/failure.ts";
import { PLAN_TOOLS } from "../../core/plans/names.ts";
import type { Account, ConnectableTool, Scope, ToolHost } from "../../tools/tool.ts";
import { findBaseUrls } from "../dotfiles/find-base-urls.ts";
import { readDotfiles } from "../dotfiles/read.ts";
import { askLine } from "../terminal/ask.ts";
import { isInteractive } from "../terminal/confirm.ts";
import { note } from "../terminal/console.ts";
import { placeholderEndpoint } from "./local-endpoint.ts";
import { hasSavedLogin } from "./saved-login.ts";
import type { ChangeOptions } from "./tool-changes.ts";
import type { Payment } from "./payer/who-pays.ts";

/** The values of `--account`. */
export const ACCOUNTS = ["key", "plan"] as const satisfies readonly Account[];

/** What decides who pays for a connected tool. */
interface AccountWishes extends ChangeOptions {
  /** `--account`; undefined leaves it to the connection that there is, or to a question. */
  account: Account | undefined;
}

/** Who pays, and whether the tool has a saved login. */
type PayingAccount = Pick<Payment, "account" | "isSignedIn">;

/**
 * Returns the account that pays for a tool: the one that is asked for, else that of the present connection. A tool without a saved login has a
 * key. Otherwise the person decides, because a key would cost them what their plan may cover.
 * @returns null where the input ended without an answer
 * @throws Failure where only a person can decide and none can be asked, and for the plan of a tool whose plan may not pass
 */
export async function choosePayingAccount(
  tool: ConnectableTool,
  host: ToolHost,
  id: ConnectionId,
  { account, isConfirmed, isDryRun }: AccountWishes,
): Promise<PayingAccount | null> {
  if (account === "plan") requirePlan(tool);
  const isSignedIn = await hasSavedLogin(tool, host);
  const known = account ?? (await accountInUse(tool, host, id)) ?? (isSignedIn ? null : "key");
  if (known === null && (isConfirmed || !isInteractive())) throw undecided(tool, id.scope, isDryRun);
  const chosen = known ?? (await askAccount(tool));
  return chosen === null ? null : { account: chosen, isSignedIn };
}

/** @throws Failure, naming the command that has the key pay, for a tool without a path for its own login */
export function requirePlan(
  { name, title, savedLogin }: ConnectableTool,
  withKey = `tollkeeper connect ${name} --account key`,
): void {
  if (savedLogin !== undefined) return;
  throw new Failure(
    `${title} cannot keep the login of a plan: only ${PLAN_TOOLS.join(" and ")} can; nothing was changed`,
    `to have the key pay, type: ${withKey}`,
  );
}

/**
 * Returns the account that the tool's settings have chosen; null where they have not. Written by hand, the address of a key beside a saved login
 * is no choice: tollkeeper refuses such requests.
 */
export async function accountInUse(
  tool: ConnectableTool,
  host: ToolHost,
  id: ConnectionId,
): Promise<Account | null> {
  const account = await readAccount(tool, host, id.scope);
  const isChosen = account === "plan" || readConnectionState(connectionsDirectory(), id) !== null;
  return isChosen ? account : null;
}

/** Returns the account whose address the tool's settings have; null where they do not point at tollkeeper. */
export async function readAccount(
  tool: ConnectableTool,
  host: ToolHost,
  scope: Scope,
): Promise<Account | null> {
  const { files } = tool.plan(host, placeholderEndpoint(tool.name), scope);
  const dotfiles = await readDotfiles(files.map(({ path }) => ({ kind: "tool", path })));
  const urls = dotfiles.flatMap(({ text }) => findBaseUrls(text, []));
  const own = urls.find(({ mark }) => mark === `/t/${tool.name}`);
  return own === undefined ? null : own.isPlan ? "plan" : "key";
}

/** The commands ask nothing: there is no one to answer. */
function undecided({ name, title }: ConnectableTool, scope: Scope, isDryRun: boolean): Failure {
  const option = scope === "user" ? "" : ` --scope ${scope}`;
  const last = isDryRun ? "--dry-run" : "--yes";
  const commands = ACCOUNTS.map(
    (account) =>
      `to have the ${account} pay, type: tollkeeper connect ${name}${option} --account ${account} ${last}`,
  );
  return new Failure(
    `${title} has a saved login, and connect cannot know who is to pay: your key or its plan; nothing was changed`,
    commands.join("; "),
  );
}

/** Asks until the answer is one of the accounts; null at the end of the input. */
export async function askAccount({ title }: ConnectableTool): Promise<Account | null> {
  note(`${title} has a saved login. Which account pays for what it asks through tollkeeper?`);
  note(`  key   Your API key pays for each token, and ${title} does not use its login.`);
  note(`  plan  ${title} keeps its login: its plan pays, within the limits of the plan, and no key is used.`);
  for (;;) {
    const answer = await askLine("Type key or plan: ", isBeginningOfAccount);
    const account = ACCOUNTS.find((one) => one === answer?.toLowerCase());
    if (account !== undefined) return account;
    if (answer === null) return null;
    note("Type key, or plan.");
  }
}

function isBeginningOfAccount(line: string): boolean {
  return ACCOUNTS.some((account) => account.startsWith(line.toLowerCase()));
}
