import { Failure } from "../core/failure.ts";
import { findSetting } from "../tools/recipe/layers.ts";
import { isOwnStatusLine, statusLineSetting } from "../tools/recipe/status-line.ts";
import type { Value } from "../tools/setting.ts";
import type { ConnectableTool, SettingsPlan, ToolHost } from "../tools/tool.ts";
import { addSettings, readLayers } from "./conflicts.ts";

/** Whether a tool is to show our status line. */
export interface StatusLineWish {
  /** undefined: it stays as it is. */
  isWanted: boolean | undefined;
  /** What draws it, without options. */
  command: string;
}

/** A status line of the user's own that ours takes the place of. */
export interface ReplacedStatusLine {
  path: string;
  /** From 1; null when it cannot be told. */
  line: number | null;
  /** E.g. `statusLine`. */
  setting: string;
}

/** A plan with the status line. */
interface StatusLinePlan {
  plan: SettingsPlan;
  /** null when there is none. */
  replaced: ReplacedStatusLine | null;
}

/**
 * Adds our status line to a tool's plan if it is wanted, or already there. Its format and whatever else the user has added to it
 * stay. A status line that stronger settings draw is not replaced, but a conflict (conflicts.ts).
 * @throws Failure when it is wanted for a tool that has none
 */
export function planStatusLine(
  { title, statusLine, conflicts }: ConnectableTool,
  host: ToolHost,
  plan: SettingsPlan,
  { isWanted, command }: StatusLineWish,
): StatusLinePlan {
  const [file] = plan.files;
  if (statusLine === undefined || conflicts === undefined || file === undefined) {
    if (isWanted !== true) return { plan, replaced: null };
    throw new Failure(
      `${title} has no status line that connect can set`,
      "Claude Code has one: tollkeeper connect claude-code --statusline",
    );
  }
  const sources = conflicts.sources(host);
  const at = sources.findIndex((source) => source.kind !== "environment" && source.path === file.path);
  const present = findSetting(readLayers(sources.slice(at, at + 1)), ...statusLine)?.value;
  if (!(isWanted ?? isOwnStatusLine(present))) return { plan, replaced: null };
  const value = isWanted === true ? statusLineSetting(command, present) : (present as Value);
  const purpose = "what this session and today cost, below the prompt";
  const settings = [{ keyPath: statusLine, value, purpose, isStatusLine: true as const }];
  const files = addSettings(plan.files, { ...file, settings });
  const weaker = readLayers(sources.slice(0, at + 1));
  const shown = findSetting(weaker, ...statusLine);
  if (shown === null || shown.source.kind === "environment" || isOwnStatusLine(shown.value))
    return { plan: { ...plan, files }, replaced: null };
  const line = weaker.find(({ source }) => source === shown.source)?.lineOf(shown.path) ?? null;
  const replaced = { path: shown.source.path, line, setting: statusLine.join(".") };
  return { plan: { ...plan, files }, replaced };
}

/**
 * Finds the user's own setting that draws our status line in a tool; null where none does. That of a project is left out, because others
 * may have written it, and what is found is run.
 */
export function findStatusLine(
  { statusLine, conflicts }: ConnectableTool,
  host: ToolHost,
): (ReplacedStatusLine & { command: string }) | null {
  if (statusLine === undefined || conflicts === undefined) return null;
  const layers = readLayers(conflicts.sources(host).filter(({ kind }) => kind === "user"));
  const shown = findSetting(layers, ...statusLine);
  if (shown === null || shown.source.kind === "environment" || !isOwnStatusLine(shown.value)) return null;
  const { source, path, value } = shown;
  const line = layers.find((layer) => layer.source === source)?.lineOf(path) ?? null;
  return { path: source.path, line, setting: statusLine.join("."), command: value.command };
}
