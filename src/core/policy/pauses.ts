import { isObject, parseJson } from "../json.ts";

/** What is paused: a tool, a group of tools, or everything. */
export type PauseScope = { kind: "tool" | "group"; name: string } | { kind: "all" };

/** A pause, which lasts until a person ends it. `since` is ISO 8601, UTC. */
export type Pause = PauseScope & { since: string };

const VERSION = 1;

/** Returns the pauses with another one in place of an earlier one of the same. */
export function addPause(pauses: readonly Pause[], pause: Pause): Pause[] {
  return [...endPause(pauses, pause), pause];
}

/** Returns the pauses without one. */
export function endPause(pauses: readonly Pause[], scope: PauseScope): Pause[] {
  return pauses.filter((pause) => !isSame(pause, scope));
}

/** Returns the pause that keeps a tool from sending requests; null without one. */
export function findPause(pauses: readonly Pause[], tool: string, group: string | null): Pause | null {
  const own = pauses.find((pause) => isSame(pause, { kind: "tool", name: tool }));
  const ofGroup =
    group === null ? undefined : pauses.find((pause) => isSame(pause, { kind: "group", name: group }));
  return own ?? ofGroup ?? pauses.find(({ kind }) => kind === "all") ?? null;
}

function isSame(one: PauseScope, other: PauseScope): boolean {
  if (one.kind === "all" || other.kind === "all") return one.kind === other.kind;
  return one.kind === other.kind && one.name === other.name;
}

/** Names what is paused: `codex`, `group small`, `everything`. */
export function describeScope(scope: PauseScope): string {
  if (scope.kind === "all") return "everything";
  return scope.kind === "tool" ? scope.name : `group ${scope.name}`;
}

/** Names what keeps a tool paused, or with null all that is paused. Empty where nothing is. */
export function namePaused(pauses: readonly Pause[], tool: string | null, group: string | null): string {
  const meant = tool === null ? pauses : [findPause(pauses, tool, group)].filter((pause) => pause !== null);
  return meant.map(describeScope).join(", ");
}

/** Returns the command that ends a pause. */
export function resumeCommand(scope: PauseScope): string {
  if (scope.kind === "all") return "tollkeeper resume --all";
  return scope.kind === "tool"
    ? `tollkeeper resume ${scope.name}`
    : `tollkeeper resume --group ${scope.name}`;
}

/** Returns the text of a file that {@link parsePauses} reads. */
export function encodePauses(pauses: readonly Pause[]): string {
  return `${JSON.stringify({ v: VERSION, pauses })}\n`;
}

/** Inverts {@link encodePauses}; null for a text that is damaged, or of a later release. */
export function parsePauses(text: string): Pause[] | null {
  const value = parseJson(text);
  if (!isObject(value) || value["v"] !== VERSION) return null;
  const { pauses } = value;
  return Array.isArray(pauses) && pauses.every(isPause) ? pauses : null;
}

function isPause(value: unknown): value is Pause {
  if (!isObject(value)) return false;
  const { kind, name, since } = value;
  if (typeof since !== "string") return false;
  return kind === "all" || ((kind === "tool" || kind === "group") && typeof name === "string");
}
