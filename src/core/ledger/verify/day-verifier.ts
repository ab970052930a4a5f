import { explainUnreadable, parseRecord } from "../parse-record.ts";
import type { UsageRecord } from "../record.ts";
import { findContradiction } from "./contradictions.ts";

/** A line of one of a day's files, from 1. `text` is null if it has no end (`torn`) or is longer than any record (`too_long`). */
export type DayLine = { file: string; line: number } & (
  | { text: string }
  | { text: null; fault: "torn" | "too_long" }
);

/**
 * What is wrong with a line.
 * - `torn`: a crash or a full disk cut it off; it is in no sum, and no problem
 * - `unreadable`: it is not a record, and is in no sum
 * - `impossible`: a record that contradicts itself or its place; counted as it stands
 * - `duplicate`: a record with the id of an earlier one of the same day; not counted again
 * - `rollup`: the sums of a closed day are not those of its records, or cannot be read
 * - `kept_rollup`: the sums of a day whose records are deleted cannot be read
 */
export type FindingKind = "torn" | "unreadable" | "impossible" | "duplicate" | "rollup" | "kept_rollup";

/** Something that is wrong with a file of the ledger. `line` is null if it is with the file as a whole. */
export interface Finding {
  file: string;
  line: number | null;
  kind: FindingKind;
  /** In a few words. */
  what: string;
}

/** Verifies the lines of one day's file, in their order. */
export class DayVerifier {
  lines = 0;
  /** Records of a later format, which reports call unreadable: this release cannot. */
  laterFormat = 0;
  readonly #day: string;
  readonly #report: (finding: Finding) => void;
  /** The line of each id. */
  readonly #lines = new Map<string, Pick<DayLine, "file" | "line">>();

  /** `report` is called with everything that is wrong, at once: a file may have more of it than fits into memory. */
  constructor(day: string, report: (finding: Finding) => void) {
    this.#day = day;
    this.#report = report;
  }

  /** Verifies the next line. Returns its record; null if it has none that could count. */
  add(line: DayLine): UsageRecord | null {
    this.lines += 1;
    if (line.text === null) {
      if (line.fault === "torn") this.#find(line, "torn", "it has no end");
      else this.#find(line, "unreadable", "longer than any record");
      return null;
    }
    if (line.text === "") return null;
    const record = parseRecord(line.text);
    if (record === "torn") this.#find(line, record, "it has no end");
    if (record === "unknown_version") this.laterFormat += 1;
    if (record === "unreadable") this.#find(line, record, explainUnreadable(line.text) ?? "not a record");
    if (typeof record === "string") return null;
    this.#verify(record, line);
    return record;
  }

  #verify(record: UsageRecord, line: DayLine): void {
    const first = this.#lines.get(record.id);
    if (first === undefined) this.#lines.set(record.id, { file: line.file, line: line.line });
    else {
      const where = first.file === line.file ? "" : ` of ${first.file}`;
      this.#find(line, "duplicate", `it has the id of line ${first.line}${where}`);
    }
    const contradiction = findContradiction(record, this.#day);
    if (contradiction !== null && first === undefined) this.#find(line, "impossible", contradiction);
  }

  #find({ file, line }: DayLine, kind: FindingKind, what: string): void {
    this.#report({ file, line, kind, what });
  }
}
