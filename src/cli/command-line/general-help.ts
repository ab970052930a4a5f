import { programName } from "../../adapters/program.ts";

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
export function renderGeneralHelp(groups: readonly Group[], width: number): string {
  const name = programName();
  const rows = groups.map(({ title, commands }) => ({
    title,
    rows: commands.map(({ usage, describe }) => [`${name} ${usage}`, describe] as const),
  }));
  const all = [...rows, { title: "Options of every command", rows: OPTIONS }];
  const left = Math.max(...all.flatMap((group) => group.rows.map(([term]) => term.length)));
  const parts = all.map((group) => {
    const lines = group.rows.flatMap(([term, text]) => layOut(term, text, left, width));
    return [`${group.title}:`, ...lines].join("\n");
  });
  return [`${name} COMMAND`, ...parts, `For one command, type: ${name} COMMAND --help`].join("\n\n");
}

/** Puts a term beside its text, which goes on in its own column. */
function layOut(term: string, text: string, left: number, width: number): string[] {
  const lines: string[] = [];
  const room = Math.max(20, width - left - 2 * GAP.length);
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > room) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line, at) => GAP + (at === 0 ? term : "").padEnd(left) + GAP + line);
}
