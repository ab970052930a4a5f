import type { Prepared } from "../../connect/connection.ts";
import type { Plan } from "../../tools/recipe.ts";
import { findConflictingSettings } from "../../connect/conflicting-variables.ts";
import { findKeys } from "../dotfiles/find-keys.ts";
import { shorten, writePlace } from "../hints.ts";
import { here } from "../../adapters/paths.ts";

/**
 * What the files of a plan will still say beside what connecting writes, and should not: what leads the tool elsewhere,
 * and what looks like a real key. By place and name, never by value.
 */
export function warningsOf({ files }: Plan, { identity, changes }: Prepared): string[] {
  const { home } = here();
  return files.flatMap((file) => {
    const after = changes.find(({ path }) => path === file.path)?.after ?? null;
    if (after === null) return [];
    const place = ({ line }: { line: number }) => `${shorten(file.path, home)}:${line}`;
    const keys = findKeys(after, []);
    const rivals = findConflictingSettings(file, after, identity.tool);
    return [
      ...rivals
        .filter(({ line }) => keys.every((key) => key.line !== line))
        .map((rival) => `${writePlace(place(rival), rival.setting)} ${WHY_NOT}: take it out`),
      ...keys.map((key) => {
        const where = writePlace(place(key), key.name);
        return `what looks like an API key stands in ${where}: store it with: tollkeeper key set; then take it out`;
      }),
    ];
  });
}

const WHY_NOT = "leads elsewhere, or takes another key along";
