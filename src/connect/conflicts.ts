import { findAssignments, isCommentLine } from "../core/text/assignments.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "../tools/conflict.ts";
import type { FileSettings } from "../tools/setting.ts";
import type { ConnectableTool, LocalEndpoint, Scope, SettingsPlan, ToolHost } from "../tools/tool.ts";
import type { FileChange } from "./edit/file-change.ts";
import { formatKeyPath } from "./edit/key-path.ts";
import { tryReadText } from "./edit/target-file.ts";
import { editorFor } from "./formats/editor-for.ts";
import { DocumentError, type ResolvedPath } from "./formats/format-editor.ts";
import { splitByteOrderMark } from "./formats/text-edits.ts";

/** A conflict and its position. */
export interface LocatedConflict extends Conflict {
  /** In the source's file, from 1; null in the environment. */
  line: number | null;
  /** The file with which connecting in this scope resolves it; null if it cannot. */
  target: Pick<FileSettings, "path" | "format"> | null;
  /** True when connecting in the scope `project` would resolve it. */
  isResolvedByProject: boolean;
}

/** A source that was read. */
interface ReadLayer extends SettingsLayer {
  /** From 1; null in the environment, and for a variable that the file does not set. */
  lineOf(path: ResolvedPath): number | null;
}

/**
 * Finds the settings that work against a connection.
 * @param plan what connecting writes
 * @param changes files that are about to change: their new text counts
 */
export function findConflicts(
  { conflicts: rules, scopes, plan }: ConnectableTool,
  host: ToolHost,
  endpoint: LocalEndpoint,
  scope: Scope,
  { files }: SettingsPlan,
  changes: readonly Pick<FileChange, "path" | "after">[],
): LocatedConflict[] {
  if (rules === undefined) return [];
  const sources = rules.sources(host);
  const project = scopes.includes("project") ? plan(host, endpoint, "project") : null;
  const layers = readLayers(sources, changes);
  return rules.find(layers, endpoint).map((conflict) => {
    const { source, path } = conflict;
    const lineOf = layers.find((layer) => layer.source === source)?.lineOf;
    const stronger = sources.slice(sources.indexOf(source));
    return {
      ...conflict,
      line: lineOf?.(path) ?? null,
      target: findPlanned(conflict, stronger, files) ?? findOwn(conflict, scope),
      isResolvedByProject: findPlanned(conflict, stronger, project?.files ?? []) !== null,
    };
  });
}

/** Reads the sources that exist and that the tool can read; `changes` as above. */
export function readLayers(
  sources: readonly SettingsSource[],
  changes: readonly Pick<FileChange, "path" | "after">[] = [],
): ReadLayer[] {
  return sources.flatMap((source) => readSource(source, changes) ?? []);
}

/** Returns a plan that also writes the remedies of these conflicts, where they can be written. */
export function withRemedies(plan: SettingsPlan, conflicts: readonly LocatedConflict[]): SettingsPlan {
  const files = conflicts.reduce<readonly FileSettings[]>((planned, { target, remedies }) => {
    return target === null ? planned : addSettings(planned, { ...target, settings: remedies });
  }, plan.files);
  return { ...plan, files };
}

/** Returns the planned files with more settings, in the planned file or in another one. */
export function addSettings(files: readonly FileSettings[], added: FileSettings): readonly FileSettings[] {
  if (added.settings.length === 0) return files;
  const file = files.find(({ path }) => path === added.path);
  if (file === undefined) return [...files, added];
  const known = new Set(file.settings.map(({ keyPath }) => formatKeyPath(keyPath)));
  const settings = added.settings.filter(({ keyPath }) => !known.has(formatKeyPath(keyPath)));
  return files.map((one) => (one === file ? { ...file, settings: [...file.settings, ...settings] } : one));
}

/** Returns the planned file that overrides a conflict's source and resolves the conflict; null when there is none. */
function findPlanned(
  { path, remedies, needsModel }: Conflict,
  stronger: readonly SettingsSource[],
  files: readonly FileSettings[],
): FileSettings | null {
  const file = files.find((one) =>
    stronger.some((source) => source.kind !== "environment" && source.path === one.path),
  );
  if (file === undefined) return null;
  const isWritten = file.settings.some(({ keyPath }) => formatKeyPath(keyPath) === path.join("."));
  return remedies.length > 0 || needsModel || isWritten ? file : null;
}

/** Returns the conflict's own file, where that is the user's and the conflict can be resolved in it. */
function findOwn({ source, remedies, needsModel }: Conflict, scope: Scope): LocatedConflict["target"] {
  const isOwn = source.kind === "user" && scope === "user";
  return isOwn && (remedies.length > 0 || needsModel) ? source : null;
}

/** Returns null for a source that does not exist or cannot be read: the tool cannot read it either. */
function readSource(
  source: SettingsSource,
  changes: readonly Pick<FileChange, "path" | "after">[],
): ReadLayer | null {
  if (source.kind === "environment") return { source, top: source.settings, lineOf: () => null };
  const change = changes.find(({ path }) => path === source.path);
  const text = change === undefined ? tryReadText(source.path) : change.after;
  if (text === null) return null;
  if (source.format === "sh" || source.format === "fish") return { source, ...readVariables(text) };
  const { body } = splitByteOrderMark(text);
  const editor = editorFor(source.format, "");
  try {
    const top = editor.read(body);
    return {
      source,
      top: { ...top },
      lineOf: (path) => body.slice(0, editor.find(body, path).offset).split("\n").length,
    };
  } catch (error) {
    if (error instanceof DocumentError || error instanceof RangeError) return null;
    throw error;
  }
}

/** Reads the variables that a start-up file sets, whatever shell it is for. The last assignment counts. */
function readVariables(text: string): Pick<ReadLayer, "top" | "lineOf"> {
  const assignments = text.split("\n").flatMap((line, index) => {
    if (isCommentLine(line)) return [];
    return findAssignments(line).map(({ name, value }) => ({ name, value, line: index + 1 }));
  });
  return {
    top: Object.fromEntries(assignments.map(({ name, value }) => [name, value])),
    lineOf: ([name]) => assignments.findLast((one) => one.name === name)?.line ?? null,
  };
}
