import { applySettings } from "../../connect/edit/apply-settings.ts";
import { formatKeyPath } from "../../connect/edit/key-path.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import type { FileSettings } from "../../tools/setting.ts";
import { bypassVariables } from "../../tools/recipe/loopback-bypass.ts";
import type { Environment, LocalEndpoint } from "../../tools/tool.ts";
import { print } from "../terminal/console.ts";
import { displayPath } from "../terminal/format.ts";
import type { ConnectOptions } from "./connect-tool.ts";
import { detectShell, formatEnvironment } from "./environment.ts";
import { readToolHost, resolveEndpoint, toPlanEndpoint } from "./local-endpoint.ts";
import type { LocalDaemon } from "./locate-daemon.ts";
import { requirePlan } from "./paying-account.ts";
import { selectToolByName } from "./select-tool.ts";

/** Printed in place of a token: printing instructions creates none. */
const TOKEN_PLACEHOLDER = "LOCAL-TOKEN";

/** Prints how to connect a tool manually, known or not. Changes nothing. */
export async function printInstructions(
  word: string,
  daemon: LocalDaemon,
  { scope, model, account }: Pick<ConnectOptions, "scope" | "model" | "account">,
): Promise<void> {
  const selected = selectToolByName(word);
  const { tool, name } = selected;
  const token = daemon.config.access.mode === "token" ? TOKEN_PLACEHOLDER : null;
  if (account === "plan") requirePlan(tool);
  const resolved = await resolveEndpoint(selected, daemon, token, model);
  const endpoint = account === "plan" ? toPlanEndpoint(resolved) : resolved;
  const host = readToolHost();
  const environment = tool.environment(host, endpoint);
  const plan =
    tool.name === name ? tool.plan(host, endpoint, tool.scopes.includes(scope) ? scope : "user") : null;
  const files = (plan?.files ?? []).filter(({ format }) => format !== "sh" || detectShell(host.env) !== null);
  for (const file of files) printFile(file, name, host.home);
  if (environment !== null) printEnvironment(environment);
  for (const line of plan?.remarks ?? describeEndpoint(endpoint, name)) print(line);
  if (account === "plan") print(`let the plan pass with: tollkeeper config set plans '["${name}"]'`);
  if (plan !== null && JSON.stringify({ plan, environment }).includes(TOKEN_PLACEHOLDER)) {
    print(`replace ${TOKEN_PLACEHOLDER} with a local token; register one with: tollkeeper token add ${name}`);
  }
}

function printFile(file: FileSettings, name: string, home: string): void {
  print(`${displayPath(file.path, home)}:\n`);
  print(applySettings(null, file, name).text);
  for (const { keyPath, purpose } of file.settings) print(`${formatKeyPath(keyPath)}: ${purpose}`);
  print();
}

function printEnvironment({ variables, flags }: Environment): void {
  const isByVariables = Object.keys(variables).length > 0;
  const all = isByVariables ? { ...variables, ...bypassVariables(process.env) } : {};
  const lines = formatEnvironment(detectShell(process.env) ?? "sh", all, []);
  if (lines.length > 0) print(["environment:\n", ...lines].join("\n"));
  if (flags.length > 0) print(`flags: ${formatCommand(flags)}`);
  print();
}

/** Returns what an unknown tool has to be configured with. */
function describeEndpoint({ baseUrl, credential, isToken }: LocalEndpoint, name: string): string[] {
  const make = isToken
    ? `; register one with: tollkeeper token add ${name}`
    : ", or any other text; its value is ignored";
  return [
    `base URL:  ${baseUrl}/v1 (without /v1 where the tool adds it: ${baseUrl})`,
    `API key:   ${credential}${make}`,
    `or, where the base URL cannot have a path: the header x-tollkeeper-tool: ${name}`,
  ];
}
