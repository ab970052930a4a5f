import { repeatable } from "../../core/config/problem.ts";
import { judgeValue } from "../../core/secrets/key-shape.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { countOf } from "../terminal/count-of.ts";
import type { Evidence } from "./evidence.ts";
import { findKeys, type FoundKey } from "../dotfiles/find-keys.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "./finding.ts";
import type { ReadPlace } from "../dotfiles/read.ts";
import { commandFor, shorten, writePlace } from "../hints.ts";

/** Does a key still stand where keys stood before tollkeeper? Told by its place, never by its value. */
export const leftoverKeysCheck: Check = {
  id: "leftover-keys",
  title: "leftover keys",
  async look(evidence) {
    const keys = await evidence.keys();
    const own = keys.flatMap(({ secret }) => (secret === null ? [] : [secret]));
    const sources = new Set(keys.flatMap(({ ref }) => (ref.source.kind === "file" ? [ref.source.path] : [])));
    // A key's source is where it belongs.
    const places = (await evidence.places()).filter(({ path }) => !sources.has(path));
    const findings = [
      ...keysInEnvironment(evidence, own),
      ...places.flatMap((place) => keysInFile(place, own, evidence)),
    ];
    const looked = `the environment and ${countOf(places.length, "file")} of shells and tools`;
    const unread = places.flatMap(({ path, trouble }) => {
      return trouble === null ? [] : [skipped(`${shorten(path, evidence.home)}: ${trouble}`)];
    });
    return [...(findings.length > 0 ? findings : [ok(`none in ${looked}`)]), ...unread];
  },
};

function keysInEnvironment(evidence: Evidence, own: readonly Secret[]): Finding[] {
  return Object.entries(evidence.env).flatMap(([name, value = ""]) => {
    const verdict = judgeValue(name, value, own);
    if (verdict === null) return [];
    const mend = `unset ${repeatable(name)}, and take it out of where it is set`;
    return [tell(writePlace("the environment", name), verdict.isOwn, mend, evidence)];
  });
}

function keysInFile(place: ReadPlace, own: readonly Secret[], evidence: Evidence): Finding[] {
  const path = shorten(place.path, evidence.home);
  return findKeys(place.text, own).map(({ line, name, isOwn }) => {
    return tell(writePlace(`${path}:${line}`, name), isOwn, mendFor(place, path, line), evidence);
  });
}

/** A tool may insist on something in the key's place; a line of a shell's can go. */
function mendFor({ kind }: ReadPlace, path: string, line: FoundKey["line"]): string {
  if (kind === "shell") return `take line ${line} out of ${path}`;
  return `write "placeholder" in its place in line ${line} of ${path}`;
}

/** A key of ours is certain, and in nobody's hands but ours by promise; another's may even be wanted there. */
function tell(where: string, isOwn: boolean, mend: string, evidence: Evidence): Finding {
  if (isOwn) return failure(`a key that tollkeeper keeps stands in ${where}`, mend);
  const store = commandFor(evidence, "key set");
  return warning(`what looks like an API key stands in ${where}`, `store it with: ${store}; then ${mend}`);
}
