import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { mountDisk, remountDisk, ledgerScratchDirectory } from "../helpers/ledger/ledger.ts";

/** The page size of a tmpfs on common machines. */
export const PAGE_BYTES = 4096;

/** A fault of the disk under the ledger. */
export interface DiskFault {
  what: string;
  /** What the ledger's last error says. */
  reason: RegExp;
  /** Returns the ledger directory to use; null, with the test skipped, where no such disk can be made. */
  prepare(t: TestContext): string | null;
  begin(directory: string): void;
  end(directory: string): void;
}

export const DISK_FAULTS: DiskFault[] = [
  {
    what: "a full disk",
    reason: /the disk is full|only \d+ of \d+ bytes could be written/,
    prepare: (t) => ledgerDirectoryOn(mountDisk(t, 16 * PAGE_BYTES)),
    // Leaves room for less than a page, so that a part of a line can be written.
    begin: (directory) => fillDisk(join(directory, "..", "ballast")),
    end: (directory) => rmSync(join(directory, "..", "ballast")),
  },
  {
    what: "a disk that turned read-only",
    reason: /the file system is read-only/,
    prepare: (t) => ledgerDirectoryOn(mountDisk(t, 16 * PAGE_BYTES)),
    begin: (directory) => remountDisk(join(directory, ".."), "ro"),
    end: (directory) => remountDisk(join(directory, ".."), "rw"),
  },
  {
    what: "a directory with a file put in its place",
    reason: /cannot create the ledger directory/,
    prepare: (t) => join(ledgerScratchDirectory(t), "ledger"),
    begin: (directory) => {
      rmSync(directory, { recursive: true });
      writeFileSync(directory, "");
    },
    end: (directory) => rmSync(directory),
  },
];

/** The ledger directory on a disk, if there is one. */
export const ledgerDirectoryOn = (disk: string | null) => (disk === null ? null : join(disk, "ledger"));

/** Writes until the disk is full. */
export function fillDisk(path: string): void {
  assert.throws(() => {
    for (;;) writeFileSync(path, Buffer.alloc(PAGE_BYTES), { flag: "a" });
  }, /ENOSPC/);
}
