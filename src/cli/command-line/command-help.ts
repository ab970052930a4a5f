import { inTone } from "../terminal/styles.ts";
import { wrapWords } from "../terminal/wrap.ts";
import { layOutTerm } from "./general-help.ts";

/** A heading such as `Options:`. */
const HEADING = /^[A-Z]\w+:$/;

/** A command, an argument or an option with its text, on one line, as yargs renders it without a width. */
const ENTRY = /^ {2} *(?<term>\S.*?)(?: {2,}(?<text>.*))?$/;

/** What yargs says of an option's value behind its text: `[string] [default: "30d"]`. */
const TAGS = /(?:^| +)(?<tags>\[[^\]]*\](?: *\[[^\]]*\])*)$/;

/** Types go without saying, and so does that something is off unless it is asked for. */
const UNSAID = /^(?:string|boolean|number|array|count|default: (?:false|\[\]))$/;

/** Lays out the help of one command, in lines of at most `width` characters: what an option takes is said behind its text. */
export function layOutCommandHelp(help: string, width: number, isColoured: boolean): string {
  const sections = help.split("\n\n").map((section) => section.split("\n"));
  return sections.map((lines) => layOutSection(lines, width, isColoured).join("\n")).join("\n\n");
}

/** Texts of one section begin below each other. */
function layOutSection(lines: readonly string[], width: number, isColoured: boolean): string[] {
  const entries = lines.map((line) => ENTRY.exec(line)?.groups);
  const left = Math.max(0, ...entries.map((entry) => entry?.["term"]?.length ?? 0));
  return lines.flatMap((line, at) => {
    if (HEADING.test(line)) return [inTone(line, "strong", isColoured)];
    const { term, text = "" } = entries[at] ?? {};
    if (term === undefined) return wrapWords(line, width).split("\n");
    return layOutTerm(term, describe(text), left, width);
  });
}

function describe(text: string): string {
  const { tags = "" } = TAGS.exec(text)?.groups ?? {};
  const said = text.slice(0, text.length - (TAGS.exec(text)?.[0].length ?? 0));
  const parts = [...tags.matchAll(/\[([^\]]*)\]/g)]
    .map(([, tag = ""]) => tag)
    .filter((tag) => !UNSAID.test(tag) && !(tag.startsWith("default:") && said.includes("default:")))
    .map((tag) => tag.replace(/^choices:/, "one of:").replaceAll('"', ""));
  return [said, ...parts].filter((part) => part !== "").join("; ");
}
