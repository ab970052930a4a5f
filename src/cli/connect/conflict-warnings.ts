import { currentHost } from "../../adapters/paths.ts";
import { findConflictingSettings } from "../../connect/conflicting-variables.ts";
import type { PreparedChange } from "../../connect/connection.ts";
import type { SettingsPlan } from "../../tools/tool.ts";
import { findKeys } from "../dotfiles/find-keys.ts";
import { displayLocation, displayPath } from "../terminal/display-path.ts";

/**
 * Returns a warning for everything in the changed files that overrides our settings or looks like a real key. Names the
 * location and the setting, never the value.
 */
export function findConflictWarnings({ files }: SettingsPlan, { id, changes }: PreparedChange): string[] {
  const { home } = currentHost();
  return files.flatMap((file) => {
    const after = changes.find(({ path }) => path === file.path)?.after ?? null;
    if (after === null) return [];
    const locate = ({ line }: { line: number }) => `${displayPath(file.path, home)}:${line}`;
    const keys = findKeys(after, []);
    const conflicts = findConflictingSettings(file, after, id.tool);
    return [
      ...conflicts
        .filter(({ line }) => keys.every((key) => key.line !== line))
        .map((conflict) => {
          const where = displayLocation(locate(conflict), conflict.setting);
          return `${where} leads elsewhere, or takes another key along: take it out`;
        }),
      ...keys.map((key) => {
        const where = displayLocation(locate(key), key.name);
        return `what looks like an API key stands in ${where}: store it with: tollkeeper key set; then take it out`;
      }),
    ];
  });
}
