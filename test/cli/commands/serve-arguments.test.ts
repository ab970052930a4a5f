import assert from "node:assert/strict";
import { test } from "node:test";
import yargs from "yargs";
import { readServeLine, type ServeArguments } from "../../../src/cli/commands/serve/arguments.ts";
import { command } from "../../../src/daemon/start.ts";

/** What yargs reads from the line, with the options that `serve` has there. */
async function readByYargs(words: string[]): Promise<ServeArguments | null> {
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
  test(`"${line.join(" ")}" is read as yargs reads it`, async () => {
    assert.deepEqual(readServeLine(line), await readByYargs(line));
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
  test(`"${line.join(" ")}" is left to yargs`, () => {
    assert.equal(readServeLine(line), null);
  });
}
