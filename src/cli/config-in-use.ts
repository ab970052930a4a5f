import { resolve } from "node:path";
import { configPath } from "../adapters/paths.ts";
import { formatCommand } from "../core/text/shell-words.ts";

/** From the command line; null for the usual one. */
let named: string | null = null;

/** Has the commands that this process prints name the file of `--config`; undefined without that option. */
export function useConfigFile(option: string | undefined): void {
  named = option === undefined ? null : resolve(option);
}

/** Returns the absolute path of the configuration file that this command line uses. */
export function configInUse(): string {
  return named ?? configPath();
}

/** Returns the words of the option that a printed command needs to act on `file` if it is typed as it is printed; none for the usual one. */
export function configOption(file: string): string[] {
  return file === configPath() && file === configInUse() ? [] : ["--config", file];
}

/** Returns the option by which a printed command acts on the file that this one uses, as a shell takes it; "" for the usual one. */
export function optionInUse(): string {
  return formatCommand(configOption(configInUse()));
}

/**
 * Returns a command line with `--config FILE` behind all other words of ours. It may stand in front of the command, where it is easiest to
 * write into a command that is printed somewhere.
 */
export function putConfigLast(words: readonly string[]): string[] {
  const { own, option, others } = split(words);
  return [...own, ...option, ...others];
}

/** Returns a command line without `--config FILE`, and the file; undefined where it names none. */
export function takeConfig(words: readonly string[]): { words: string[]; file: string | undefined } {
  const { own, option, others } = split(words);
  return { words: [...own, ...others], file: option.at(-1)?.replace(/^--config=/, "") };
}

/** Divides a command line: `others` are the words from `--` on, where the command line of another program begins. */
function split(words: readonly string[]): { own: string[]; option: string[]; others: readonly string[] } {
  const end = words.indexOf("--");
  const ours = end === -1 ? words : words.slice(0, end);
  const own: string[] = [];
  const option: string[] = [];
  for (let at = 0; at < ours.length; at++) {
    const [word = "", value = "-"] = ours.slice(at, at + 2);
    if (/^--config=./.test(word)) option.push(word);
    else if (word === "--config" && value !== "" && !value.startsWith("-")) {
      option.push(word, value);
      at++;
    } else own.push(word);
  }
  return { own, option, others: words.slice(ours.length) };
}
