import type { RouteAuth } from "../config/config.ts";
import { formatConfigPath } from "../config/problem.ts";
import { describeTerms, type Brake, type BrakeTerms, type Breach } from "../policy/brake.ts";
import { describeEntry } from "../policy/batch-reader.ts";
import { describeScope, resumeCommand, type Pause } from "../policy/pauses.ts";
import { toPrintable } from "../text/printable.ts";
import type { Refusal } from "./refusal.ts";
import { quietest } from "./retry-triggers.ts";

/** Returns the refusal of a request that a pause forbids. */
export function refusePaused(pause: Pause): Refusal {
  return {
    code: "paused",
    problem: quietest(`${describeScope(pause)} is paused`, "the tool is paused"),
    reason: `a person paused it at ${toMinutes(pause.since)}`,
    command: resumeCommand(pause),
  };
}

/** Drops seconds and their fractions, whose digits may look like a status (retry-triggers.ts): `2026-11-23T16:44Z`. */
function toMinutes(iso: string): string {
  return `${iso.slice(0, "2026-11-23T16:44".length)}Z`;
}

/** Not "too many requests": at these words opencode tries again (retry-triggers.ts). */
const PROBLEMS = {
  requestsPerMinute: "is too fast",
  concurrent: "runs too much at once",
  same: "repeats one request",
} as const satisfies Record<Breach["limit"], string>;

const UNLIMITED: BrakeTerms = { requestsPerMinute: null, concurrent: null, same: null, keep: null };

/** Returns the refusal of a request that would exceed a brake. */
export function refuseByBrake({ scope, terms }: Brake, breach: Breach): Refusal {
  const { limit } = breach;
  const path = formatConfigPath([scope.kind === "tool" ? "tools" : "groups", scope.name, "brake"]);
  const waitSeconds = "waitMs" in breach ? Math.ceil(breach.waitMs / 1_000) : null;
  return {
    code: "braked",
    problem: quietest(
      `${describeScope(scope)} ${PROBLEMS[limit]}`,
      `the ${scope.kind} ${PROBLEMS[limit]}`,
      "the request is braked",
    ),
    reason: `${path} allows ${describeTerms({ ...UNLIMITED, [limit]: terms[limit] })}`,
    ...(waitSeconds !== null && { advice: `the next may go in ${waitSeconds} s`, waitSeconds }),
    command: "tollkeeper config edit",
  };
}

/** A model that a tool has asked for. `entry` is the index of the batch's request that names it; null where it is no batch. */
interface JudgedModel {
  tool: string;
  asked: string | null;
  model: string;
  entry: number | null;
}

/** Returns the refusal of a request for a model that the tool's group does not allow: it allows those of `patterns`. */
export function modelNotAllowed(
  { group, patterns }: { group: string; patterns: readonly string[] },
  { tool, asked, model, entry }: JudgedModel,
): Refusal {
  const wish = asked === model ? quote(model) : `${quote(asked ?? "")}, an alias of ${quote(model)}`;
  const where = entry === null ? "" : quietest(` in ${describeEntry(entry)}`, " in a request of the batch");
  return {
    code: "model_not_allowed",
    problem: quietest(`group ${group} does not allow the model`, "the tool's group does not allow the model"),
    reason: `${formatConfigPath(["groups", group, "models"])} allows ${listPatterns(patterns)}; ${tool} asked for ${wish}${where}`,
    command: "tollkeeper config edit",
  };
}

/** Returns the refusal of a request for what a service stores, from a tool whose models or spending are limited. */
export function storageNotAllowed(
  { method, path, auth }: { method: string; path: string; auth: RouteAuth },
  tool: string,
  group: string | null,
): Refusal {
  const entry = { method, path, auth, dialect: "none", forLimitedTools: true };
  const limit = group === null ? "a budget" : formatConfigPath(["groups", group, "models"]);
  return {
    code: "storage_not_allowed",
    problem: "the tool may not use files or batches of the service",
    reason: quietest(
      `${limit} limits ${tool}, and what is stored may ask for any model at any cost`,
      "the tool is limited, and what is stored may ask for any model at any cost",
    ),
    advice: `to allow it all the same, add ${JSON.stringify(entry)} to "routes" of the upstream`,
    command: "tollkeeper config edit",
  };
}

const MAX_LISTED = 12;

function listPatterns(patterns: readonly string[]): string {
  const shown = patterns.slice(0, MAX_LISTED).join(", ");
  return patterns.length > MAX_LISTED ? `${shown} and ${patterns.length - MAX_LISTED} more` : shown;
}

function quote(model: string): string {
  return toPrintable(model).slice(0, 100);
}
