import assert from "node:assert/strict";
import { test } from "node:test";
import yargs from "yargs";
import type { Command } from "../../src/cli/command.ts";
import { command as status } from "../../src/cli/commands/status.ts";
import { command as usage } from "../../src/cli/commands/usage.ts";

/** The options that have a value without being given, as yargs parses them. */
async function defaultsOf<Arguments>({ builder }: Command<Arguments>): Promise<object> {
  const parsed = await builder(yargs([])).parseAsync();
  const options = Object.entries(parsed as object).filter(
    ([name, value]) => name !== "_" && name !== "$0" && value !== undefined,
  );
  return Object.fromEntries(options);
}

test("commands that run without yargs get what yargs would parse", async () => {
  assert.deepEqual(usage.alone, await defaultsOf(usage));
  assert.deepEqual(status.alone, await defaultsOf(status));
});
