import { findAssignments, isCommentLine } from "../core/text/assignments.ts";
import type { FileSettings, Setting } from "../tools/setting.ts";
import { formatKeyPath, isTable, resolveKeyPath } from "./edit/key-path.ts";
import { editorFor } from "./formats/editor-for.ts";
import type { ResolvedPath } from "./formats/format-editor.ts";
import { splitByteOrderMark } from "./formats/text-edits.ts";

/**
 * For each variable that sets a base URL: those that override it or make the tool send another credential. Claude
 * Code sends an API key in addition to an AUTH_TOKEN (docs/wire.md section 2), and its cloud switches take precedence over
 * every credential (https://code.claude.com/docs/en/authentication, "Authentication precedence"). Copilot prefers the
 * bearer token to the key (`copilot help providers`).
 */
const CONFLICTS: Readonly<Record<string, readonly string[]>> = {
  ANTHROPIC_BASE_URL: [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
  ],
  COPILOT_PROVIDER_BASE_URL: ["COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"],
  OPENAI_BASE_URL: ["OPENAI_API_BASE", "OPENAI_API_KEY"],
};

/** Returns the variables of `env` that would override ours, or send a real key along with them. */
export function findConflictingVariables(
  env: Readonly<Record<string, unknown>>,
  ours: Readonly<Record<string, unknown>>,
): string[] {
  const conflicts = Object.keys(ours).flatMap((name) => CONFLICTS[name] ?? []);
  return conflicts.filter((name) => env[name] !== undefined && ours[name] === undefined);
}

/** A setting in a tool's file that conflicts with ours. Never contains its value. */
interface ConflictingSetting {
  /** Its path: `env.ANTHROPIC_API_KEY`. */
  setting: string;
  /** Line in the file, from 1. */
  line: number;
}

/** Returns the settings in a connected file that override ours, or send a real key along with them. */
export function findConflictingSettings(
  { format, settings }: FileSettings,
  text: string,
  owner: string,
): ConflictingSetting[] {
  if (format === "sh" || format === "fish") return findConflictingLines(settings, text);
  const { body } = splitByteOrderMark(text);
  const editor = editorFor(format, owner);
  const top = editor.read(body);
  return [...findConflictingMembers(settings, top), ...findConflictingProfile(settings, top)].map((path) => {
    const lines = body.slice(0, editor.find(body, path).offset).split("\n");
    return { setting: path.join("."), line: lines.length };
  });
}

/** Our own lines never conflict with each other. */
function findConflictingLines(settings: readonly Setting[], text: string): ConflictingSetting[] {
  const ours = Object.fromEntries(settings.map(({ keyPath, value }) => [formatKeyPath(keyPath), value]));
  return text.split("\n").flatMap((line, index) => {
    if (isCommentLine(line)) return [];
    const assigned = Object.fromEntries(findAssignments(line).map(({ name, value }) => [name, value]));
    return findConflictingVariables(assigned, ours).map((setting) => ({ setting, line: index + 1 }));
  });
}

/** Finds conflicting variables in an object of the file, such as the `env` of Claude Code. */
function findConflictingMembers(settings: readonly Setting[], top: unknown): ResolvedPath[] {
  return settings.flatMap(({ keyPath }) => {
    const name = keyPath.at(-1);
    const { path, value } = resolveKeyPath(top, keyPath.slice(0, -1));
    if (typeof name !== "string" || path.length !== keyPath.length - 1 || !isTable(value)) return [];
    const ours = settings
      .filter((one) => one.keyPath.length === keyPath.length)
      .map((one) => one.keyPath.at(-1));
    const conflicts = findConflictingVariables(value, { [name]: true });
    return conflicts.filter((conflict) => !ours.includes(conflict)).map((conflict) => [...path, conflict]);
  });
}

/** Codex: the active profile overrides the top level of the file (config.md in the documentation of Codex, "profiles"). */
function findConflictingProfile(settings: readonly Setting[], top: unknown): ResolvedPath[] {
  const provider = settings.find(({ keyPath }) => keyPath.length === 1 && keyPath[0] === "model_provider");
  const profile = resolveKeyPath(top, ["profile"]).value;
  if (provider === undefined || typeof profile !== "string") return [];
  const { path, value } = resolveKeyPath(top, ["profiles", profile, "model_provider"]);
  return path.length === 3 && value !== provider.value ? [path] : [];
}
