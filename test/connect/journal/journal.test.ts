import assert from "node:assert/strict";
import { chmodSync, chownSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  JOURNAL_VERSION,
  readJournal,
  readJournals,
  writeJournal,
} from "../../../src/connect/journal/journal.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { NOBODY } from "../../helpers/process/other-user.ts";

const identity = { tool: "codex", scope: "user", directory: null } as const;
const journal = { version: JOURNAL_VERSION, identity, since: "2026-01-01T00:00:00.000Z", files: [] } as const;

/** A directory with a journal, and the path of that. */
function written(t: Parameters<typeof scratchDirectory>[0]): { directory: string; path: string } {
  const directory = scratchDirectory(t);
  writeJournal(directory, journal);
  return { directory, path: join(directory, readdirSync(directory)[0] ?? "") };
}

test("a journal that others can write to is not used, as what it says is written to a tool's files", (t) => {
  const { directory, path } = written(t);
  assert.deepEqual(readJournal(directory, identity), journal);
  for (const mode of [0o620, 0o602]) {
    chmodSync(path, mode);
    const refused = { name: "Failure", message: `${path} is not used: other users can change it` };
    assert.throws(() => readJournal(directory, identity), refused);
    assert.throws(() => readJournals(directory), refused);
  }
});

test(
  "a journal of another user is not used",
  { skip: process.getuid?.() !== 0 && "needs root, to give a file to another user" },
  (t) => {
    const { directory, path } = written(t);
    chownSync(path, NOBODY, NOBODY);
    assert.throws(() => readJournal(directory, identity), /is not used: other users can change it/);
  },
);
