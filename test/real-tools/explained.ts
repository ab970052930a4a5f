import { readFileSync } from "node:fs";
import type { Offer } from "./offer.ts";

/** A row of the table in docs/connecting.md: lines of an offer that a program has on one side only, with `*` for any text. */
interface Explanation {
  tool: string;
  direct: readonly RegExp[];
  through: readonly RegExp[];
}

/** What is not as the table says. */
export interface Surprises {
  /** Lines of the direct run that are missing through tollkeeper, and that no row explains. */
  lost: string[];
  /** The reverse. */
  added: string[];
  /** Patterns of the tool's rows that explain nothing any more. */
  outdated: string[];
}

const HEAD = "| tool | only directly | only through tollkeeper | why |";
const PAGE = new URL("../../docs/connecting.md", import.meta.url);

/** Compares the offers of a program with what the documentation says of it. `title` is its name there. */
export function findSurprises(title: string, direct: Offer, through: Offer): Surprises {
  const rows = readExplanations().filter(({ tool }) => tool === title);
  const missing = without(direct, through);
  const added = without(through, direct);
  const lost = explain(
    missing,
    rows.flatMap((row) => row.direct),
  );
  const more = explain(
    added,
    rows.flatMap((row) => row.through),
  );
  return { lost: lost.rest, added: more.rest, outdated: [...lost.unused, ...more.unused] };
}

/** Returns the lines that no pattern explains, and the patterns that explain no line. */
function explain(lines: readonly string[], patterns: readonly RegExp[]) {
  return {
    rest: lines.filter((line) => !patterns.some((pattern) => pattern.test(line))),
    unused: patterns
      .filter((pattern) => !lines.some((line) => pattern.test(line)))
      .map(({ source }) => source),
  };
}

function without(one: Offer, other: Offer): string[] {
  return [...one].filter((line) => !other.has(line));
}

function readExplanations(): Explanation[] {
  const lines = readFileSync(PAGE, "utf8").split("\n");
  const start = lines.findIndex((line) => line.replace(/ +/g, " ") === HEAD);
  if (start === -1) throw new Error(`${PAGE.pathname} has no table with the head ${HEAD}`);
  const after = lines.slice(start + 2);
  return after.slice(0, after.indexOf("")).map((line) => {
    const [, tool = "", direct = "", through = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { tool, direct: patternsIn(direct), through: patternsIn(through) };
  });
}

/** A line of an offer begins with the model, which the table leaves out. */
function patternsIn(cell: string): RegExp[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => {
    const escaped = text.replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll("*", ".*");
    return new RegExp(`^(?:[^: ]+: )?${escaped}$`);
  });
}
