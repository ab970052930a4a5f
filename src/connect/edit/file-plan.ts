import { Failure } from "../../core/failure.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { applySettings, type Undo } from "./apply.ts";
import type { FileChange, Left, PresentKey } from "../connection.ts";
import { TextFault } from "../formats/language.ts";
import type { FileRecord } from "../journal/journal.ts";
import { findKeysAt, secretsOf } from "./keys-at.ts";
import { writeSteps } from "./setting-path.ts";
import type { FileSettings, Format, Setting } from "../../tools/setting.ts";
import { readTarget, type TargetFile } from "./target-file.ts";
import { undoSettings, type Undone } from "./undo.ts";
import { refuseUnwritable } from "./write-target.ts";

/** What is to happen to one file, and what has to be known to do it and to undo it. */
export interface FilePlan {
  target: TargetFile;
  change: FileChange;
  /** As it is without any connection, where that is known. */
  original: string | null;
  /** null: nothing of ours will be in it. */
  undo: Undo | null;
  /** What was written down of it before. */
  record: FileRecord | null;
  keys: readonly PresentKey[];
  left: readonly Left[];
}

/** Takes out what an earlier connection wrote, in memory, and puts in what this one wants. */
export function planConnect(file: FileSettings, record: FileRecord | null, tool: string): FilePlan {
  const { path, settings } = file;
  const target = readTarget(path);
  const before = target.found?.text ?? null;
  return placed(path, before, () => {
    const original = before === null || record === null ? before : undoBest(before, record).text;
    const keys = findKeysAt(original ?? "", file, tool);
    const { text, undo } = applySettings(original, file, tool);
    const after = undo.written.length === 0 ? original : text;
    if (after !== before) refuseUnwritable(target);
    const fate = before === after ? "same" : before === null ? "created" : "changed";
    const whys = fate === "same" ? [] : whysOf(settings, undo);
    const present = keys.map(({ at, key }) => ({ path, setting: writeSteps(at), key }));
    const secrets = secretsOfBoth(before, after, file.format, tool);
    return {
      target,
      change: { path, before, after, fate, secrets, whys },
      original,
      undo,
      record,
      keys: present,
      left: [],
    };
  });
}

/** Takes out what was written. */
export function planDisconnect(record: FileRecord): FilePlan {
  const { path } = record;
  const target = readTarget(path);
  const before = target.found?.text ?? null;
  const plan = { target, undo: null, record, keys: [] };
  if (before === null) {
    const change: FileChange = { path, before, after: null, fate: "gone", secrets: [], whys: [] };
    return { ...plan, change, original: null, left: [] };
  }
  return placed(path, before, () => {
    const undone = undoBest(before, record);
    const { text: after } = undone;
    if (after !== before) refuseUnwritable(target);
    const left = undone.left.map(({ at, reason }) => ({ path, setting: writeSteps(at), reason }));
    const secrets = secretsOfBoth(before, after, record.undo.format, record.undo.owner);
    return {
      ...plan,
      change: { path, before, after, fate: fateOf(before, undone), secrets, whys: [] },
      original: after,
      left,
    };
  });
}

/** By the connection or, where its change was never made, by the one before it: the way that leaves less. */
function undoBest(text: string, { undo, earlier }: FileRecord): Undone {
  const ways = [undo, earlier].flatMap((one) => (one === null ? [] : [undoSettings(text, one)]));
  const [best = undoSettings(text, undo)] = ways.sort(
    (one, other) => Number(other.isExact) - Number(one.isExact) || one.left.length - other.left.length,
  );
  return best;
}

function secretsOfBoth(
  before: string | null,
  after: string | null,
  format: Format,
  owner: string,
): readonly Secret[] {
  return [before, after].flatMap((text) => secretsOf(text, format, owner));
}

function fateOf(before: string, { text, isExact }: Undone): FileChange["fate"] {
  if (text === null) return "removed";
  if (text === before) return "same";
  return isExact ? "restored" : "cleared";
}

function whysOf(settings: readonly Setting[], { written }: Undo): FileChange["whys"] {
  const changed = settings.filter(({ at }) => written.some((one) => one.at === at));
  return changed.map(({ at, why }) => ({ setting: writeSteps(at), why }));
}

/** Says of a fault in which file it is, and in which line. */
function placed<Result>(path: string, text: string | null, work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    // Parsers go down with what they read, and the stack ends somewhere.
    const error = thrown instanceof RangeError ? new TextFault("nests too deeply to be read", null) : thrown;
    if (!(error instanceof TextFault)) throw error;
    const before = error.offset === null ? null : (text ?? "").slice(0, error.offset).split("\n");
    const place = before === null ? path : `${path}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    const hint = `correct it in an editor, then run the same command again; nothing was changed`;
    throw new Failure(`${place}: ${error.message}`, hint, { cause: error });
  }
}
