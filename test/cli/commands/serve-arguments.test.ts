import assert from "node:assert/strict";
import { test } from "node:test";
import yargs from "yargs";
import { readServeLine, type ServeArguments } from "../../../src/cli/commands/serve/arguments.ts";
import { command } from "../../../src/cli/commands/serve.ts";

/** Parses the command line by yargs with the options of `serve`. */
async function parseByYargs(words: string[]): Promise<ServeArguments | null> {
  let read: ServeArguments | null = null;
  await yargs(words)
    .command({
      command: "serve",
      builder: (line) => command.builder(line),
      handler: ({ config, debug }) => {
        read = config === undefined ? { debug } : { debug, config };
      },
    })
    .parseAsync();
  return read;
}

const LINES = [
  ["serve"],
  ["serve", "--debug"],
  ["serve", "--config", "/etc/tollkeeper.jsonc"],
  ["serve", "--config", "~/a b.jsonc", "--debug"],
  ["serve", "--debug", "--config", "8655"],
  ["serve", "--config", "x=y --debug"],
];

for (const line of LINES) {
  test(`readServeLine parses "${line.join(" ")}" with the same result as yargs`, async () => {
    assert.deepEqual(readServeLine(line), await parseByYargs(line));
  });
}

const FOR_YARGS = [
  [],
  ["usage"],
  ["--debug", "serve"],
  ["serve", "--help"],
  ["serve", "extra"],
  ["serve", "--bogus"],
  ["serve", "--debug=false"],
  ["serve", "--debug", "--debug"],
  ["serve", "--config"],
  ["serve", "--config", ""],
  ["serve", "--config", "--debug"],
  ["serve", "--config", "'quoted'"],
  ["serve", "--config=file"],
  ["serve", "--config", "a", "--config", "b"],
  ["serve", "--", "--debug"],
];

for (const line of FOR_YARGS) {
  test(`readServeLine leaves "${line.join(" ")}" to yargs`, () => {
    assert.equal(readServeLine(line), null);
  });
}
