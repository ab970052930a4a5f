import { findAssignments, isComment } from "../core/text/assignments.ts";
import { splitMark } from "./edit/byte-order-mark.ts";
import type { Path } from "./formats/language.ts";
import { languageOf } from "./formats/languages.ts";
import { followSteps, isObject } from "./edit/setting-path.ts";
import type { FileSettings, Setting } from "../tools/setting.ts";

/**
 * By a variable that leads somewhere: those that would win over it, or that would send another credential along. Claude
 * Code sends a key beside an AUTH_TOKEN, too (facts/clients.md section 3), and its switches for clouds come before every
 * credential (https://code.claude.com/docs/en/authentication, "Authentication precedence"). Copilot prefers the bearer
 * token to the key (`copilot help providers`).
 */
const RIVALS: Readonly<Record<string, readonly string[]>> = {
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

/** The variables of `env` that must not stand beside ours: they would lead elsewhere, or take a real key along. */
export function findConflictingVariables(
  env: Readonly<Record<string, unknown>>,
  ours: Readonly<Record<string, unknown>>,
): string[] {
  const rivals = Object.keys(ours).flatMap((name) => RIVALS[name] ?? []);
  return rivals.filter((name) => env[name] !== undefined && ours[name] === undefined);
}

/** Something that stands beside our settings in a tool's file, and is not to. Never its value. */
export interface ConflictingSetting {
  /** In words: `env.ANTHROPIC_API_KEY`. */
  setting: string;
  /** From 1. */
  line: number;
}

/** What wins over our settings in a file that has them, or takes a real key along. */
export function findConflictingSettings({ format, settings }: FileSettings, text: string, owner: string): ConflictingSetting[] {
  if (format === "sh" || format === "fish") return rivalLines(settings, text);
  const { body } = splitMark(text);
  const language = languageOf(format, owner);
  const top = language.read(body);
  return [...rivalMembers(settings, top), ...rivalProfile(settings, top)].map((path) => {
    const lines = body.slice(0, language.find(body, path).offset).split("\n");
    return { setting: path.join("."), line: lines.length };
  });
}

/** Our own lines set nothing that is a rival of theirs. */
function rivalLines(settings: readonly Setting[], text: string): ConflictingSetting[] {
  const ours = Object.fromEntries(
    settings.flatMap(({ at: [name], value }) => (typeof name === "string" ? [[name, value]] : [])),
  );
  return text.split("\n").flatMap((line, index) => {
    const set = isComment(line) ? [] : findAssignments(line).map(({ name, value }) => [name, value] as const);
    return findConflictingVariables(Object.fromEntries(set), ours).map((setting) => ({ setting, line: index + 1 }));
  });
}

/** Variables in an object of the file, as Claude Code has them. */
function rivalMembers(settings: readonly Setting[], top: unknown): Path[] {
  return settings.flatMap(({ at }) => {
    const name = at.at(-1);
    const { path, value } = followSteps(top, at.slice(0, -1));
    if (typeof name !== "string" || path.length !== at.length - 1 || !isObject(value)) return [];
    const ours = settings.filter((one) => one.at.length === at.length).map((one) => one.at.at(-1));
    const rivals = findConflictingVariables(value, { [name]: true }).filter((rival) => !ours.includes(rival));
    return rivals.map((rival) => [...path, rival]);
  });
}

/** Codex: what the profile in use says comes before what the file's top says (its docs/config.md, "profiles"). */
function rivalProfile(settings: readonly Setting[], top: unknown): Path[] {
  const provider = settings.find(({ at }) => at.length === 1 && at[0] === "model_provider");
  const profile = followSteps(top, ["profile"]).value;
  if (provider === undefined || typeof profile !== "string") return [];
  const { path, value } = followSteps(top, ["profiles", profile, "model_provider"]);
  return path.length === 3 && value !== provider.value ? [path] : [];
}
