import assert from "node:assert/strict";
import { test } from "node:test";
import { layOutProse } from "../../../src/cli/terminal/prose.ts";

const WORDS = "word ".repeat(60).trim();

test("prose is broken between words at the width of the terminal, at 100 characters at most, and not at all in a pipe", () => {
  const longest = (width: number) =>
    Math.max(
      ...layOutProse([WORDS], width)
        .split("\n")
        .map(({ length }) => length),
    );
  assert.deepEqual([longest(60), longest(140), longest(Infinity)], [59, 99, WORDS.length]);
});

test("a command on its own line stays whole, under the name that it is called by", () => {
  const command = "  tollkeeper connect a-tool --model a-model-with-a-very-long-name-indeed --yes";
  const laidOut = layOutProse([`${WORDS}:\n${command}`], 40).split("\n");
  assert.match(
    laidOut.at(-1) ?? "",
    /^ {2}\S.* connect a-tool --model a-model-with-a-very-long-name-indeed --yes$/,
  );
});

test("code in braces is not broken", () => {
  const code = 'stream_options={"include_usage": True}';
  for (const width of [40, 41, 50, 60])
    assert.ok(layOutProse([`Please pass ${code}, or nothing.`], width).includes(code));
});

test("control characters are escaped", () => {
  assert.equal(layOutProse(["a\u001b[31mb"], 60), "a\\u001b[31mb");
});
