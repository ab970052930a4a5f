import { isObject } from "../../core/json.ts";
import type { Value } from "../setting.ts";

/** How a tool writes the command of an MCP server: `command` with `args`, or all words in a list. */
export type McpForm = "command" | "list";

/** What starts our server. */
export interface McpCommand {
  /** What runs tollkeeper, without a command. */
  program: readonly [string, ...string[]];
  /** The options of a new server. */
  usual: readonly string[];
}

/** Our program, as it is installed or in a clone. `connect` writes its absolute path, after that of node. */
const PROGRAM = /(?:^|\/)(?:tollkeeper|main\.js)$/;

/** True for the setting of a server that runs `tollkeeper mcp`, whatever its path and its options. */
export function isOwnMcpServer(value: unknown): boolean {
  const words = wordsOf(value);
  const at = words.findIndex((word) => PROGRAM.test(word));
  return at !== -1 && at <= 1 && words[at + 1] === COMMAND;
}

const COMMAND = "mcp";

/**
 * Returns the setting of a server that runs `tollkeeper mcp`.
 * @param present the setting that is there. If it is ours, its options and its other members stay
 */
export function mcpServerSetting(form: McpForm, { program, usual }: McpCommand, present: unknown): Value {
  const isOurs = isOwnMcpServer(present);
  const words = wordsOf(present);
  const options = isOurs ? words.slice(words.indexOf(COMMAND) + 1) : usual;
  const [file, ...rest] = [...program, COMMAND, ...options];
  const command = form === "command" ? { command: file, args: rest } : { command: [file, ...rest] };
  if (isOurs) return { ...(present as { readonly [name: string]: Value }), ...command };
  return form === "command" ? command : { type: "local", ...command };
}

/** Returns the words of a server's command; none of what has no command. */
function wordsOf(value: unknown): string[] {
  if (!isObject(value)) return [];
  return [value["command"], value["args"]].flat().filter((word) => typeof word === "string");
}
