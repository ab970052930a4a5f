import { Failure } from "../../core/failure.ts";
import type { FileSettings, Setting } from "../../tools/setting.ts";
import { applySettings } from "../edit/apply-settings.ts";
import type { FileChange, FileOutcome, OverwrittenKey, UnrestoredSetting } from "../edit/file-change.ts";
import { findOverwrittenKeys, findSecrets } from "../edit/find-secrets.ts";
import { formatKeyPath } from "../edit/key-path.ts";
import { readTarget, requireWritable, type TargetFile } from "../edit/target-file.ts";
import type { UndoRecord } from "../edit/undo-record.ts";
import { undoSettings, type UndoResult } from "../edit/undo-settings.ts";
import { DocumentError } from "../formats/format-editor.ts";
import type { FileRecord } from "./journal.ts";

/** The change of one file, and what is needed to make it and to undo it. */
export interface FilePlan {
  target: TargetFile;
  change: FileChange;
  /** The file without any connection. */
  original: string | null;
  /** null when the file will hold none of our settings. */
  undo: UndoRecord | null;
  /** What the current connection's journal says about the file; null when it is new to the connection. */
  record: FileRecord | null;
  keys: readonly OverwrittenKey[];
  unrestored: readonly UnrestoredSetting[];
}

/**
 * Plans the settings of one file, in place of those that an earlier connection wrote.
 * @throws Failure when the file cannot be read or changed
 */
export function planConnect(file: FileSettings, record: FileRecord | null, tool: string): FilePlan {
  const { path, settings } = file;
  const target = readTarget(path);
  const before = target.existing?.text ?? null;
  return withPosition(path, before, () => {
    if (before !== null && record !== null && isInPlace(before, file, record, tool))
      return keepAsItIs(target, before, record);
    const original = before === null || record === null ? before : undoRecorded(before, record).text;
    const keys = findOverwrittenKeys(original ?? "", file, tool);
    const { text, undo } = applySettings(original, file, tool);
    const after = undo.written.length === 0 ? original : text;
    if (after !== before) requireWritable(target);
    const outcome = before === after ? "unchanged" : before === null ? "created" : "changed";
    const purposes = outcome === "unchanged" ? [] : purposesOf(settings, undo);
    const secrets = findSecrets([before, after], file.format, tool);
    return {
      target,
      change: { path, before, after, outcome, secrets, purposes },
      original,
      undo,
      record,
      keys: keys.map(({ keyPath, ...key }) => ({ path, setting: formatKeyPath(keyPath), ...key })),
      unrestored: [],
    };
  });
}

/** True when nothing is to be written, and nothing that was written is to be removed. Writing once more could change the order of a list. */
function isInPlace(text: string, file: FileSettings, { undo }: FileRecord, tool: string): boolean {
  const wanted = file.settings.map(({ keyPath }) => formatKeyPath(keyPath));
  return (
    undo.written.every(({ at }) => wanted.includes(formatKeyPath(at))) &&
    applySettings(text, file, tool).undo.written.length === 0
  );
}

function keepAsItIs(target: TargetFile, text: string, record: FileRecord): FilePlan {
  const { path, undo } = record;
  const secrets = findSecrets([text], undo.format, undo.owner);
  const change: FileChange = { path, before: text, after: text, outcome: "unchanged", secrets, purposes: [] };
  const original = undoRecorded(text, record).text;
  return { target, change, original, undo, record, keys: [], unrestored: [] };
}

/** Plans the removal of our settings from one file. @throws Failure when the file cannot be read or changed */
export function planDisconnect(record: FileRecord): FilePlan {
  const { path } = record;
  const target = readTarget(path);
  const before = target.existing?.text ?? null;
  const plan = { target, undo: null, record, keys: [] };
  if (before === null) {
    const change: FileChange = { path, before, after: null, outcome: "missing", secrets: [], purposes: [] };
    return { ...plan, change, original: null, unrestored: [] };
  }
  return withPosition(path, before, () => {
    const result = undoRecorded(before, record);
    const { text: after } = result;
    if (after !== before) requireWritable(target);
    const unrestored = result.unrestored.map(({ keyPath, reason }) => {
      return { path, setting: formatKeyPath(keyPath), reason };
    });
    const secrets = findSecrets([before, after], record.undo.format, record.undo.owner);
    return {
      ...plan,
      change: { path, before, after, outcome: disconnectOutcome(before, result), secrets, purposes: [] },
      original: after,
      unrestored,
    };
  });
}

/**
 * Plans the removal of settings that no journal knows: those that have the values which connecting gives them. What they were before is
 * not known, and a file that holds nothing else stays, as an empty document.
 * @throws Failure when the file cannot be read or changed
 */
export function planRemoval(file: FileSettings, tool: string): FilePlan {
  const { undo } = applySettings(null, file, tool);
  return planDisconnect({
    path: file.path,
    undo: { ...undo, before: "" },
    earlier: null,
    made: [],
    backup: null,
  });
}

/** Undoes the connection or, if that restores more because its change was never made, the one before it. */
function undoRecorded(text: string, { undo, earlier }: FileRecord): UndoResult {
  const result = undoSettings(text, undo);
  if (earlier === null) return result;
  const other = undoSettings(text, earlier);
  const isBetter =
    other.isExact === result.isExact ? other.unrestored.length < result.unrestored.length : other.isExact;
  return isBetter ? other : result;
}

function disconnectOutcome(before: string, { text, isExact }: UndoResult): FileOutcome {
  if (text === null) return "removed";
  if (text === before) return "unchanged";
  return isExact ? "restored" : "cleared";
}

function purposesOf(settings: readonly Setting[], { written }: UndoRecord): FileChange["purposes"] {
  const changed = settings.filter(({ keyPath }) => written.some(({ at }) => at === keyPath));
  return changed.map(({ keyPath, purpose }) => ({ setting: formatKeyPath(keyPath), purpose }));
}

/** Turns a DocumentError into a Failure that names the file, the line and the column. */
function withPosition<Result>(path: string, text: string | null, work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    // A parser that recurses overflows the stack on deep nesting.
    const error =
      thrown instanceof RangeError ? new DocumentError("is nested too deeply to be read", null) : thrown;
    if (!(error instanceof DocumentError)) throw error;
    const lines = error.offset === null ? null : (text ?? "").slice(0, error.offset).split("\n");
    const position = lines === null ? path : `${path}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
    const hint = `nothing was changed; correct the file in an editor, then run the same command again`;
    throw new Failure(`${position}: ${error.message}`, hint, { cause: error });
  }
}
