import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { ledgerScratchDirectory } from "../helpers/ledger/ledger.ts";
import { NOBODY } from "../helpers/process/other-user.ts";

/** Something planted in place of the day's file. `victim` is another file of ours. */
export interface PlantedFile {
  what: string;
  plant(file: string, victim: string): void;
  reason: RegExp;
  hint: RegExp;
  needsRoot?: true;
}

export const PLANTED_FILES: PlantedFile[] = [
  {
    what: "a symbolic link to a file",
    plant: (file, victim) => fs.symlinkSync(victim, file),
    reason: /does not write to .*: it is a symbolic link$/,
    hint: /^rm '/,
  },
  {
    what: "a symbolic link to nothing yet",
    plant: (file, victim) => fs.symlinkSync(`${victim}.new`, file),
    reason: /does not write to .*: it is a symbolic link$/,
    hint: /^rm '/,
  },
  {
    what: "a hard link",
    plant: (file, victim) => fs.linkSync(victim, file),
    reason: /is a hard link to a file with another name/,
    hint: /^cp '.*' && mv '/,
  },
  {
    what: "a named pipe",
    plant: (file) => void execFileSync("mkfifo", [file]),
    reason: /is not a regular file/,
    hint: /^mv '/,
  },
  {
    what: "a directory",
    plant: (file) => fs.mkdirSync(file),
    reason: /is not a regular file/,
    hint: /^mv '/,
  },
  {
    what: "a file of another user",
    plant: (file) => {
      fs.writeFileSync(file, "", { mode: 0o666 });
      fs.chownSync(file, NOBODY, NOBODY);
    },
    reason: /belongs to another user \(uid 65534\)/,
    hint: /^look at what its owner wrote, then move it away with: mv /,
    needsRoot: true,
  },
];

/** Creates a file that a planted link may point to, and that must not change. */
export function makeVictim(t: TestContext): { path: string; assertUntouched(): void } {
  const directory = ledgerScratchDirectory(t);
  const path = join(directory, "victim");
  fs.writeFileSync(path, "no newline", { mode: 0o644 });
  return {
    path,
    assertUntouched() {
      assert.deepEqual(fs.readdirSync(directory), ["victim"]);
      assert.equal(fs.readFileSync(path, "utf8"), "no newline");
      assert.equal(fs.statSync(path).mode & 0o777, 0o644);
    },
  };
}
