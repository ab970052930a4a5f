import { applySettings } from "../../connect/edit/apply.ts";
import { writeSteps } from "../../connect/edit/setting-path.ts";
import type { Destination, Environment } from "../../tools/recipe.ts";
import type { FileSettings } from "../../tools/setting.ts";
import { writeCommand } from "../../service/write-command.ts";
import { print } from "../terminal/console.ts";
import type { ConnectOptions } from "./connect-tool.ts";
import { destinationOf, toolHostInfo } from "./destination.ts";
import { shorten } from "../hints.ts";
import { targetOfName } from "./find-recipe.ts";
import type { LocalAddress } from "./local-address.ts";
import { shellOf, writeEnvironment } from "../commands/env/shell-environment.ts";

/** Stands for the token, which is not made for something that is only looked at. */
const SOME_TOKEN = "LOCAL-TOKEN";

/** Prints all that a person needs to lead a tool here by hand, known to us or not. Changes nothing. */
export async function printByHand(
  name: string,
  address: LocalAddress,
  { scope, model }: Pick<ConnectOptions, "scope" | "model">,
): Promise<void> {
  const guest = targetOfName(name);
  const { recipe, tool } = guest;
  const token = address.config.access.mode === "token" ? SOME_TOKEN : null;
  const to = await destinationOf(guest, address, token, model);
  const on = toolHostInfo();
  const environment = recipe.environment(on, to);
  if (recipe.tool === tool) {
    const { files, remarks } = recipe.plan(on, to, recipe.scopes.includes(scope) ? scope : "user");
    for (const file of files) printFile(file, tool);
    if (environment !== null) printEnvironment(environment);
    for (const remark of remarks) print(remark);
    if (isIn(SOME_TOKEN, { files, environment, remarks })) {
      print(`${SOME_TOKEN} stands for a local token; make it with: tollkeeper token add ${tool}`);
    }
  } else {
    if (environment !== null) printEnvironment(environment);
    for (const line of describe(to, tool)) print(line);
  }
}

function printFile(file: FileSettings, tool: string): void {
  print(`${shorten(file.path, toolHostInfo().home)}:\n`);
  print(applySettings(null, file, tool).text);
  for (const { at, why } of file.settings) print(`${writeSteps(at)}: ${why}`);
  print();
}

function printEnvironment({ variables, flags }: Environment): void {
  const lines = writeEnvironment(shellOf(process.env), variables, []);
  if (lines.length > 0) print(["environment:\n", ...lines].join("\n"));
  if (flags.length > 0) print(`flags: ${writeCommand(flags)}`);
  print();
}

function isIn(word: string, printed: object): boolean {
  return JSON.stringify(printed).includes(word);
}

/** What a stranger wants to be told, whatever it calls it. */
function describe({ baseUrl, credential, isToken }: Destination, tool: string): string[] {
  const make = isToken
    ? `; make it with: tollkeeper token add ${tool}`
    : ", or any other text; it is never looked at";
  return [
    `base URL:  ${baseUrl}/v1 (without /v1 where the tool adds it: ${baseUrl})`,
    `API key:   ${credential}${make}`,
    `or, where the base URL cannot have a path: the header x-tollkeeper-tool: ${tool}`,
  ];
}
