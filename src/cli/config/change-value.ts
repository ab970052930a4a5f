import {
  checkConfigText,
  configFailure,
  MANAGED_PATH,
  type ConfigReading,
  type ManagedFile,
} from "../../adapters/config-file.ts";
import type { Config } from "../../core/config/config.ts";
import { parseConfigPath, type ConfigPath } from "../../core/config/config-path.ts";
import { findSetting, listSettings } from "../../core/config/settings.ts";
import { isLocked } from "../../core/config/managed.ts";
import {
  formatConfigPath,
  formatProblem,
  KEY_VALUE_AS_NAME,
  KEY_VALUE_FOUND,
  sanitizeText,
  type Problem,
} from "../../core/config/problem.ts";
import { Failure } from "../../core/failure.ts";
import { refuseExposed } from "../../adapters/trust/exposure.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { valueAt } from "../../core/config/rules.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { renderDiff } from "../../connect/edit/diff.ts";
import { readTarget, writeTarget } from "../../connect/edit/target-file.ts";
import { DocumentError } from "../../connect/formats/format-editor.ts";
import { splitByteOrderMark } from "../../connect/formats/text-edits.ts";
import { attempt } from "../attempt.ts";
import { keyAsArgument } from "../command-line/key-as-argument.ts";
import { note, print, printStyled } from "../terminal/console.ts";
import { TEMPLATE, writeSchema } from "./edit-file.ts";
import { commandAbout } from "../load-config.ts";
import { noteOtherConfig } from "../note-other-config.ts";
import { editText, valueInText } from "./edit-text.ts";
import { unknownPath } from "./parse-path.ts";

/** A change of a configuration file that has been judged, and not yet been written. */
export interface PlannedChange {
  /** The configuration that it results in. */
  config: Config;
  /** What it changes, as the lines of a unified diff; none when nothing changes. */
  diff: readonly string[];
  /** What is valid now, and probably not what was meant, and was not there before. */
  warnings: readonly Problem[];
  write(): void;
}

/** A value of the configuration file and what it is to be; `undefined` removes it. */
export type ValueChange = readonly [path: ConfigPath, value: unknown];

/**
 * Plans to set several values of a configuration file and to keep the rest, comments included; `undefined` removes a value.
 * @param template the text to start from when there is no file
 * @throws Failure when the configuration would not be valid, or when the managed file would overrule a change
 */
export async function planChanges(
  file: string,
  changes: readonly ValueChange[],
  template: string,
): Promise<PlannedChange> {
  refuseManaged(file);
  await refuseExposed(file, `the configuration ${file}`);
  const target = readTarget(file);
  const before = target.existing?.text ?? template;
  const former = await checkConfigText(file, withoutMark(before));
  const after = changes.reduce((text, change) => apply(file, text, change, former), before);
  const reading = await checkConfigText(file, withoutMark(after));
  if (!reading.ok) throw refusedChange(file, changes, reading.problems, former);
  const overruled = reading.overruled.find(({ path }) => changes.some(([changed]) => overlap(path, changed)));
  if (overruled !== undefined) throw lockedChange(overruled, reading.managed);
  const known = former.ok ? former.warnings.map(({ path, message }) => `${path} ${message}`) : [];
  return {
    config: reading.config,
    diff: renderDiff({ before, after, secrets: [] }),
    warnings: [
      ...reading.warnings.filter(({ path, message }) => !known.includes(`${path} ${message}`)),
      ...(former.ok ? findLostUpstreams(file, former.config, reading.config) : []),
    ],
    write: () => writeTarget(target, after),
  };
}

/** Without an upstream the built-in sandbox responds. Whoever had one does not want that. */
function findLostUpstreams(file: string, before: Config, after: Config): Problem[] {
  const [last] = Object.values(before.upstreams);
  if (last === undefined || Object.keys(after.upstreams).length > 0) return [];
  const path = formatConfigPath(["upstreams", last.name, "baseUrl"]);
  return [
    {
      path: "upstreams",
      line: null,
      message: "none is left, so the built-in sandbox responds to every tool, with made-up text",
      hint: commandAbout(file, ["config", "set", path, last.baseUrl]),
    },
  ];
}

