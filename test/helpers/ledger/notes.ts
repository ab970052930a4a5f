import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { NOTES_DIRECTORY } from "../../../src/core/ledger/note-file.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { readRecord } from "./read-record.ts";

/** No process has this pid: Linux allows at most 4194304. */
export const DEAD_OWNER = "99999999-0-0";

/** Returns the names of the files in the directory of notes. */
export function noteNames(directory: string): string[] {
  try {
    return readdirSync(join(directory, NOTES_DIRECTORY)).sort();
  } catch {
    return [];
  }
}

/** Returns the ledger's notes, by the ids of their records; of several of one record the last one. */
export function notesIn(directory: string): Map<string, UsageRecord> {
  const whole = noteNames(directory).filter((name) => name.endsWith(".json"));
  const lines = whole.flatMap((name) =>
    readFileSync(join(directory, NOTES_DIRECTORY, name), "utf8")
      .split("\n")
      .filter((line) => line !== ""),
  );
  const records = lines.map(readRecord).toSorted((one, other) => one.duration_ms - other.duration_ms);
  const last = new Map(records.map((record) => [record.id, record]));
  return new Map([...last].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Makes all notes those of a daemon that is dead, as if it had crashed. */
export function orphanNotes(directory: string, owner = DEAD_OWNER): void {
  for (const name of noteNames(directory)) {
    const [file, , ...ending] = name.split(".");
    renameSync(
      join(directory, NOTES_DIRECTORY, name),
      join(directory, NOTES_DIRECTORY, [file, owner, ...ending].join(".")),
    );
  }
}
