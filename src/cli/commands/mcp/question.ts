import type { McpAnswer, McpQuestion, McpTool } from "../../../adapters/mcp/server.ts";
import { homeDirectory } from "../../../adapters/paths.ts";
import { isObject } from "../../../core/json.ts";
import { toPrintableLines } from "../../../core/text/printable.ts";
import { toSnakeCase } from "../../../core/text/snake-case.ts";
import { WrongUsage } from "../../wrong-usage.ts";
import type { View } from "../usage/table.ts";
import type { Scope } from "./scope.ts";

/** The texts of the parameters that a client has given. */
type Given = Readonly<Record<string, string | undefined>>;

/** What an answer is found with. */
export interface Asked extends Pick<McpQuestion, "client" | "meta"> {
  given: Given;
  scope: Scope;
  /** The configuration file; undefined for the usual one. */
  file: string | undefined;
}

/** A question with how it is answered. Rejects with a Failure for what cannot be answered. */
export interface Question {
  tool: McpTool;
  answer(asked: Asked): Promise<McpAnswer>;
}

/** As a pipe gets it: columns have the width that they need, and everything is explained in sentences. */
export function textView(): View {
  return { width: Infinity, isTerminal: false, isColoured: false, isWide: false, home: homeDirectory() };
}

/** Returns an answer with a document as `--json` prints it. Some tools show their model only the document, others only the text. */
export function answerOf(text: string, document: object): McpAnswer {
  const written = toSnakeCase(document);
  return { text: toPrintableLines(text), document: isObject(written) ? written : {} };
}

/** Checks what a client has given for a tool. @throws WrongUsage for an unknown parameter, and for what is not a text */
export function readGiven({ name, parameters }: McpTool, given: McpQuestion["given"]): Given {
  for (const [parameter, value] of Object.entries(given)) {
    if (!Object.hasOwn(parameters, parameter))
      throw new WrongUsage(
        `"${name}" has no parameter ${JSON.stringify(parameter)}`,
        `its parameters are: ${Object.keys(parameters).join(", ") || "none"}`,
      );
    if (typeof value !== "string") throw new WrongUsage(`"${parameter}" must be a text`);
  }
  return given as Given;
}