function apply(file: string, text: string, [path, value]: ValueChange, former: ConfigReading): string {
  try {
    return editText(text, path, value);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const why = former.ok ? error.message : configFailure(file, former.problems).message;
    throw new Failure(
      `nothing was written: ${why}`,
      `correct it with: ${formatCommand(["tollkeeper", "config", "edit", "--config", file])}`,
      { cause: error },
    );
  }
}

/** Writes a change and the schema beside the file, and prints what was done, what changed in the file, and what to think of. */
export async function makeChange(file: string, change: PlannedChange, done: string): Promise<void> {
  if (change.diff.length === 0) return print(`Nothing to change: ${file} says so already.`);
  change.write();
  await writeSchema(file);
  print(done);
  for (const line of change.diff) printStyled(line);
  for (const { path, message, hint } of change.warnings)
    note(`warning: ${path}: ${message}${hint === undefined ? "" : `; fix: ${hint}`}`);
  await noteOtherConfig(file);
}

/**
 * Plans to set one value of a configuration file and to keep the rest, comments included. `text` is JSON, or a string without its
 * quotes.
 * @throws Failure when the configuration would not be valid
 */
export async function planValue(file: string, path: ConfigPath, text: string): Promise<PlannedChange> {
  let first: Failure | null = null;
  for (const value of readings(text, path)) {
    const { value: change, failure } = await attempt(Failure, () =>
      planChanges(file, [[path, value]], TEMPLATE),
    );
    if (failure === null) return change;
    first ??= failure;
  }
  throw first ?? unknownPath(formatConfigPath(path));
}

/** Returns the value that a file itself sets at a path; undefined when it sets none. */
export function valueIn(file: string, path: ConfigPath): unknown {
  return valueInText(readTarget(file).existing?.text ?? "", path);
}

/** What the message says of a value that is removed. */
interface Removal {
  /** Names the value. */
  what: string;
  done: string;
  /** How to see what could be removed: `to see all brakes, type: ...`. */
  look: string;
}

/**
 * Removes one value from a configuration file, and prints what was done.
 * @throws Failure when the file does not set it, or when the configuration would not be valid without it
 */
export async function removeValue(
  file: string,
  path: ConfigPath,
  { what, done, look }: Removal,
): Promise<void> {
  if (valueIn(file, path) === undefined)
    throw new Failure(`${file} does not set ${what}${suggestNamesake(file, path)}`, look);
  await makeChange(file, await planChanges(file, [[path, undefined]], TEMPLATE), done);
}

/**
 * Returns the end of the message that a file does not set a value, with the nearest name for which it sets the same:
 * `; did you mean "codex"?` of `tools.codx.brake`. Returns "" when there is none.
 */
export function suggestNamesake(file: string, [section, name, ...rest]: ConfigPath): string {
  if (section === undefined || typeof name !== "string") return "";
  const named = valueIn(file, [section]);
  const names = Object.entries(isObject(named) ? named : {}).flatMap(([other, value]) =>
    valueAt(value, rest) === undefined ? [] : [other],
  );
  const nearest = findNearest(name, names);
  return nearest === null ? "" : `; did you mean "${sanitizeText(nearest)}"?`;
}

/** Removes what marks the byte order: who reads the file does so, too. */
function withoutMark(text: string): string {
  return splitByteOrderMark(text).body;
}

/** Throws a Failure for the managed file, which only root may write, and which users have to be able to read. */
export function refuseManaged(file: string): void {
  if (file !== MANAGED_PATH) return;
  const edit = formatCommand(["sudo", "-e", file]);
  throw new Failure(
    `${file} is the managed file, which tollkeeper never writes`,
    `${edit}; then check it with: tollkeeper config check`,
  );
}

const KEY_FOUND: readonly string[] = [KEY_VALUE_FOUND, KEY_VALUE_AS_NAME];

