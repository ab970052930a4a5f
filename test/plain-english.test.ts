// How the documents are written: no sentence is too long to be read once.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const LONGEST = 25;

const PAGES = ["README.md", "CHANGELOG.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md"].concat(
  readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
);

/** Splits a page into paragraphs, items of lists and cells of tables, without headings and blocks of code. */
function blocksOf(markdown: string): string[] {
  const blocks: string[] = [];
  let open: string[] = [];
  const close = () => {
    if (open.length > 0) blocks.push(open.join(" "));
    open = [];
  };
  for (const line of markdown.replaceAll(/^( *)```[^]*?^\1```$/gm, "").split("\n")) {
    const isHeading = line.startsWith("#");
    const isRow = /^\s*\|/.test(line);
    const isItem = /^\s*(?:[-*]|\d+\.)\s/.test(line);
    if (isHeading || isRow || isItem || line.trim() === "") close();
    if (isRow) blocks.push(...line.split(/(?<!\\)\|/));
    else if (!isHeading && line.trim() !== "") open.push(line.replace(/^\s*(?:[-*]|\d+\.)\s/, ""));
  }
  close();
  return blocks;
}

/** Returns the sentences of a page. A piece of inline code is one word; the target of a link is none. */
function sentencesOf(markdown: string): string[] {
  return blocksOf(markdown).flatMap((block) =>
    block
      .replaceAll(/`[^`]*`/g, "code")
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replaceAll("*", "")
      .split(/(?<=[.!?][)"]*)(?<!\b(?:e\.g|i\.e|Inc)\.)\s+/),
  );
}

const countWords = (sentence: string) =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)).length;

const longOf = (markdown: string) =>
  sentencesOf(markdown).filter((sentence) => countWords(sentence) > LONGEST);

test("long sentences are found in paragraphs, lists and tables, but not in code", () => {
  const long = `${"word ".repeat(LONGEST)}end.`;
  const short = `${"word ".repeat(LONGEST - 1)}end.`;
  const page = [
    long,
    `- ${long}`,
    `  1. ${long}`,
    `| x | ${long} |`,
    "```sh",
    long,
    "```",
    `# ${long}`,
    short,
  ];
  assert.equal(longOf(page.join("\n\n")).length, 4);
  assert.deepEqual(longOf(`${short} ${short}\n${short}`), []);
  assert.deepEqual(longOf(short.replace("end", "`two words`")), []);
  assert.deepEqual(longOf(short.replace("end", "[end](a.md#b)")), []);
  assert.equal(longOf(`${"word\n".repeat(LONGEST)}\`tollkeeper usage\``).length, 1);
});

for (const page of PAGES) {
  test(`${page} has no sentence above ${LONGEST} words`, () => {
    const long = longOf(readFileSync(join(ROOT, page), "utf8"));
    const listed = long.map((sentence) => `  ${countWords(sentence)} words: ${sentence}`).join("\n");
    assert.equal(long.length, 0, `${page} has ${long.length}; cut them in two:\n${listed}`);
  });
}
