import { Failure } from "../../core/failure.ts";
import type { Undo } from "../edit/apply.ts";
import { splitMark } from "../edit/byte-order-mark.ts";
import type { Identity } from "../connection.ts";
import { TextFault } from "../formats/language.ts";
import { languageOf } from "../formats/languages.ts";
import { readJournal, type FileRecord } from "./journal.ts";
import { followSteps, isSame } from "../edit/setting-path.ts";
import { readTarget } from "../edit/target-file.ts";

/** `connected`: all settings are as written. `changed`: some are not. `gone`: none is there any more. */
export type ConnectionState = "connected" | "changed" | "gone";

/** How much of a connection still stands in the tools' files; null where there is no such connection. */
export function connectionState(journalDirectory: string, identity: Identity): ConnectionState | null {
  const journal = readJournal(journalDirectory, identity);
  if (journal === null) return null;
  const standing = journal.files.flatMap(standingIn);
  if (standing.every((is) => is === "as-written")) return "connected";
  return standing.every((is) => is === "missing") ? "gone" : "changed";
}

type Standing = "as-written" | "other" | "missing";

/** Of each setting in a file; one that cannot be understood has none that the tool could, either. */
function standingIn({ path, undo, earlier }: FileRecord): Standing[] {
  const text = textOf(path);
  if (text === null) return undo.written.map(() => "missing");
  const ways = [undo, earlier].flatMap((one) => (one === null ? [] : [standingBy(text, one)]));
  return ways.find((way) => way.every((is) => is === "as-written")) ?? ways[0] ?? [];
}

function standingBy(text: string, { format, owner, written }: Undo): Standing[] {
  try {
    const top = languageOf(format, owner).read(splitMark(text).body);
    return written.map(({ at, value, isAnyFine = false }) => {
      const place = followSteps(top, at);
      if (place.path.length < at.length) return "missing";
      return isAnyFine || isSame(place.value, value) ? "as-written" : "other";
    });
  } catch (error) {
    if (error instanceof TextFault) return written.map(() => "other");
    throw error;
  }
}

/** null where there is none, or none that can be read. */
function textOf(path: string): string | null {
  try {
    return readTarget(path).found?.text ?? null;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}
