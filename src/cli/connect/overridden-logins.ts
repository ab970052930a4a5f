import { findConflicts } from "../../connect/conflicts.ts";
import { CONNECTABLE_TOOLS } from "../../tools/all.ts";
import { isOwnCredential } from "../../tools/recipe/layers.ts";
import { sdk } from "../../tools/sdk.ts";
import type { Account, ConnectableTool, SettingsPlan, ToolHost } from "../../tools/tool.ts";
import { readSettings } from "./account-of-run.ts";
import { note, noteHint } from "../terminal/console.ts";
import { connectedEndpoint, readToolHost } from "./local-endpoint.ts";
import { hasSavedLogin } from "./saved-login.ts";

/** A tool that is signed in, and what happens to its requests where a program is given other variables and starts the tool. */
export interface OverriddenLogin {
  tool: ConnectableTool;
  /** The variable that the tool takes before its login. */
  variable: string;
  /** True if its settings have the address of its plan, at which tollkeeper refuses any other credential. Else the key pays. */
  isRefused: boolean;
}

/**
 * Finds the tools whose saved login some variables would take the place of: a program that gets them may start any tool. Not those for which
 * the key was chosen with `connect`.
 * @param own the tool that the variables are for
 */
export async function findOverriddenLogins(
  own: ConnectableTool,
  variables: Readonly<Record<string, string>>,
  host: ToolHost,
): Promise<OverriddenLogin[]> {
  const found: OverriddenLogin[] = [];
  for (const tool of CONNECTABLE_TOOLS) {
    if (tool.savedLogin === undefined || tool === own) continue;
    const variable = findVariable(tool, variables, host);
    if (variable === null) continue;
    const settings = await readSettings(tool, host);
    if (settings?.chosen === "key" || !(await hasSavedLogin(tool, host))) continue;
    found.push({ tool, variable, isRefused: settings?.written === "plan" });
  }
  return found;
}

/** Says of each tool whose login is overridden by what `connect sdk` or `env` has set in this shell that the key pays, and what decides it. */
export async function describeOverriddenByShell(host: ToolHost): Promise<{ what: string; fix: string }[]> {
  const ours = Object.fromEntries(
    Object.entries(host.env).flatMap(([name, value = ""]) => (isOwnCredential(value) ? [[name, value]] : [])),
  );
  const found = await findOverriddenLogins(sdk, ours, host);
  // With a connection, the variable is one of its conflicts.
  return found
    .filter(({ isRefused }) => !isRefused)
    .map(({ tool: { name, title }, variable }) => ({
      what: `${title} is signed in, but in this shell your key pays: ${variable} comes before its login`,
      fix: `to have its plan pay, unset ${variable}, and remove it from where it is set; to have the key pay without this warning, type: tollkeeper connect ${name} --account key`,
    }));
}

/** Returns the variables that a plan writes to a start-up file of the shell. */
export function shellVariables({ files }: SettingsPlan): Record<string, string> {
  const settings = files.flatMap((file) =>
    file.format === "sh" || file.format === "fish" ? file.settings : [],
  );
  const variables = settings.flatMap(({ keyPath: [name], value }) =>
    typeof name === "string" && typeof value === "string" ? [[name, value] as const] : [],
  );
  return Object.fromEntries(variables);
}

/** Returns the first of the variables that the tool takes before its login. Settings of its own may override it: then null. */
function findVariable(
  tool: ConnectableTool,
  variables: Readonly<Record<string, string>>,
  host: ToolHost,
): string | null {
  const there = { ...host, env: { ...host.env, ...variables } };
  const endpoint = connectedEndpoint(tool.name, null, "plan");
  const plan = tool.plan(there, endpoint, "user");
  const names = findConflicts(tool, there, endpoint, "user", plan, [])
    .filter(({ source, effect }) => source.kind === "environment" && effect === "login")
    .map(({ path }) => String(path.at(-1)));
  return names.find((name) => Object.hasOwn(variables, name)) ?? null;
}

/**
 * Says on standard error whose saved login these variables take the place of, what happens then, and what decides it.
 * @param own the tool that the variables are for
 * @param starter what may start other tools: `./nightly.sh`
 * @param commandFor returns the command for an account, and for the tool that the plan is of
 */
export async function noteOverriddenLogins(
  own: ConnectableTool,
  variables: Readonly<Record<string, string>>,
  starter: string,
  commandFor: (account: Account, tool?: string) => string,
): Promise<void> {
  for (const { tool, variable, isRefused } of await findOverriddenLogins(own, variables, readToolHost())) {
    const what = isRefused
      ? `tollkeeper refuses its requests: ${variable} takes the place of its plan's login`
      : `your key pays, not the plan that it is signed in with: ${variable} comes before its login`;
    const without = isRefused ? "to leave it at that" : "to have the key pay";
    note(`note: if ${starter} starts ${tool.title}, ${what}`);
    noteHint(
      `to have the plan pay, type: ${commandFor("plan", tool.name)}; ${without} without this note, type: ${commandFor("key")}`,
    );
  }
}
