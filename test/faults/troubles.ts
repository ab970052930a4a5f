import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { mountDisk, remountDisk, scratchDirectory } from "../helpers/ledger/ledger.ts";

/** Of a tmpfs on the usual machines. */
export const PAGE_BYTES = 4096;

/** What can become of a disk, what then is said of it, and how it comes back. */
export interface Trouble {
  what: string;
  reason: RegExp;
  /** Where the ledger is to be; null, and the test skipped, where there is no such disk. */
  place(t: TestContext): string | null;
  begin(directory: string): void;
  end(directory: string): void;
}

export const TROUBLES: Trouble[] = [
  {
    what: "a full disk",
    reason: /ENOSPC|the disk took \d+ of \d+ bytes/,
    place: (t) => placeOn(mountDisk(t, 16 * PAGE_BYTES)),
    // Room for less than a page, so that what is left takes a part of a line.
    begin: (directory) => fill(join(directory, "..", "ballast")),
    end: (directory) => rmSync(join(directory, "..", "ballast")),
  },
  {
    what: "a disk that turned read-only",
    reason: /EROFS/,
    place: (t) => placeOn(mountDisk(t, 16 * PAGE_BYTES)),
    begin: (directory) => remountDisk(join(directory, ".."), "ro"),
    end: (directory) => remountDisk(join(directory, ".."), "rw"),
  },
  {
    what: "a directory with a file put in its place",
    reason: /cannot make the ledger directory/,
    place: (t) => join(scratchDirectory(t), "ledger"),
    begin: (directory) => {
      rmSync(directory, { recursive: true });
      writeFileSync(directory, "");
    },
    end: (directory) => rmSync(directory),
  },
];

/** The ledger's directory on a disk, if there is one. */
export const placeOn = (disk: string | null) => (disk === null ? null : join(disk, "ledger"));

/** Writes until the disk is full. */
export function fill(path: string): void {
  assert.throws(() => {
    for (;;) writeFileSync(path, Buffer.alloc(PAGE_BYTES), { flag: "a" });
  }, /ENOSPC/);
}
