import { programName } from "../../adapters/program.ts";
import { inTone } from "../terminal/styles.ts";
import { wrapWords } from "../terminal/wrap.ts";

/** Commands for one purpose. */
interface Group {
  title: string;
  /** Each with its arguments, and with what it does. */
  commands: readonly { usage: string; describe: string }[];
}

const GAP = "  ";

const OPTIONS = [
  ["--config FILE", "Configuration file to use"],
  ["-h, --help", "Show help, also of one command"],
] as const;

/** Renders the help of the whole program: its commands by purpose, each as it is typed, in lines of at most `width` characters. */
export function renderGeneralHelp(groups: readonly Group[], width: number, isColoured = false): string {
  const name = programName();
  const rows = groups.map(({ title, commands }) => ({
    title,
    rows: commands.map(({ usage, describe }) => [`${name} ${usage}`, describe] as const),
  }));
  const all = [...rows, { title: "Options of every command", rows: OPTIONS }];
  const left = Math.max(...all.flatMap((group) => group.rows.map(([term]) => term.length)));
  const parts = all.map((group) => {
    const lines = group.rows.flatMap(([term, text]) => layOutTerm(term, text, left, width));
    return [inTone(`${group.title}:`, "strong", isColoured), ...lines].join("\n");
  });
  return [`${name} COMMAND`, ...parts, `For one command, type: ${name} COMMAND --help`].join("\n\n");
}

/** A narrower terminal has each text below its term. */
const NARROW = 72;

/** Puts a term beside its text, which goes on in its own column, or below it. */
export function layOutTerm(term: string, text: string, left: number, width: number): string[] {
  const isBelow = width < NARROW;
  const indent = isBelow ? 2 * GAP.length : left + 2 * GAP.length;
  const lines = wrapWords(text, Math.max(20, width - indent)).split("\n");
  if (isBelow) return [GAP + term, ...lines.map((line) => " ".repeat(indent) + line)];
  return lines.map((line, at) => GAP + (at === 0 ? term : "").padEnd(left) + GAP + line);
}