/** Faults of the new values have no place in the file yet; others need theirs. */
function refusedChange(
  file: string,
  changes: readonly ValueChange[],
  problems: readonly Problem[],
  former: ConfigReading,
): Failure {
  const isOfValue = ({ path }: Problem) =>
    changes.some(([changed, value]) => value !== undefined && isWithin(path, formatConfigPath(changed)));
  if (problems.some((problem) => isOfValue(problem) && KEY_FOUND.includes(problem.message)))
    return keyAsArgument();
  const unknown = changes.find(([path]) => findSetting(path) === null);
  if (unknown !== undefined) return unknownPath(formatConfigPath(unknown[0]));
  const isOld = ({ path, message }: Problem) =>
    !former.ok && former.problems.some((one) => one.path === path && one.message === message);
  const old = problems.filter(isOld);
  if (old.length > 0)
    return new Failure(
      `nothing was written: ${file} was not valid before:\n  ${old.map((one) => formatProblem(file, one)).join("\n  ")}`,
      `correct it first, with: ${commandAbout(file, ["config", "edit"])}`,
    );
  const [first] = problems;
  const why = problems.every(isOfValue)
    ? problems.map(({ path, message }) => `${path}: ${message}`).join("\n  ")
    : `with this change, ${configFailure(file, problems).message}`;
  return new Failure(
    `nothing was written: ${why}`,
    first?.hint ??
      correctedChange(file, changes, problems) ??
      innerChange(file, changes, problems) ??
      "to see the values that each setting takes, type: tollkeeper config schema",
  );
}

/** Returns the advice to type the value that the message of the only problem asks about; null where it asks about none. */
function correctedChange(
  file: string,
  [change, ...others]: readonly ValueChange[],
  problems: readonly Problem[],
): string | null {
  const [, meant] = /; did you mean "([^"]+)"\?$/.exec(problems[0]?.message ?? "") ?? [];
  if (change === undefined || others.length > 0 || problems.length > 1 || meant === undefined) return null;
  const [path, value] = change;
  if (typeof value !== "string" && !(Array.isArray(value) && value.length === 1)) return null;
  return `type: ${commandAbout(file, ["config", "set", formatConfigPath(path), meant])}`;
}

/** Returns the advice to set a value within an object for which a single value was given: of an upstream, its address. */
function innerChange(
  file: string,
  [change]: readonly ValueChange[],
  [problem]: readonly Problem[],
): string | null {
  if (change === undefined || isObject(change[1]) || problem?.path !== formatConfigPath(change[0]))
    return null;
  const [path, value] = change;
  if (path[0] === "upstreams" && path.length === 2 && typeof value === "string" && /^https?:/i.test(value))
    return `type: ${commandAbout(file, ["config", "set", formatConfigPath([...path, "baseUrl"]), value])}`;
  const inner = listSettings({ [String(path[0])]: { [String(path[1] ?? "")]: {} } }).filter(
    (name) => name.startsWith(`${problem.path}.`) && !/[.[]/.test(name.slice(problem.path.length + 1)),
  );
  return inner.length === 0 ? null : `set one of its values: ${inner.join(", ")}`;
}

/** True when one of the two paths leads to the other. `path` is formatted, as that of a problem is. */
function overlap(path: string, changed: ConfigPath): boolean {
  const other = formatConfigPath(changed);
  return isWithin(path, other) || isWithin(other, path);
}

function isWithin(inner: string, outer: string): boolean {
  return inner.startsWith(outer) && !/^[\w$-]/.test(inner.slice(outer.length));
}

function lockedChange({ path, message }: Problem, managed: ManagedFile | null): Failure {
  const locked = managed?.locked ?? [];
  const isLock = locked.some((lock) => overlap(path, lock)) || isLocked(parseConfigPath(path) ?? [], locked);
  return new Failure(
    `nothing was written: ${isLock && managed !== null ? `${managed.path} locks ${path}` : `${path}: ${message}`}`,
    `to see the value in force, type: ${formatCommand(["tollkeeper", "config", "explain", path])}`,
  );
}

/**
 * `8700` is a number, `token` a string; a string that looks like JSON, such as a key called `1`, is tried later. Where only a list fits,
 * `a,b` is one.
 */
function readings(text: string, path: ConfigPath): unknown[] {
  const json = parseJson(text);
  const isList = [findSetting(path)?.["type"]].flat().includes("array");
  if (isList && json !== null && !Array.isArray(json)) return [text.split(",")];
  if (json === undefined) return [text];
  // `'"8690"'` has quotes that were meant for the shell.
  const unquoted = typeof json === "string" ? parseJson(json) : undefined;
  return unquoted === undefined ? [json, text] : [json, text, unquoted];
}
