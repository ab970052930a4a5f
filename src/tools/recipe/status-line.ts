import { isObject } from "../../core/json.ts";
import type { Value } from "../setting.ts";

/** A shell's word: in single quotes, or without any. */
const WORD = String.raw`(?:'[^']*'|[^\s'"]+)`;

/** A path of our own: `connect` writes the first one. */
const PROGRAM = String.raw`tollkeeper-statusline\.js|(?:tollkeeper|main\.js) statusline`;
const QUOTED_PROGRAM = String.raw`tollkeeper-statusline\.js'|(?:tollkeeper|main\.js)' statusline`;

/** What draws our status line, after `node` or not, and a format. Whatever else is in a command makes it the user's own. */
const OWN_COMMAND = new RegExp(
  String.raw`^(?:${WORD} )?(?:'[^']*/(?:${QUOTED_PROGRAM})|(?:[^\s'"]*/)?(?:${PROGRAM}))` +
    String.raw`(?<options>(?: --format[= ](?:'[^']*'|"[^"$\x60\\]*"|[^\s'"$\x60\\;&|<>]+))?)$`,
);

/** True for a setting that runs our status line, whatever its path and its format. */
export function isOwnStatusLine(value: unknown): value is { command: string } {
  return isObject(value) && typeof value["command"] === "string" && OWN_COMMAND.test(value["command"]);
}

/**
 * Returns the setting that runs our status line.
 * @param command what runs it, without options
 * @param present the setting that is there. If it is ours, its format and its other members stay
 */
export function statusLineSetting(command: string, present: unknown): Value {
  if (!isOwnStatusLine(present)) return { type: "command", command };
  const { options = "" } = OWN_COMMAND.exec(present.command)?.groups ?? {};
  return { ...(present as { readonly [name: string]: Value }), command: command + options };
}
